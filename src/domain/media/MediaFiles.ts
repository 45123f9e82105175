import { Context, Data, DateTime, Effect, Layer, Redacted, type Scope, Semaphore, type Stream } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { CurrentActor, holds, seesUnpublished, systemActor } from "../platform/access/Actor.ts"
import { Unavailable } from "../platform/errors/ApiErrors.ts"
import { forbidden, invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { newId } from "../platform/ids/Id.ts"
import { MediaSettings, typeNamed } from "./MediaAsset.ts"
import { type MediaFile, MediaFileRepo } from "./MediaFileRepo.ts"

export class MediaNotFound extends notFound("Media", "Media not found.") {}
class MediaFileMissing extends notFound("MediaFile", "The file of this medium is missing.") {}
class AddressExpired extends forbidden("AddressExpired", "This address can no longer be used.") {}
class WidthRefused extends invalid("WidthRefused", "width", (message: string) => message) {}

export interface TemporaryFile {
  readonly path: string
  readonly size: number
  readonly digest: string
  readonly contentType: string | undefined
}

export class FileTooLarge extends Data.TaggedError("FileTooLarge")<{ readonly limit: number }> {}

export class StorageFailed extends Data.TaggedError("StorageFailed")<{ readonly cause: unknown }> {
  override get message(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** Temporary files for content that is checked before it is stored: no full file is held in memory. */
export class TemporaryFiles extends Context.Service<TemporaryFiles, {
  readonly receive: <E>(
    content: Stream.Stream<Uint8Array, E>,
    limit: number
  ) => Effect.Effect<TemporaryFile, E | FileTooLarge | StorageFailed, Scope.Scope>
}>()("stoa/domain/media/TemporaryFiles") {}

export class FileMissing extends Data.TaggedError("FileMissing")<{ readonly key: string }> {}

/** Both ends included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface SignedAnswer {
  readonly seconds: number
  readonly contentType: string
  readonly disposition: string
}

/** Storage of files: a folder, or a bucket of objects. A key is never used for two files. */
export class MediaStorage extends Context.Service<MediaStorage, {
  /** False: the deployment has no storage, and uploads fail (501). */
  readonly isConfigured: boolean
  /** May move the temporary file. After success the file survives a crash. */
  readonly put: (key: string, file: TemporaryFile, contentType: string) => Effect.Effect<void, StorageFailed>
  readonly open: (
    key: string,
    range?: ByteRange
  ) => Effect.Effect<Stream.Stream<Uint8Array, StorageFailed>, StorageFailed | FileMissing>
  /** A local path, downloaded if necessary; valid while the scope is open. */
  readonly local: (key: string) => Effect.Effect<string, StorageFailed | FileMissing, Scope.Scope>
  readonly remove: (key: string) => Effect.Effect<void, StorageFailed>
  /** Absent if the storage cannot sign; the service signs instead. */
  readonly signedUrl?: (key: string, answer: SignedAnswer) => Effect.Effect<string, StorageFailed>
}>()("stoa/domain/media/MediaStorage") {}

/** No part of the key comes from the client (contract §10). */
export const newStorageKey = Effect.fnUntraced(function*(extension: string) {
  const now = yield* DateTime.now
  return `${DateTime.toPartsUtc(now).year}/${newId()}.${extension}`
})

export const isStorageKey = (text: string): boolean => /^\d{4}\/[0-9a-f-]{36}\.[a-z0-9]{2,5}$/.test(text)

export const storageAway = (failure: StorageFailed) =>
  Effect.andThen(
    Effect.logWarning("the storage of media failed", failure),
    Effect.fail(Unavailable.of("The storage of files is not available. Try again shortly."))
  )

export class ImageRefused extends Data.TaggedError("ImageRefused")<{ readonly message: string }> {}

export interface ImageSize {
  readonly width: number
  readonly height: number
}

export interface RenderedImage extends ImageSize {
  readonly file: TemporaryFile
  readonly contentType: string
  readonly extension: string
}

/** Reads and renders images. Refuses those that unpack to more pixels than the deployment allows. */
export class MediaImages extends Context.Service<MediaImages, {
  readonly measure: (path: string, contentType: string) => Effect.Effect<ImageSize, ImageRefused | StorageFailed>
  /** Never wider than the original; the file exists while the scope is open. */
  readonly render: (
    path: string,
    width: number
  ) => Effect.Effect<RenderedImage, ImageRefused | StorageFailed, Scope.Scope>
}>()("stoa/domain/media/MediaImages") {}

const maxConcurrent = 2
const maxWaiting = 64

export type Original = Pick<MediaFile, "assetId" | "organizationId" | "storageKey" | "contentType">

/**
 * Smaller versions of images, rendered on the first request and then stored. Only configured widths: a client cannot
 * have one image rendered a thousand times.
 */
export class Renditions extends Context.Service<Renditions>()("stoa/domain/media/Renditions", {
  make: Effect.gen(function*() {
    const [repo, storage] = [yield* MediaFileRepo, yield* MediaStorage]
    const [images, { imageWidths }] = [yield* MediaImages, yield* MediaSettings]
    const slots = yield* Semaphore.make(maxConcurrent)
    let waiting = 0

    const render = Effect.fn("Renditions.render")(function*({ assetId, storageKey }: Original, width: number) {
      const found = yield* repo.rendition(assetId, width)
      if (found !== undefined) return found
      const { contentType, extension, file } = yield* images.render(yield* storage.local(storageKey), width)
      const key = yield* newStorageKey(extension)
      const { digest, size } = file
      yield* repo.expectRemoval(key)
      yield* storage.put(key, file, contentType)
      const made = { assetId, width, storageKey: key, contentType, size, digest }
      if (yield* repo.addRendition(made)) return made
      return (yield* repo.rendition(assetId, width)) ?? (yield* new MediaNotFound())
    }, Effect.scoped)

    const queued = Effect.fnUntraced(function*(original: Original, width: number) {
      if (waiting >= maxWaiting) return yield* Unavailable.of("Too many images are being drawn. Try again.")
      waiting += 1
      return yield* Effect.ensuring(slots.withPermits(1)(render(original, width)), Effect.sync(() => waiting -= 1))
    })

    /**
     * 422 for a width that is not configured or a file that is not an image; 503 at the limit of concurrent renderings.
     */
    const of = Effect.fn("Renditions.of")(
      function*(original: Original, width: number) {
        if (!imageWidths.includes(width)) return yield* new WidthRefused(`expected one of ${imageWidths.join(", ")}`)
        if (typeNamed(original.contentType)?.isRaster !== true) {
          return yield* new WidthRefused("only images have other widths")
        }
        return (yield* repo.rendition(original.assetId, width)) ?? (yield* queued(original, width))
      },
      (effect, { organizationId }) => Effect.provideService(effect, CurrentActor, systemActor(organizationId)),
      Effect.catchTags({
        StorageFailed: storageAway,
        FileMissing: () => Effect.fail(new MediaFileMissing()),
        ImageRefused: ({ message }) => Effect.fail(new WidthRefused(message))
      })
    )

    return { of }
  })
}) {
  static readonly layer = Layer.effect(Renditions, Renditions.make)
}

export type MediaKey = Redacted.Redacted<Uint8Array>

/** The first key signs, all are accepted. Without keys the service signs nothing: a well-known key could be forged. */
export class MediaKeys extends Context.Service<MediaKeys, ReadonlyArray<MediaKey>>()("stoa/domain/media/MediaKeys") {
  static readonly layerOf = (keys: ReadonlyArray<MediaKey>): Layer.Layer<MediaKeys> => Layer.succeed(MediaKeys, keys)
}

export interface MediaLink {
  readonly storageKey: string
  readonly expires: number
}

const signatureOf = ({ expires, storageKey }: MediaLink, key: MediaKey): Uint8Array =>
  createHmac("sha256", Redacted.value(key)).update(`${storageKey}\n${expires}`).digest()

export const signedQuery = (link: MediaLink, [key]: ReadonlyArray<MediaKey>): string | undefined =>
  key === undefined
    ? undefined
    : `expires=${link.expires}&signature=${Buffer.from(signatureOf(link, key)).toString("base64url")}`

export const isSigned = (link: MediaLink, signature: string, keys: ReadonlyArray<MediaKey>): boolean => {
  const shown = Buffer.from(signature, "base64url")
  return keys.some((key) => {
    const expected = signatureOf(link, key)
    return shown.length === expected.length && timingSafeEqual(shown, expected)
  })
}

export interface ShownAddress {
  readonly expires?: string | undefined
  readonly signature?: string | undefined
  readonly width?: string | undefined
}

export interface ShownFile extends MediaFile {
  /** Seconds a client can cache the file; `public`: shared caches can as well. */
  readonly audience: "public" | "holder" | "actor"
  readonly seconds: number
}

const hour = 3_600
const year = 31_536_000

/** Access to files (docs/media.md). */
export class MediaFiles extends Context.Service<MediaFiles>()("stoa/domain/media/MediaFiles", {
  make: Effect.gen(function*() {
    const [repo, storage] = [yield* MediaFileRepo, yield* MediaStorage]
    const [keys, renditions] = [yield* MediaKeys, yield* Renditions]

    const signedFor = Effect.fnUntraced(function*(storageKey: string, { expires, signature = "" }: ShownAddress) {
      const link = { storageKey, expires: Number(expires) }
      if (!isSigned(link, signature, keys)) return yield* new MediaNotFound()
      const left = link.expires - Math.floor(DateTime.toEpochMillis(yield* DateTime.now) / 1_000)
      return left > 0 ? left : yield* new AddressExpired()
    })

    const audienceOf = Effect.fnUntraced(function*(file: MediaFile, shown: ShownAddress) {
      if (shown.signature !== undefined || shown.expires !== undefined) {
        return { audience: "holder", seconds: yield* signedFor(file.storageKey, shown) } as const
      }
      if (file.isPublic) return { audience: "public", seconds: hour } as const
      const actor = yield* CurrentActor
      return actor.organizationId === file.organizationId && (holds(actor, "media:read") || seesUnpublished(actor))
        ? { audience: "actor", seconds: 0 } as const
        : yield* new MediaNotFound()
    })

    /**
     * The file, for everybody if it is public, for holders of a signed address until it expires, and for readers of
     * media or unpublished content. 404 for others and for an invalid signature; 403 for an expired one.
     */
    const show = Effect.fn("MediaFiles.show")(function*(storageKey: string, shown: ShownAddress) {
      const file = (isStorageKey(storageKey) ? yield* repo.at(storageKey) : undefined) ?? (yield* new MediaNotFound())
      const allowed = yield* audienceOf(file, shown)
      const narrowed = shown.width === undefined || file.isDerived
        ? file
        : { ...file, ...yield* renditions.of(file, Number(shown.width)), isDerived: true }
      const seconds = narrowed.isDerived && allowed.audience === "public" ? year : allowed.seconds
      return { ...narrowed, ...allowed, seconds }
    })

    /** 404 when the storage has lost it, 503 when it does not answer. */
    const read = Effect.fn("MediaFiles.read")((file: MediaFile, range: ByteRange | undefined) =>
      storage.open(file.storageKey, range).pipe(
        Effect.catchTags({
          StorageFailed: storageAway,
          FileMissing: () =>
            Effect.andThen(
              Effect.logError(`the storage of media has no file ${file.storageKey}`),
              Effect.fail(new MediaFileMissing())
            )
        })
      )
    )

    return { show, read }
  })
}) {
  static readonly layer = Layer.effect(MediaFiles, MediaFiles.make)
}
