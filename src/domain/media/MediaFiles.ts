import { Context, DateTime, Effect, Layer, Redacted } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { CurrentActor, holds } from "../access/Actor.ts"
import { seesUnpublished } from "../catalog/CatalogVisibility.ts"
import { Forbidden, NotFound } from "../errors/ApiErrors.ts"
import { type MediaFile, MediaFileRepo } from "./MediaFileRepo.ts"
import { Renditions } from "./MediaImages.ts"
import { type ByteRange, isStorageKey, MediaStorage, storageAway } from "./MediaStorage.ts"

/** A key that signs addresses of media. */
export type MediaKey = Redacted.Redacted<Uint8Array>

/**
 * Keys of signed addresses: the first signs, all are accepted. Without keys the service signs nothing, because
 * addresses signed with a well-known key could be forged.
 */
export class MediaKeys extends Context.Service<MediaKeys, ReadonlyArray<MediaKey>>()("stoa/domain/media/MediaKeys") {
  static readonly layerOf = (keys: ReadonlyArray<MediaKey>): Layer.Layer<MediaKeys> => Layer.succeed(MediaKeys, keys)
}

/** The signed content of an address. */
export interface MediaLink {
  readonly storageKey: string
  /** Expiry in seconds since 1970. */
  readonly expires: number
}

const signatureOf = ({ expires, storageKey }: MediaLink, key: MediaKey): Uint8Array =>
  createHmac("sha256", Redacted.value(key)).update(`${storageKey}\n${expires}`).digest()

/** The query that signs an address; undefined without a key. */
export const signedQuery = (link: MediaLink, [key]: ReadonlyArray<MediaKey>): string | undefined =>
  key === undefined
    ? undefined
    : `expires=${link.expires}&signature=${Buffer.from(signatureOf(link, key)).toString("base64url")}`

/** Whether one of the keys signed this; compared in constant time. */
export const isSigned = (link: MediaLink, signature: string, keys: ReadonlyArray<MediaKey>): boolean => {
  const shown = Buffer.from(signature, "base64url")
  return keys.some((key) => {
    const expected = signatureOf(link, key)
    return shown.length === expected.length && timingSafeEqual(shown, expected)
  })
}

/** Query of the address of a file. */
export interface ShownAddress {
  readonly expires?: string | undefined
  readonly signature?: string | undefined
  readonly width?: string | undefined
}

/** A file that the caller may see, and its caching. */
export interface ShownFile extends MediaFile {
  /** Seconds a client can cache the file; `public`: shared caches can as well. */
  readonly audience: "public" | "holder" | "actor"
  readonly seconds: number
}

const notFound = NotFound.of("Media not found.")

/** How long a public file can be cached: forever if the address never serves other content. */
const hour = 3_600
const year = 31_536_000

/** Access to files (docs/media.md). */
export class MediaFiles extends Context.Service<MediaFiles>()("stoa/domain/media/MediaFiles", {
  make: Effect.gen(function*() {
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

    /**
     * The file under a storage key, if the caller may see it: everybody for a public asset, holders of a signed address
     * until it expires, and callers who can read the organization's media or its unpublished content. 404 for others
     * and for an invalid signature; 403 for an expired one.
     */
    const show = Effect.fn("MediaFiles.show")(function*(storageKey: string, shown: ShownAddress) {
      const file = (isStorageKey(storageKey) ? yield* repo.at(storageKey) : undefined) ?? (yield* notFound)
      const allowed = yield* audienceOf(file, shown)
      const narrowed = shown.width === undefined || file.isDerived
        ? file
        : { ...file, ...yield* renditions.of(file, Number(shown.width)), isDerived: true }
      const seconds = narrowed.isDerived && allowed.audience === "public" ? year : allowed.seconds
      return { ...narrowed, ...allowed, seconds }
    })

    /** Its bytes, or a range. 404 when the storage has lost it, 503 when it does not answer. */
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
}) {
  static readonly layer = Layer.effect(MediaFiles, MediaFiles.make)
}
