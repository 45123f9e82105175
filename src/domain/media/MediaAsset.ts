import { Context, Layer, Schema } from "effect"
import { about } from "../platform/hints/Hints.ts"
import { EntityId, MediaAssetId, OrganizationId, VariantId } from "../platform/ids/Id.ts"
import { Metadata } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

const Alt = Schema.String.check(Schema.isMaxLength(1_000))

export const MediaRole = Schema.Literals(["primary", "gallery", "thumbnail", "video", "document"])
export type MediaRole = typeof MediaRole.Type

/**
 * A file of the organization (contract §10). `size` in bytes, `width` and `height` in pixels as displayed (null if it
 * is not an image). `contentType` is detected from the content. `isPublic` shows it to everybody.
 */
export const MediaAsset = Schema.Struct({
  id: MediaAssetId,
  organizationId: OrganizationId,
  storageKey: Schema.String.pipe(about("Key of the file in the storage.")),
  filename: Schema.String.pipe(about("Name of the file as it was sent.")),
  contentType: Schema.String,
  size: Schema.Int.pipe(about("Bytes.")),
  width: Schema.NullOr(Schema.Int).pipe(about("Pixels; null: no picture.")),
  height: Schema.NullOr(Schema.Int).pipe(about("Pixels; null: no picture.")),
  alt: Schema.NullOr(Schema.String).pipe(about("Words in place of the picture.")),
  metadata: Metadata,
  origin: Schema.Literals(["merchant", "generated", "imported"]).pipe(
    about("Source of the file: uploaded by the merchant, made by a program, or imported from another shop.")
  ),
  confidence: Schema.NullOr(Schema.Finite).pipe(about("How sure its origin is, 0 to 1.")),
  derivedFromAssetId: Schema.NullOr(MediaAssetId),
  isPublic: Schema.Boolean.pipe(about("Everybody may fetch it.")),
  uploadedAt: Time,
  url: Schema.String
}).annotate({ identifier: "MediaAsset" })
export type MediaAsset = typeof MediaAsset.Type

export const MediaAttachment = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  role: MediaRole.pipe(about("Use of the picture.")),
  sortOrder: Schema.Int.pipe(about("Lower goes first."))
}).annotate({ identifier: "MediaAttachment" })
export type MediaAttachment = typeof MediaAttachment.Type

export const AttachedMedium = Schema.Struct({ ...MediaAttachment.fields, mediaAssetId: MediaAssetId })
export type AttachedMedium = typeof AttachedMedium.Type

export const MediaRecord = Schema.Struct({
  ...MediaAsset.fields,
  uploadedBy: Schema.NullOr(Schema.String).annotate({
    description: "Id of the user or key that uploaded it; null: an import, or unknown."
  }),
  expiresAt: Schema.NullOr(Time).annotate({ description: "When it is removed, unless it is used before." }),
  attachments: Schema.Array(MediaAttachment)
})
  .annotate({ identifier: "MediaRecord" })
export type MediaRecord = typeof MediaRecord.Type

export const MediaChange = Schema.Struct({
  alt: Schema.optional(Schema.NullOr(Alt)).pipe(about("Words in place of the picture.")),
  metadata: Schema.optional(Metadata),
  isPublic: Schema.optional(Schema.Boolean).pipe(about("Everybody may fetch it."))
}).annotate({ identifier: "MediaChange" })
export type MediaChange = typeof MediaChange.Type

export const NewAttachment = Schema.Struct({
  entityId: EntityId,
  mediaAssetId: MediaAssetId,
  role: MediaRole.pipe(about("Use of the picture.")),
  variantId: Schema.optional(Schema.NullOr(VariantId)),
  sortOrder: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: -2_147_483_648, maximum: 2_147_483_647 })))
    .pipe(about("Lower goes first."))
}).annotate({ identifier: "NewMediaAttachment" })
export type NewAttachment = typeof NewAttachment.Type

export const Detachment = Schema.Struct({
  entityId: EntityId,
  mediaAssetId: MediaAssetId,
  variantId: Schema.optional(Schema.NullOr(VariantId))
}).annotate({ identifier: "MediaDetachment" })
export type Detachment = typeof Detachment.Type

export interface MediaFilter {
  readonly contentType?: string | undefined
  readonly entityId?: EntityId | undefined
}

export interface NewAsset extends
  Pick<
    MediaAsset,
    "id" | "storageKey" | "filename" | "contentType" | "size" | "width" | "height" | "alt" | "isPublic"
  >
{
  readonly digest: string
  readonly origin?: "imported"
  /** A shopper's: it is removed unless something uses it soon. */
  readonly expires?: boolean
}

/** Uploads of a shopper that nothing uses yet. */
export const ownUploads = { atMost: 20, hours: 24 }

/** Without characters that are special in paths, headers or terminals. */
export const savedName = (sent: string, extension: string): string => {
  const last = sent.split(/[/\\]/).at(-1) ?? ""
  const plain = last.replace(/[\p{Cc}\p{Cf}"<>|:*?]/gu, "").trim()
  const name = Array.from(plain).slice(0, 200).join("")
  return name === "" || /^\.+$/.test(name) ? `file.${extension}` : name
}

export interface MediaType {
  readonly contentType: string
  readonly extension: string
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

export const knownContentTypes: ReadonlyArray<string> = mediaTypes.map(({ contentType }) => contentType)

export const typeNamed = (contentType: string | undefined): MediaType | undefined =>
  mediaTypes.find((type) => type.contentType === contentType)

const aliases: Readonly<Record<string, string>> = { "image/jpg": "image/jpeg", "image/x-png": "image/png" }

const undeclared: ReadonlySet<string> = new Set(["", "application/octet-stream", "binary/octet-stream"])

export const declaredType = (sent: string): string | undefined => {
  const name = (sent.split(";")[0] ?? "").trim().toLowerCase()
  return undeclared.has(name) ? undefined : aliases[name] ?? name
}

/** Active types are attachments, all others inline (RFC 6266). The name is in ASCII and in UTF-8. */
export const dispositionOf = (contentType: string, filename: string): string => {
  const how = typeNamed(contentType)?.isActive === false ? "inline" : "attachment"
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_")
  const whole = encodeURIComponent(filename).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`
  )
  return `${how}; filename="${plain}"; filename*=UTF-8''${whole}`
}

export interface MediaSettingsValues {
  readonly maxUploadSize: number
  readonly contentTypes: ReadonlyArray<string>
  readonly imageWidths: ReadonlyArray<number>
  /** All frames of an animation together can have four times as many. */
  readonly maxPixels: number
  readonly signedUrlSeconds: number
}

export const defaultMedia: MediaSettingsValues = {
  maxUploadSize: 10 * 1_048_576,
  contentTypes: ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"],
  imageWidths: [160, 320, 640, 1_280],
  maxPixels: 50_000_000,
  signedUrlSeconds: 900
}

export class MediaSettings
  extends Context.Service<MediaSettings, MediaSettingsValues>()("stoa/domain/media/MediaSettings")
{
  static readonly layerOf = (values: MediaSettingsValues): Layer.Layer<MediaSettings> =>
    Layer.succeed(MediaSettings, values)
}

export const filesPath = "/api/media/files/"

/**
 * The service's route, or the deployment's public base address. A reference, because the catalog shows addresses even
 * in a process built without media.
 */
export const MediaAddress = Context.Reference<string>("stoa/domain/media/MediaAddress", {
  defaultValue: () => filesPath
})
