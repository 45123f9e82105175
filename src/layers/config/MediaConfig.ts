import { Effect, Option, Redacted } from "effect"
import {
  defaultMedia,
  filesPath,
  knownContentTypes,
  type MediaSettingsValues
} from "../../domain/media/MediaSettings.ts"
import { oneOf, refuse, text } from "./Variables.ts"

/** A bucket that speaks the protocol of S3. */
export interface S3Options {
  readonly type: "s3"
  /** `STOA_S3_BUCKET`. */
  readonly bucket?: string
  /** Default `us-east-1` (`STOA_S3_REGION`). */
  readonly region?: string
  /** Address of a service that is not Amazon's, `https://…` (`STOA_S3_ENDPOINT`). */
  readonly endpoint?: string
  /** The bucket's name stands in the path and not in the host. Default: where there is an `endpoint`. */
  readonly forcePathStyle?: boolean
  /**
   * Who signs addresses: the bucket, which then answers them itself, or this service, which passes the files on. The
   * second is for buckets that clients cannot reach. Default `bucket`.
   */
  readonly signedBy?: "bucket" | "service"
  /** Longest silence of the bucket in milliseconds, from 1 to 60000; it is asked up to three times. Default 10000. */
  readonly timeoutMs?: number
  /** Both or none; without them what the machine has (`STOA_S3_ACCESS_KEY_ID`, `STOA_S3_SECRET_ACCESS_KEY`). */
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
}

/** Where the files of media lie. */
export type StorageOptions = { readonly type: "local" } | { readonly type: "none" } | S3Options

/** What a deployment decides about media (docs/media.md). */
export interface MediaOptions {
  /** Content types that may be uploaded. Default: PNG, JPEG, GIF, WebP and PDF. */
  readonly allowedMimeTypes?: ReadonlyArray<string>
  /** Takes SVG too, which may hold scripts: it is given out as an attachment in a sandbox. Default false. */
  readonly allowSvg?: boolean
  /** Largest file in bytes, at most 1 GiB. Default 10485760 (`STOA_MEDIA_MAX_UPLOAD_SIZE`). */
  readonly maxUploadSize?: number
  /** Widths in pixels of smaller versions. Default 160, 320, 640, 1280. */
  readonly imageWidths?: ReadonlyArray<number>
  /** Most pixels of an image that is accepted. Default 50000000. */
  readonly maxPixels?: number
  /** Life of a signed address. Default 900. */
  readonly signedUrlSeconds?: number
  /** Where the files lie for everybody, `https://cdn.example`: addresses begin with it (`STOA_MEDIA_PUBLIC_URL`). */
  readonly publicUrl?: string
}

/** A bucket with everything decided. */
export interface S3Settings {
  readonly bucket: string
  readonly region: string
  readonly endpoint: string | undefined
  readonly forcePathStyle: boolean
  readonly presigned: boolean
  readonly timeoutMs: number
  readonly credentials:
    | { readonly accessKeyId: string; readonly secretAccessKey: Redacted.Redacted<string> }
    | undefined
}

/** Where files lie, and what may lie there. */
export interface MediaEnvironment {
  readonly storage: { readonly kind: "local" } | { readonly kind: "none" } | {
    readonly kind: "s3"
    readonly s3: S3Settings
  }
  readonly settings: MediaSettingsValues
  /** What the addresses of files begin with. */
  readonly address: string
}

/** What `MediaConfig.ts` reads of the deployment. */
interface Configured {
  readonly media?: MediaOptions
  readonly storage?: StorageOptions
  readonly server?: { readonly publicUrl?: string }
}

const mebibyte = 1_048_576

const ranges = {
  maxUploadSize: [1, 1_024 * mebibyte],
  maxPixels: [1, 1_000_000_000],
  signedUrlSeconds: [1, 604_800],
  timeoutMs: [1, 60_000]
} as const

const number = (name: keyof typeof ranges, sent: number, shown = `media.${name}`) => {
  const [least, most] = ranges[name]
  return Number.isInteger(sent) && sent >= least && sent <= most
    ? Effect.succeed(sent)
    : refuse(shown, String(sent), `a whole number from ${least} to ${most}`)
}

const maxUploadSize = Effect.fnUntraced(function*(media: MediaOptions) {
  const found = yield* text("STOA_MEDIA_MAX_UPLOAD_SIZE")
  return Option.isSome(found)
    ? yield* number("maxUploadSize", Number(found.value), "STOA_MEDIA_MAX_UPLOAD_SIZE")
    : yield* number("maxUploadSize", media.maxUploadSize ?? defaultMedia.maxUploadSize)
})

const contentTypes = Effect.fnUntraced(function*({ allowedMimeTypes, allowSvg = false }: MediaOptions) {
  const svg = "image/svg+xml"
  const allowed = [...new Set([...allowedMimeTypes ?? defaultMedia.contentTypes, ...allowSvg ? [svg] : []])]
  const unknown = allowed.find((name) => !knownContentTypes.includes(name))
  if (unknown !== undefined) {
    return yield* refuse("media.allowedMimeTypes", unknown, `only ${knownContentTypes.join(", ")}`)
  }
  return allowed.includes(svg) && !allowSvg
    ? yield* refuse("media.allowedMimeTypes", svg, "media.allowSvg to be true beside it")
    : allowed
})

const imageWidths = ({ imageWidths: widths = defaultMedia.imageWidths }: MediaOptions) =>
  widths.length <= 20 && widths.every((width) => Number.isInteger(width) && width >= 1 && width <= 8_192)
    ? Effect.succeed(widths)
    : refuse("media.imageWidths", widths.join(","), "at most 20 whole numbers from 1 to 8192")

/** The settings of a deployment, and what of the environment wins over them. */
const settingsOf = Effect.fnUntraced(function*(media: MediaOptions) {
  const settings: MediaSettingsValues = {
    maxUploadSize: yield* maxUploadSize(media),
    contentTypes: yield* contentTypes(media),
    imageWidths: yield* imageWidths(media),
    maxPixels: yield* number("maxPixels", media.maxPixels ?? defaultMedia.maxPixels),
    signedUrlSeconds: yield* number("signedUrlSeconds", media.signedUrlSeconds ?? defaultMedia.signedUrlSeconds)
  }
  return settings
})

const variable = (name: string) => Effect.map(text(name), Option.getOrUndefined)

const isAddress = (value: string): boolean => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)

const credentials = Effect.fnUntraced(function*(options: S3Options) {
  const accessKeyId = (yield* variable("STOA_S3_ACCESS_KEY_ID")) ?? options.accessKeyId
  const secretAccessKey = (yield* variable("STOA_S3_SECRET_ACCESS_KEY")) ?? options.secretAccessKey
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    return yield* refuse("STOA_S3_SECRET_ACCESS_KEY", "…", "it and STOA_S3_ACCESS_KEY_ID, or neither")
  }
  return accessKeyId === undefined || secretAccessKey === undefined
    ? undefined
    : { accessKeyId, secretAccessKey: Redacted.make(secretAccessKey, { label: "key of the bucket" }) }
})

const s3Of = Effect.fnUntraced(function*(options: S3Options) {
  const bucket = (yield* variable("STOA_S3_BUCKET")) ?? options.bucket ?? ""
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    return yield* refuse("STOA_S3_BUCKET", bucket, "the name of a bucket")
  }
  const endpoint = (yield* variable("STOA_S3_ENDPOINT")) ?? options.endpoint
  if (endpoint !== undefined && !isAddress(endpoint)) {
    return yield* refuse("STOA_S3_ENDPOINT", endpoint, "an address, https://…")
  }
  const s3: S3Settings = {
    bucket,
    region: (yield* variable("STOA_S3_REGION")) ?? options.region ?? "us-east-1",
    endpoint,
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    presigned: options.signedBy !== "service",
    timeoutMs: yield* number("timeoutMs", options.timeoutMs ?? 10_000, "storage.timeoutMs"),
    credentials: yield* credentials(options)
  }
  return { kind: "s3", s3 } as const
})

/**
 * Where the files lie. A process that does everything keeps them on its disk; of several, which see each other's disks
 * only where somebody has seen to that, it has to be said.
 */
const storageOf = Effect.fnUntraced(function*(configured: StorageOptions | undefined, isAlone: boolean) {
  const kind = yield* oneOf(
    "STOA_MEDIA_STORAGE",
    ["local", "s3", "none"],
    configured?.type ?? (isAlone ? "local" : "none")
  )
  return kind === "s3" ? yield* s3Of(configured?.type === "s3" ? configured : { type: "s3" }) : { kind } as const
})

const addressOf = Effect.fnUntraced(function*(media: MediaOptions, publicUrl: string | undefined) {
  const found = (yield* variable("STOA_MEDIA_PUBLIC_URL")) ?? media.publicUrl
  if (found === undefined) return mediaAddress(publicUrl)
  return isAddress(found)
    ? `${found.replace(/\/+$/, "")}/`
    : yield* refuse("STOA_MEDIA_PUBLIC_URL", found, "an address, https://cdn.example")
})

/** The addresses of files that this service gives out itself; relative where nobody says how it is reached. */
export const mediaAddress = (publicUrl: string | undefined): string =>
  `${publicUrl?.replace(/\/+$/, "") ?? ""}${filesPath}`

/** Reads what the deployment and the environment say of media; fails with one readable line. */
export const readMedia = Effect.fnUntraced(
  function*({ media = {}, storage }: Configured, publicUrl: string | undefined, isAlone: boolean) {
    const environment: MediaEnvironment = {
      storage: yield* storageOf(storage, isAlone),
      settings: yield* settingsOf(media),
      address: yield* addressOf(media, publicUrl)
    }
    return environment
  }
)
