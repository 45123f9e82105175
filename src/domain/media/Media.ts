import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor, holds, requireAnyOf } from "../access/Actor.ts"
import { seesUnpublished } from "../catalog/CatalogVisibility.ts"
import { Conflict, NotFound, Unavailable } from "../errors/ApiErrors.ts"
import type { Detachment, MediaChange, NewAttachment } from "./MediaAsset.ts"
import { MediaFileRepo } from "./MediaFileRepo.ts"
import { MediaKeys, signedQuery } from "./MediaFiles.ts"
import { Renditions } from "./MediaImages.ts"
import { MediaRepo } from "./MediaRepo.ts"
import { dispositionOf, filesPath, MediaAddress, MediaSettings } from "./MediaSettings.ts"
import { MediaStorage, storageAway } from "./MediaStorage.ts"

/** Options of a request for an asset's address. */
export interface AddressRequest {
  readonly signed: boolean
  /** Of an image: at most this wide. */
  readonly width?: number | undefined
}

const notFound = NotFound.of("Media not found.")

const makeAddress = Effect.gen(function*() {
  const [repo, storage, renditions] = [yield* MediaRepo, yield* MediaStorage, yield* Renditions]
  const [keys, settings, address] = [yield* MediaKeys, yield* MediaSettings, yield* MediaAddress]
  // Addresses signed by this service lead to this service, even if a public base address is configured.
  const own = address.endsWith(filesPath) ? address : filesPath

  const signed = Effect.fnUntraced(function*(storageKey: string, contentType: string, filename: string) {
    const seconds = settings.signedUrlSeconds
    if (storage.signedUrl !== undefined) {
      const disposition = dispositionOf(contentType, filename)
      return yield* Effect.catch(storage.signedUrl(storageKey, { seconds, contentType, disposition }), storageAway)
    }
    const expires = Math.floor(DateTime.toEpochMillis(yield* DateTime.now) / 1_000) + seconds
    const query = signedQuery({ storageKey, expires }, keys)
    return query === undefined
      ? yield* Effect.fail(Unavailable.of("Addresses are signed where STOA_SECRETS_KEY is set."))
      : `${own}${storageKey}?${query}`
  })

  /**
   * The address of an asset's file. Unsigned if the asset is public or the caller sees unpublished content; signed and
   * expiring for readers of media only (401, 403). 503 if the service cannot sign.
   */
  return Effect.fn("Media.address")(function*(id: string, asked: AddressRequest) {
    const actor = yield* CurrentActor
    if (asked.signed) yield* requireAnyOf(actor, ["media:read"])
    const asset = (yield* repo.find(id)) ?? (yield* notFound)
    if (!asked.signed && !asset.isShown && !seesUnpublished(actor) && !holds(actor, "media:read")) {
      return yield* notFound
    }
    const original = { ...asset, assetId: asset.id }
    const { contentType, storageKey } = asked.width === undefined
      ? asset
      : yield* renditions.of(original, asked.width)
    return asked.signed ? yield* signed(storageKey, contentType, asset.filename) : `${address}${storageKey}`
  })
})

/** Files that are removed at the same time. */
const maxConcurrent = 4

const makeRemovals = Effect.gen(function*() {
  const [repo, storage] = [yield* MediaFileRepo, yield* MediaStorage]

  const one = (key: string) =>
    storage.remove(key).pipe(
      Effect.timeout("30 seconds"),
      Effect.matchEffect({
        onSuccess: () => Effect.succeed([key]),
        onFailure: (failure) =>
          Effect.as(Effect.logWarning(`a file of media could not be removed: ${key}`, failure), [])
      })
    )

  /** Removes files that are claimed and forgets them last: if the process dies in between, the next run tries again. */
  return Effect.fnUntraced(function*<R>(claim: Effect.Effect<ReadonlyArray<string>, never, R>) {
    if (!storage.isConfigured) return 0
    const keys = yield* claim
    const gone = yield* Effect.forEach(keys, one, { concurrency: maxConcurrent })
    yield* repo.removed(gone.flat())
    return keys.length
  })
})

/** The media of an organization and their attachments (spec §4 `/media`, contract §10). */
export class Media extends Context.Service<Media>()("stoa/domain/media/Media", {
  make: Effect.gen(function*() {
    const [repo, files, removeClaimed] = [yield* MediaRepo, yield* MediaFileRepo, yield* makeRemovals]

    const record = Effect.fn("Media.record")(function*(id: string) {
      return (yield* repo.record(id)) ?? (yield* notFound)
    })

    const update = Effect.fn("Media.update")(function*(id: string, change: MediaChange) {
      return (yield* repo.update(id, change)) ?? (yield* notFound)
    })

    /** Deletes the asset, then its files: now, or when the storage answers again. */
    const remove = Effect.fn("Media.remove")(function*(id: string) {
      const keys = (yield* repo.remove(id)) ?? (yield* notFound)
      yield* removeClaimed(files.claimThese(keys))
    })

    /** 404 for an unknown entity, variant or asset, 409 if the asset is already attached. */
    const attach = Effect.fn("Media.attach")(function*(attachment: NewAttachment) {
      const ends = yield* repo.attach(attachment)
      if (!ends.entity) return yield* NotFound.of("Catalog entity not found.")
      if (!ends.variant) return yield* NotFound.of("The entity has no such variant.")
      if (!ends.asset) return yield* notFound
      if (!ends.attached) return yield* Conflict.of("This medium is attached there already.")
    })

    const detach = Effect.fn("Media.detach")(function*(detachment: Detachment) {
      if (!(yield* repo.detach(detachment))) return yield* NotFound.of("The medium is not attached there.")
    })

    /**
     * Removes up to `limit` files whose rows are deleted or were never written, of all organizations. Returns how many
     * were tried, which is less than the limit when none is left.
     */
    const removeFiles = Effect.fn("Media.removeFiles")((limit: number) => removeClaimed(files.claimRemovals(limit)))

    return { page: repo.page, record, address: yield* makeAddress, update, remove, attach, detach, removeFiles }
  })
}) {
  static readonly layer = Layer.effect(Media, Media.make)
}
