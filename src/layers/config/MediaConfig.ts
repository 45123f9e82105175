import { Schema } from "effect"
import { defaultMedia, filesPath, knownContentTypes } from "../../domain/media/MediaAsset.ts"
import * as is from "./Rules.ts"
import { group, option, type Options, type Problems, setting } from "./Settings.ts"

const widths = Schema.Array(is.whole(1, 8_192)).check(Schema.isMaxLength(20))
  .annotate({ description: "at most 20 whole numbers from 1 to 8192" })

export const mediaSettings = group({
  /** Content types that may be uploaded. Default: PNG, JPEG, GIF, WebP and PDF. */
  allowedMimeTypes: setting(
    is.listOf(is.oneOf(...knownContentTypes), `only ${knownContentTypes.join(", ")}`),
    defaultMedia.contentTypes
  ),
  /** Accepts SVG as well, which may contain scripts: it is served as an attachment in a sandbox. Default false. */
  allowSvg: setting(is.flag, false),
  /** Largest file in bytes, at most 1 GiB. Default 10485760 (`STOA_MEDIA_MAX_UPLOAD_SIZE`). */
  maxUploadSize: setting(is.whole(1, 1_073_741_824), defaultMedia.maxUploadSize, "STOA_MEDIA_MAX_UPLOAD_SIZE"),
  /** Widths in pixels of smaller versions. Default 160, 320, 640, 1280. */
  imageWidths: setting(widths, defaultMedia.imageWidths),
  /** Maximum pixels of an image. Default 50000000. */
  maxPixels: setting(is.whole(1, 1_000_000_000), defaultMedia.maxPixels),
  /** Life of a signed address. Default 900. */
  signedUrlSeconds: setting(is.whole(1, 604_800), defaultMedia.signedUrlSeconds),
  /** Public base address of files, such as a CDN's `https://cdn.example` (`STOA_MEDIA_PUBLIC_URL`). */
  publicUrl: option(is.webAddress("https://cdn.example"), "STOA_MEDIA_PUBLIC_URL")
})
export type MediaOptions = Options<typeof mediaSettings.fields>
type Media = typeof mediaSettings.Type

const bucketName = is.textThat((name) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name), "the name of a bucket")

/** Where files are stored; all but `type` is for a bucket with the protocol of S3. */
export const storageSettings = group({
  /** A directory below `dataDir`, a bucket, or nowhere (`STOA_MEDIA_STORAGE`). */
  type: option(is.oneOf("local", "s3", "none"), "STOA_MEDIA_STORAGE"),
  /** `STOA_S3_BUCKET`. */
  bucket: option(bucketName, "STOA_S3_BUCKET"),
  /** Default `us-east-1` (`STOA_S3_REGION`). */
  region: setting(is.text, "us-east-1", "STOA_S3_REGION"),
  /** Address of a service that is not Amazon's, `https://…` (`STOA_S3_ENDPOINT`). */
  endpoint: option(is.webAddress("https://…"), "STOA_S3_ENDPOINT"),
  /** Whether the bucket's name is in the path, not in the host. Default: if there is an `endpoint`. */
  forcePathStyle: option(is.flag),
  /** Who signs and answers addresses: the bucket, or this service, if clients cannot reach it. Default `bucket`. */
  signedBy: setting(is.oneOf("bucket", "service"), "bucket"),
  /** How long a request waits for the bucket, in milliseconds from 1 to 60000; it is sent up to three times. Default 10000. */
  timeoutMs: setting(is.ms(1, 60_000), 10_000),
  /** Both or none; without them the credentials of the machine (`STOA_S3_ACCESS_KEY_ID`, `STOA_S3_SECRET_ACCESS_KEY`). */
  accessKeyId: option(is.text, "STOA_S3_ACCESS_KEY_ID"),
  secretAccessKey: option(is.secret("a key"), "STOA_S3_SECRET_ACCESS_KEY")
})
export type S3Options = Options<typeof storageSettings.fields>
type Storage = typeof storageSettings.Type

/** A bucket. */
export type S3Settings = ReturnType<typeof s3Of>

const s3Of = (storage: Storage, problems: Problems) => {
  const { accessKeyId, bucket = "", endpoint, forcePathStyle, region, secretAccessKey, signedBy, timeoutMs } = storage
  if (bucket === "") problems.missing("STOA_S3_BUCKET", "the name of a bucket")
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    problems.refuse("STOA_S3_SECRET_ACCESS_KEY", "…", "it and STOA_S3_ACCESS_KEY_ID, or neither")
  }
  return {
    bucket,
    region,
    endpoint,
    forcePathStyle: forcePathStyle ?? endpoint !== undefined,
    presigned: signedBy === "bucket",
    timeoutMs,
    credentials: accessKeyId !== undefined && secretAccessKey !== undefined
      ? { accessKeyId, secretAccessKey }
      : undefined
  }
}

/** Several processes need not share a disk, so that the default stores files locally for a single process only. */
export const mediaOf = (
  media: Media,
  storage: Storage,
  publicUrl: string | undefined,
  isAlone: boolean,
  problems: Problems
) => {
  const kind = storage.type ?? (isAlone ? "local" : "none")
  const svg = "image/svg+xml"
  if (media.allowedMimeTypes.includes(svg) && !media.allowSvg) {
    problems.refuse("media.allowedMimeTypes", svg, "media.allowSvg to be true besides it")
  }
  const base = (url = "") => url.replace(/\/+$/, "")
  return {
    storage: kind === "s3" ? { kind, s3: s3Of(storage, problems) } as const : { kind },
    settings: { ...media, contentTypes: [...new Set([...media.allowedMimeTypes, ...media.allowSvg ? [svg] : []])] },
    /** Base of the addresses of files; relative if no public address is configured. */
    address: media.publicUrl === undefined ? `${base(publicUrl)}${filesPath}` : `${base(media.publicUrl)}/`
  }
}
