import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"

const Time = Schema.Date.annotate({ format: "date-time" })
const Metadata = Schema.Record(Schema.String, Schema.Unknown)

/** Alternative text of a medium for people who cannot see it. */
const Alt = Schema.String.check(Schema.isMaxLength(1_000))

/** What a medium is to the entity that it is attached to (contract §10). */
export const MediaRole = Schema.Literals(["primary", "gallery", "thumbnail", "video", "document"])
export type MediaRole = typeof MediaRole.Type

/**
 * A file of the organization (contract §10). `size` in bytes, `width` and `height` in pixels as displayed (null if it
 * is not an image). `contentType` is detected from the content, not taken from the sender. `url` is the address for
 * permitted viewers; `isPublic` allows everybody, even if nothing published shows it.
 */
export const MediaAsset = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  storageKey: Schema.String,
  filename: Schema.String,
  contentType: Schema.String,
  size: Schema.Int,
  width: Schema.NullOr(Schema.Int),
  height: Schema.NullOr(Schema.Int),
  alt: Schema.NullOr(Schema.String),
  metadata: Metadata,
  origin: Schema.Literals(["merchant", "generated", "imported"]),
  confidence: Schema.NullOr(Schema.Finite),
  derivedFromAssetId: Schema.NullOr(Uuid),
  isPublic: Schema.Boolean,
  uploadedAt: Time,
  url: Schema.String
}).annotate({ identifier: "MediaAsset" })
export type MediaAsset = typeof MediaAsset.Type

/** Where an asset is attached, and as what; `variantId` null: to the entity itself. */
export const MediaAttachment = Schema.Struct({
  entityId: Uuid,
  variantId: Schema.NullOr(Uuid),
  role: MediaRole,
  sortOrder: Schema.Int
}).annotate({ identifier: "MediaAttachment" })
export type MediaAttachment = typeof MediaAttachment.Type

/** An asset with one of its attachments. */
export interface AttachedMedium extends MediaAttachment {
  readonly mediaAssetId: string
}

/** An asset with what it is attached to, at most 100 of them. */
export const MediaRecord = Schema.Struct({ ...MediaAsset.fields, attachments: Schema.Array(MediaAttachment) })
  .annotate({ identifier: "MediaRecord" })
export type MediaRecord = typeof MediaRecord.Type

/** The changeable fields of an asset; its file is not one. `metadata` is replaced completely. */
export const MediaChange = Schema.Struct({
  alt: Schema.optional(Schema.NullOr(Alt)),
  metadata: Schema.optional(Metadata),
  isPublic: Schema.optional(Schema.Boolean)
}).annotate({ identifier: "MediaChange" })
export type MediaChange = typeof MediaChange.Type

/** An asset to attach to an entity or one of its variants. */
export const NewAttachment = Schema.Struct({
  entityId: Uuid,
  mediaAssetId: Uuid,
  role: MediaRole,
  variantId: Schema.optional(Schema.NullOr(Uuid)),
  sortOrder: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: -2_147_483_648, maximum: 2_147_483_647 })))
}).annotate({ identifier: "NewMediaAttachment" })
export type NewAttachment = typeof NewAttachment.Type

/** The attachment that is to go. */
export const Detachment = Schema.Struct({
  entityId: Uuid,
  mediaAssetId: Uuid,
  variantId: Schema.optional(Schema.NullOr(Uuid))
}).annotate({ identifier: "MediaDetachment" })
export type Detachment = typeof Detachment.Type

/** Which assets a list is narrowed to. */
export interface MediaFilter {
  readonly contentType?: string | undefined
  readonly entityId?: string | undefined
}

/** An asset that was measured and stored, before it has its row. */
export interface NewAsset {
  readonly id: string
  readonly storageKey: string
  readonly filename: string
  readonly contentType: string
  readonly size: number
  /** SHA-256 of the file in hexadecimal. */
  readonly digest: string
  readonly width: number | null
  readonly height: number | null
  readonly alt: string | null
  readonly isPublic: boolean
  /** Absent: from the merchant. */
  readonly origin?: "imported"
}

/** The name a file is saved under, without characters that are special in paths, headers or terminals. */
export const savedName = (sent: string, extension: string): string => {
  const last = sent.split(/[/\\]/).at(-1) ?? ""
  const plain = last.replace(/[\p{Cc}\p{Cf}"<>|:*?]/gu, "").trim()
  const name = Array.from(plain).slice(0, 200).join("")
  return name === "" || /^\.+$/.test(name) ? `file.${extension}` : name
}
