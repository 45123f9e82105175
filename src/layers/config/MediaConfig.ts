import { Schema } from "effect"
import { defaultMedia, filesPath, knownContentTypes } from "../../domain/media/MediaSettings.ts"
import * as Setting from "./Settings.ts"

const contentType = Setting.oneOf(...knownContentTypes)
const widths = Schema.Array(Setting.whole(1, 8_192)).check(Schema.isMaxLength(20))

export const mediaSettings = Setting.group({
  /** Content types that may be uploaded. Default: PNG, JPEG, GIF, WebP and PDF. */
  allowedMimeTypes: Setting.withDefault(
    Schema.Array(contentType).annotate({ description: `only ${knownContentTypes.join(", ")}` }),
    defaultMedia.contentTypes
  ),
  /** Accepts SVG as well, which may contain scripts: it is served as an attachment in a sandbox. Default false. */
  allowSvg: Setting.withDefault(Setting.flag, false),
  /** Largest file in bytes, at most 1 GiB. Default 10485760 (`STOA_MEDIA_MAX_UPLOAD_SIZE`). */
  maxUploadSize: Setting.withDefault(
    Setting.whole(1, 1_073_741_824),
    defaultMedia.maxUploadSize,
    "STOA_MEDIA_MAX_UPLOAD_SIZE"
  ),
  /** Widths in pixels of smaller versions. Default 160, 320, 640, 1280. */
  imageWidths: Setting.withDefault(
    widths.annotate({ description: "at most 20 whole numbers from 1 to 8192" }),
    defaultMedia.imageWidths
  ),
  /** Maximum pixels of an image. Default 50000000. */
  maxPixels: Setting.withDefault(Setting.whole(1, 1_000_000_000), defaultMedia.maxPixels),
  /** Life of a signed address. Default 900. */
  signedUrlSeconds: Setting.withDefault(Setting.whole(1, 604_800), defaultMedia.signedUrlSeconds),
  /** Public base address of files, such as a CDN's `https://cdn.example` (`STOA_MEDIA_PUBLIC_URL`). */
  publicUrl: Setting.optional(Setting.webAddress("https://cdn.example"), "STOA_MEDIA_PUBLIC_URL")
})
export type MediaOptions = Setting.Options<typeof mediaSettings.fields>
type Media = typeof mediaSettings.Type

/** Where files are stored; all but `type` is for a bucket with the protocol of S3. */
export const storageSettings = Setting.group({
  /** A directory below `dataDir`, a bucket, or nowhere (`STOA_MEDIA_STORAGE`). */
  type: Setting.optional(Setting.oneOf("local", "s3", "none"), "STOA_MEDIA_STORAGE"),
  /** `STOA_S3_BUCKET`. */
  bucket: Setting.optional(
    Setting.textThat((name) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name), "the name of a bucket"),
    "STOA_S3_BUCKET"
  ),
  /** Default `us-east-1` (`STOA_S3_REGION`). */
  region: Setting.withDefault(Setting.text, "us-east-1", "STOA_S3_REGION"),
  /** Address of a service that is not Amazon's, `https://…` (`STOA_S3_ENDPOINT`). */
  endpoint: Setting.optional(Setting.webAddress("https://…"), "STOA_S3_ENDPOINT"),
  /** Whether the bucket's name is in the path, not in the host. Default: if there is an `endpoint`. */
  forcePathStyle: Setting.optional(Setting.flag),
  /** Who signs and answers addresses: the bucket, or this service, if clients cannot reach it. Default `bucket`. */
  signedBy: Setting.withDefault(Setting.oneOf("bucket", "service"), "bucket"),
  /** How long a request waits for the bucket, in milliseconds from 1 to 60000; it is sent up to three times. Default 10000. */
  timeoutMs: Setting.withDefault(Setting.milliseconds(1, 60_000), 10_000),
  /** Both or none; without them the credentials of the machine (`STOA_S3_ACCESS_KEY_ID`, `STOA_S3_SECRET_ACCESS_KEY`). */
  accessKeyId: Setting.optional(Setting.text, "STOA_S3_ACCESS_KEY_ID"),
  secretAccessKey: Setting.optional(Setting.secret("a key"), "STOA_S3_SECRET_ACCESS_KEY")
})
export type S3Options = Setting.Options<typeof storageSettings.fields>
type Storage = typeof storageSettings.Type

const contentTypesOf = (media: Media, problems: Setting.Problems): ReadonlyArray<string> => {
  const svg = "image/svg+xml"
  if (media.allowedMimeTypes.includes(svg) && !media.allowSvg) {
    problems.refuse("media.allowedMimeTypes", svg, "media.allowSvg to be true besides it")
  }
  return [...new Set([...media.allowedMimeTypes, ...media.allowSvg ? [svg] : []])]
}

/** A bucket. */
export type S3Settings = ReturnType<typeof s3Of>

const s3Of = (storage: Storage, problems: Setting.Problems) => {
  const { accessKeyId, bucket = "", endpoint, region, secretAccessKey, signedBy, timeoutMs } = storage
  if (bucket === "") problems.missing("STOA_S3_BUCKET", "the name of a bucket")
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    problems.refuse("STOA_S3_SECRET_ACCESS_KEY", "…", "it and STOA_S3_ACCESS_KEY_ID, or neither")
  }
  return {
    bucket,
    region,
    endpoint,
    forcePathStyle: storage.forcePathStyle ?? endpoint !== undefined,
    presigned: signedBy === "bucket",
    timeoutMs,
    credentials: accessKeyId === undefined || secretAccessKey === undefined
      ? undefined
      : { accessKeyId, secretAccessKey }
  }
}

/** Several processes need not share a disk, so that the default stores files locally for a single process only. */
export const mediaOf = (
  media: Media,
  storage: Storage,
  publicUrl: string | undefined,
  isAlone: boolean,
  problems: Setting.Problems
) => {
  const kind = storage.type ?? (isAlone ? "local" : "none")
  return {
    storage: kind === "s3" ? { kind, s3: s3Of(storage, problems) } as const : { kind },
    settings: { ...media, contentTypes: contentTypesOf(media, problems) },
    /** Base of the addresses of files; relative if no public address is configured. */
    address: media.publicUrl === undefined
      ? `${publicUrl?.replace(/\/+$/, "") ?? ""}${filesPath}`
      : `${media.publicUrl.replace(/\/+$/, "")}/`
  }
}
