import { Context, Layer, Schema } from "effect"
import { EntityId, MediaAssetId, VariantId } from "../platform/ids/Id.ts"
import { Time } from "../platform/text/Time.ts"

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
  id: MediaAssetId,
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
  derivedFromAssetId: Schema.NullOr(MediaAssetId),
  isPublic: Schema.Boolean,
  uploadedAt: Time,
  url: Schema.String
}).annotate({ identifier: "MediaAsset" })
export type MediaAsset = typeof MediaAsset.Type

/** Where an asset is attached, and as what; `variantId` null: to the entity itself. */
export const MediaAttachment = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  role: MediaRole,
  sortOrder: Schema.Int
}).annotate({ identifier: "MediaAttachment" })
export type MediaAttachment = typeof MediaAttachment.Type

/** An asset with one of its attachments. */
export const AttachedMedium = Schema.Struct({ ...MediaAttachment.fields, mediaAssetId: MediaAssetId })
export type AttachedMedium = typeof AttachedMedium.Type

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
  entityId: EntityId,
  mediaAssetId: MediaAssetId,
  role: MediaRole,
  variantId: Schema.optional(Schema.NullOr(VariantId)),
  sortOrder: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: -2_147_483_648, maximum: 2_147_483_647 })))
}).annotate({ identifier: "NewMediaAttachment" })
export type NewAttachment = typeof NewAttachment.Type

/** The attachment that is to go. */
export const Detachment = Schema.Struct({
  entityId: EntityId,
  mediaAssetId: MediaAssetId,
  variantId: Schema.optional(Schema.NullOr(VariantId))
}).annotate({ identifier: "MediaDetachment" })
export type Detachment = typeof Detachment.Type

/** Which assets a list is narrowed to. */
export interface MediaFilter {
  readonly contentType?: string | undefined
  readonly entityId?: EntityId | undefined
}

/** An asset that was measured and stored, before it has its row; without an origin it is from the merchant. */
export interface NewAsset extends
  Pick<
    MediaAsset,
    "id" | "storageKey" | "filename" | "contentType" | "size" | "width" | "height" | "alt" | "isPublic"
  >
{
  /** SHA-256 of the file in hexadecimal. */
  readonly digest: string
  readonly origin?: "imported"
}

/** The name a file is saved under, without characters that are special in paths, headers or terminals. */
export const savedName = (sent: string, extension: string): string => {
  const last = sent.split(/[/\\]/).at(-1) ?? ""
  const plain = last.replace(/[\p{Cc}\p{Cf}"<>|:*?]/gu, "").trim()
  const name = Array.from(plain).slice(0, 200).join("")
  return name === "" || /^\.+$/.test(name) ? `file.${extension}` : name
}

/** A content type that can be uploaded. */
export interface MediaType {
  readonly contentType: string
  /** File extension without the dot. */
  readonly extension: string
  /** A raster image: it is measured and can be resized. */
  readonly isRaster: boolean
  /** May run scripts in a browser: served as an attachment, in a sandbox. */
  readonly isActive: boolean
}

const type = (contentType: string, extension: string, kind?: "raster" | "active"): MediaType => ({
  contentType,
  extension,
  isRaster: kind === "raster",
  isActive: kind === "active"
})

const mediaTypes: ReadonlyArray<MediaType> = [
  type("image/png", "png", "raster"),
  type("image/jpeg", "jpg", "raster"),
  type("image/gif", "gif", "raster"),
  type("image/webp", "webp", "raster"),
  type("image/avif", "avif", "raster"),
  type("application/pdf", "pdf"),
  type("video/mp4", "mp4"),
  type("video/webm", "webm"),
  type("image/svg+xml", "svg", "active")
]

/** Names of the types that a deployment may allow. */
export const knownContentTypes: ReadonlyArray<string> = mediaTypes.map(({ contentType }) => contentType)

/** The type of this name; undefined for one that cannot be uploaded. */
export const typeNamed = (contentType: string | undefined): MediaType | undefined =>
  mediaTypes.find((type) => type.contentType === contentType)

const aliases: Readonly<Record<string, string>> = { "image/jpg": "image/jpeg", "image/x-png": "image/png" }

/** Content types that do not describe a file. */
const undeclared: ReadonlySet<string> = new Set(["", "application/octet-stream", "binary/octet-stream"])

/** The content type that a client declares, in its usual spelling; undefined if it declares none. */
export const declaredType = (sent: string): string | undefined => {
  const name = (sent.split(";")[0] ?? "").trim().toLowerCase()
  return undeclared.has(name) ? undefined : aliases[name] ?? name
}

/**
 * The `Content-Disposition` of a file (RFC 6266): active types are attachments, all others inline. It carries the name
 * in ASCII and in UTF-8.
 */
export const dispositionOf = (contentType: string, filename: string): string => {
  const how = typeNamed(contentType)?.isActive === false ? "inline" : "attachment"
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_")
  const whole = encodeURIComponent(filename).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `${how}; filename="${plain}"; filename*=UTF-8''${whole}`
}

/** Settings of a deployment's media. */
export interface MediaSettingsValues {
  /** Largest file, in bytes. */
  readonly maxUploadSize: number
  readonly contentTypes: ReadonlyArray<string>
  /** Widths in pixels of smaller versions of images. */
  readonly imageWidths: ReadonlyArray<number>
  /** Maximum pixels of an image; all frames of an animation together can have four times as many. */
  readonly maxPixels: number
  /** Lifetime of a signed address. */
  readonly signedUrlSeconds: number
}

/** The defaults (contract §10). */
export const defaultMedia: MediaSettingsValues = {
  maxUploadSize: 10 * 1_048_576,
  contentTypes: ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"],
  imageWidths: [160, 320, 640, 1_280],
  maxPixels: 50_000_000,
  signedUrlSeconds: 900
}

/** The media settings of this deployment. */
export class MediaSettings
  extends Context.Service<MediaSettings, MediaSettingsValues>()("stoa/domain/media/MediaSettings")
{
  static readonly layerOf = (values: MediaSettingsValues): Layer.Layer<MediaSettings> =>
    Layer.succeed(MediaSettings, values)
}

/** The path this service serves files under, followed by the storage key. */
export const filesPath = "/api/media/files/"

/**
 * Base of media addresses: the service's route, or the deployment's public base address. A reference, because
 * expansions of the catalog show addresses even in a process built without media.
 */
export const MediaAddress = Context.Reference<string>("stoa/domain/media/MediaAddress", {
  defaultValue: () => filesPath
})
