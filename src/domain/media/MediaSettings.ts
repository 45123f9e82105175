import { Context, Layer } from "effect"

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

const image = (format: string, extension = format): MediaType => ({
  contentType: `image/${format}`,
  extension,
  isRaster: true,
  isActive: false
})

const passive = (contentType: string, extension: string): MediaType => ({
  contentType,
  extension,
  isRaster: false,
  isActive: false
})

const mediaTypes: ReadonlyArray<MediaType> = [
  image("png"),
  image("jpeg", "jpg"),
  image("gif"),
  image("webp"),
  image("avif"),
  passive("application/pdf", "pdf"),
  passive("video/mp4", "mp4"),
  passive("video/webm", "webm"),
  { contentType: "image/svg+xml", extension: "svg", isRaster: false, isActive: true }
]

/** Names of the types that a deployment may allow. */
export const knownContentTypes: ReadonlyArray<string> = mediaTypes.map(({ contentType }) => contentType)

/** Types that are allowed by default (contract §10). */
export const defaultContentTypes: ReadonlyArray<string> = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf"
]

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
  contentTypes: defaultContentTypes,
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
