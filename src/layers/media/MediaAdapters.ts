import { Effect, Layer, Redacted, Stream } from "effect"
import { createHash, hkdfSync } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { IncomingMessage } from "node:http"
import { join, resolve } from "node:path"
import type { Sharp, SharpOptions } from "sharp"
import { PictureDelayed, PictureHosts, PictureRefused } from "../../domain/media/ExternalPictures.ts"
import { MediaAddress, MediaSettings, type MediaSettingsValues } from "../../domain/media/MediaAsset.ts"
import { ImageRefused, MediaImages, type MediaKey, MediaKeys, StorageFailed } from "../../domain/media/MediaFiles.ts"
import type { SecretsKey } from "../../domain/webhooks/SecretEncryption.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { hostResolver, targetPolicy } from "../webhooks/HttpSender.ts"
import { prepareRequest, responseTo } from "../webhooks/PinnedRequest.ts"
import { type HostResolver, targetGuard, type TargetPolicy } from "../webhooks/TargetGuard.ts"
import { localStorage, localTemporaryFiles, noStorage, onDisk, temporaryPath } from "./LocalStorage.ts"
import { s3Storage } from "./S3Storage.ts"

const maxRedirects = 5

/** Uncompressed: a packed response could unpack to any size. */
const headers = { accept: "image/*", "accept-encoding": "identity", "user-agent": "stoa" }

const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const isTransient = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500

const redirectOf = ({ headers: { location }, statusCode = 0 }: IncomingMessage, from: URL): string | undefined => {
  if (!redirecting.has(statusCode) || location === undefined || !URL.canParse(location, from.href)) return undefined
  return new URL(location, from).href
}

const bytesOf = (response: IncomingMessage, limit: number) => {
  const status = response.statusCode ?? 0
  const message = `Its host answered with ${status}.`
  if (status !== 200) {
    return Effect.fail(isTransient(status) ? new PictureDelayed({ message }) : new PictureRefused({ message }))
  }
  if (Number(response.headers["content-length"] ?? 0) > limit) {
    return Effect.fail(new PictureRefused({ message: `It is larger than ${limit} bytes.` }))
  }
  return Effect.succeed(
    Stream.fromAsyncIterable<Uint8Array, PictureDelayed>(
      response,
      () => new PictureDelayed({ message: "Its host broke off in the middle." })
    )
  )
}

/** Guards every redirect like the first address. */
export const guardedPictures = (policy: TargetPolicy): Layer.Layer<PictureHosts, never, HostResolver> =>
  Layer.effect(
    PictureHosts,
    Effect.map(targetGuard(policy), (resolveTarget) => {
      const asked = Effect.fnUntraced(
        function*(url: string) {
          const target = yield* resolveTarget(url)
          const request = yield* Effect.acquireRelease(
            Effect.sync(() => prepareRequest(target, { method: "GET", headers })),
            (open) => Effect.sync(() => open.destroy())
          )
          return { response: yield* responseTo(request), url: target.url }
        },
        Effect.catchTags({
          TargetRefused: ({ message }) => Effect.fail(new PictureRefused({ message: `Its address ${message}` })),
          Unresolved: ({ message }) => Effect.fail(new PictureDelayed({ message })),
          NoAnswer: ({ message }) => Effect.fail(new PictureDelayed({ message }))
        })
      )

      const fetch = Effect.fn("PictureHosts.fetch")(function*(url: string, limit: number) {
        let next = url
        for (let hop = 0; hop <= maxRedirects; hop++) {
          const answer = yield* asked(next)
          const onward = redirectOf(answer.response, answer.url)
          if (onward === undefined) return yield* bytesOf(answer.response, limit)
          next = onward
        }
        return yield* new PictureRefused({ message: `Its host redirects more than ${maxRedirects} times.` })
      })

      return PictureHosts.of({ fetch })
    })
  )

const limitSeconds = 20

const formats: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "heif"
}

class LibraryMissing extends Error {}

/** Loaded with the first image. One thread per image and no cache keep its memory small. */
const loaded = async () => {
  const { default: sharp } = await import("sharp").catch((cause: unknown) => {
    throw new LibraryMissing("The library for images cannot be read on this machine.", { cause })
  })
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}

const unreadable = () => new ImageRefused({ message: "must be an image that can be read." })

const failureOf = (cause: unknown): ImageRefused | StorageFailed =>
  cause instanceof LibraryMissing || (typeof cause === "object" && cause !== null && "syscall" in cause)
    ? new StorageFailed({ cause })
    : cause instanceof ImageRefused
    ? cause
    : cause instanceof Error && /pixel limit/.test(cause.message)
    ? new ImageRefused({ message: "must not have more pixels than are allowed." })
    : unreadable()

/** Images by sharp; refuses damaged ones. */
export const sharpImages = (folder: string, { maxPixels }: MediaSettingsValues): Layer.Layer<MediaImages> => {
  const options: SharpOptions = { limitInputPixels: maxPixels, failOn: "error", sequentialRead: true }

  const withImage = <A>(path: string, use: (image: Sharp) => Promise<A>) =>
    Effect.tryPromise({ try: async () => use((await loaded())(path, options)), catch: failureOf })

  const measure = Effect.fn("MediaImages.measure")((path: string, contentType: string) =>
    withImage(path, async (image) => {
      const { autoOrient: { height, width }, format, pages = 1 } = await image.metadata()
      if (format !== formats[contentType]) throw unreadable()
      // The head has the unpacked size of all frames: a bomb is refused before unpacking.
      if (width * height > maxPixels || width * height * pages > 4 * maxPixels) {
        throw new ImageRefused({ message: `must have at most ${maxPixels} pixels.` })
      }
      return { width, height }
    })
  )

  const render = Effect.fn("MediaImages.render")(function*(path: string, width: number) {
    const made = yield* temporaryPath(folder)
    const info = yield* withImage(
      path,
      (image) =>
        image.autoOrient().resize({ width, withoutEnlargement: true }).timeout({ seconds: limitSeconds })
          .webp({ quality: 80 }).toFile(made)
    )
    const bytes = yield* onDisk(() => readFile(made))
    const file = {
      path: made,
      size: bytes.length,
      digest: createHash("sha256").update(bytes).digest("hex"),
      contentType: "image/webp"
    }
    return { file, width: info.width, height: info.height, contentType: "image/webp", extension: "webp" }
  })

  return Layer.succeed(MediaImages, { measure, render })
}

/** Derived from the secrets keys: leaking one kind does not reveal the other. */
export const mediaKeys = (keyring: ReadonlyArray<SecretsKey>): ReadonlyArray<MediaKey> =>
  keyring.map(({ bytes }) =>
    Redacted.make(new Uint8Array(hkdfSync("sha256", Redacted.value(bytes), "", "stoa media links", 32)), {
      label: "media key"
    })
  )

const storageOf = ({ media: { storage } }: AppSettings, folder: string) => {
  if (storage.kind === "s3") return s3Storage(storage.s3)
  return storage.kind === "local" ? localStorage(join(folder, "files")) : noStorage
}

export const mediaAdapters = (settings: AppSettings) => {
  const folder = join(resolve(settings.dataDir), "media")
  const arriving = join(folder, "incoming")
  return Layer.mergeAll(
    MediaSettings.layerOf(settings.media.settings),
    Layer.succeed(MediaAddress, settings.media.address),
    MediaKeys.layerOf(mediaKeys(settings.webhooks.keyring ?? [])),
    sharpImages(arriving, settings.media.settings),
    Layer.provide(guardedPictures(targetPolicy(settings)), hostResolver(settings))
  ).pipe(
    Layer.provideMerge(storageOf(settings, folder)),
    Layer.provideMerge(localTemporaryFiles(arriving))
  )
}
