import { Context, DateTime, Effect, Layer, type Stream } from "effect"
import { CurrentActor, holds } from "../access/Actor.ts"
import { seesUnpublished } from "../catalog/CatalogVisibility.ts"
import { Forbidden, NotFound, type Unavailable, type ValidationFailed } from "../errors/ApiErrors.ts"
import { type MediaFile, MediaFileRepo } from "./MediaFileRepo.ts"
import { isSigned, MediaKeys } from "./MediaLink.ts"
import { type ByteRange, isStorageKey, MediaStorage } from "./MediaStorage.ts"
import { Renditions } from "./Renditions.ts"
import type { StorageFailed } from "./TemporaryFiles.ts"
import { storageAway } from "./Uploads.ts"

/** What the address of a file showed. */
export interface ShownAddress {
  readonly expires?: string | undefined
  readonly signature?: string | undefined
  readonly width?: string | undefined
}

/** A file that may be given out, and to whom. */
export interface ShownFile extends MediaFile {
  /** Seconds a client can cache the file; `public`: shared caches can as well. */
  readonly audience: "public" | "holder" | "actor"
  readonly seconds: number
}

/** Files as they are given out (docs/media.md). */
export class MediaFiles extends Context.Service<MediaFiles, {
  /**
   * The file under a storage key, if the caller may see it: everybody for a public asset, holders of a signed address
   * until it expires, and callers who can read the organization's media or its unpublished content. 404 for others and
   * for an invalid signature; 403 for an expired one.
   */
  readonly show: (
    storageKey: string,
    shown: ShownAddress
  ) => Effect.Effect<ShownFile, NotFound | Forbidden | ValidationFailed | Unavailable, CurrentActor>
  /** Its bytes, or some of them. 404 when the storage has lost it, 503 when it does not answer. */
  readonly read: (
    file: MediaFile,
    range: ByteRange | undefined
  ) => Effect.Effect<Stream.Stream<Uint8Array, StorageFailed>, NotFound | Unavailable>
}>()("stoa/domain/media/MediaFiles") {
  static readonly layer = Layer.effect(MediaFiles, Effect.suspend(() => makeFiles))
}

const notFound = NotFound.of("Media not found.")

/** How long a public file can be cached: forever if the address never serves other content. */
const hour = 3_600
const year = 31_536_000

const makeFiles = Effect.gen(function*() {
  const [repo, storage] = [yield* MediaFileRepo, yield* MediaStorage]
  const [keys, renditions] = [yield* MediaKeys, yield* Renditions]

  /** Seconds that a signed address has left. */
  const signedFor = Effect.fnUntraced(function*(storageKey: string, { expires, signature = "" }: ShownAddress) {
    const link = { storageKey, expires: Number(expires) }
    if (!isSigned(link, signature, keys)) return yield* notFound
    const left = link.expires - Math.floor(DateTime.toEpochMillis(yield* DateTime.now) / 1_000)
    return left > 0 ? left : yield* Forbidden.of("This address can no longer be used.")
  })

  const audienceOf = Effect.fnUntraced(function*(file: MediaFile, shown: ShownAddress) {
    if (shown.signature !== undefined || shown.expires !== undefined) {
      return { audience: "holder", seconds: yield* signedFor(file.storageKey, shown) } as const
    }
    if (file.isPublic) return { audience: "public", seconds: hour } as const
    const actor = yield* CurrentActor
    return actor.organizationId === file.organizationId && (holds(actor, "media:read") || seesUnpublished(actor))
      ? { audience: "actor", seconds: 0 } as const
      : yield* notFound
  })

  const show = Effect.fn("MediaFiles.show")(function*(storageKey: string, shown: ShownAddress) {
    const file = (isStorageKey(storageKey) ? yield* repo.at(storageKey) : undefined) ?? (yield* notFound)
    const allowed = yield* audienceOf(file, shown)
    const narrowed = shown.width === undefined || file.isDerived
      ? file
      : { ...file, ...yield* renditions.of(file, Number(shown.width)), isDerived: true }
    const seconds = narrowed.isDerived && allowed.audience === "public" ? year : allowed.seconds
    return { ...narrowed, ...allowed, seconds }
  })

  const read = Effect.fn("MediaFiles.read")((file: MediaFile, range: ByteRange | undefined) =>
    storage.open(file.storageKey, range).pipe(
      Effect.catchTags({
        StorageFailed: storageAway,
        FileMissing: () =>
          Effect.andThen(
            Effect.logError(`the storage of media has no file ${file.storageKey}`),
            Effect.fail(NotFound.of("The file of this medium is missing."))
          )
      })
    )
  )

  return { show, read }
})
