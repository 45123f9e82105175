import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor, holds, requireAnyOf, seesUnpublished } from "../platform/access/Actor.ts"
import { StorageNotSupported, Unavailable } from "../platform/errors/ApiErrors.ts"
import { conflict, invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { type MediaAssetId, newId } from "../platform/ids/Id.ts"
import {
  declaredType,
  type Detachment,
  dispositionOf,
  filesPath,
  MediaAddress,
  type MediaChange,
  MediaSettings,
  type MediaType,
  type NewAsset,
  type NewAttachment,
  savedName,
  typeNamed
} from "./MediaAsset.ts"
import { MediaFileRepo } from "./MediaFileRepo.ts"
import {
  MediaImages,
  MediaKeys,
  MediaNotFound,
  MediaStorage,
  newStorageKey,
  Renditions,
  signedQuery,
  storageAway,
  type TemporaryFile
} from "./MediaFiles.ts"
import { MediaRepo } from "./MediaRepo.ts"

class AttachedEntityNotFound extends notFound("AttachedEntity", "Catalog entity not found.") {}
class AttachedVariantNotFound extends notFound("AttachedVariant", "The entity has no such variant.") {}
class AttachmentNotFound extends notFound("Attachment", "The medium is not attached there.") {}
class MediaAttached extends conflict("MediaAttached", "This medium is attached there already.") {}
export class FileRequired extends invalid("FileRequired", "file", "file is required.", "required") {}
class ImageRequired extends invalid("ImageRequired", "file", "file must be a picture.", "type") {}
class PrivateRequired
  extends invalid("PrivateRequired", "isPublic", "isPublic must be false: only callers with media:write publish files.")
{}
class NoImage extends invalid("NoImage", "file", (message: string) => message, "image") {}
class TypeNotAllowed extends invalid(
  "TypeNotAllowed",
  "file",
  (allowed: ReadonlyArray<string>) => `must be of one of these types: ${allowed.join(", ")}.`,
  "type"
) {}
class TypeMismatch extends invalid(
  "TypeMismatch",
  "file",
  (declared: string, found: string) => `must be what its content type says: it is ${found}, sent as ${declared}.`,
  "type_mismatch"
) {}

export interface AddressRequest {
  readonly signed: boolean
  readonly width?: number | undefined
}

const makeAddress = Effect.gen(function*() {
  const [repo, storage, renditions] = [yield* MediaRepo, yield* MediaStorage, yield* Renditions]
  const [keys, settings, address] = [yield* MediaKeys, yield* MediaSettings, yield* MediaAddress]
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
   * Unsigned if the asset is public or the caller sees unpublished content; signed and expiring for readers of media
   * only (401, 403). 503 if the service cannot sign.
   */
  return Effect.fn("Media.address")(function*(id: MediaAssetId, asked: AddressRequest) {
    const actor = yield* CurrentActor
    if (asked.signed) yield* requireAnyOf(actor, ["media:read"])
    const asset = (yield* repo.find(id)) ?? (yield* new MediaNotFound())
    if (!asked.signed && !asset.isShown && !seesUnpublished(actor) && !holds(actor, "media:read")) {
      return yield* new MediaNotFound()
    }
    const original = { ...asset, assetId: asset.id }
    const { contentType, storageKey } = asked.width === undefined
      ? asset
      : yield* renditions.of(original, asked.width)
    return asked.signed ? yield* signed(storageKey, contentType, asset.filename) : `${address}${storageKey}`
  })
})

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

  /** Removes claimed files and forgets them last: if the process dies in between, the next run tries again. */
  return Effect.fnUntraced(function*<R>(claim: Effect.Effect<ReadonlyArray<string>, never, R>) {
    if (!storage.isConfigured) return 0
    const keys = yield* claim
    const gone = yield* Effect.forEach(keys, one, { concurrency: maxConcurrent })
    yield* repo.removed(gone.flat())
    return keys.length
  })
})

/** Media of an organization and their attachments (spec §4 `/media`, contract §10). */
export class Media extends Context.Service<Media>()("stoa/domain/media/Media", {
  make: Effect.gen(function*() {
    const [repo, files, removeClaimed] = [yield* MediaRepo, yield* MediaFileRepo, yield* makeRemovals]

    const record = Effect.fn("Media.record")(function*(id: MediaAssetId) {
      return (yield* repo.record(id)) ?? (yield* new MediaNotFound())
    })

    const update = Effect.fn("Media.update")(function*(id: MediaAssetId, change: MediaChange) {
      return (yield* repo.update(id, change)) ?? (yield* new MediaNotFound())
    })

    /** Deletes the asset, then its files: now, or when the storage answers again. */
    const remove = Effect.fn("Media.remove")(function*(id: MediaAssetId) {
      const keys = (yield* repo.remove(id)) ?? (yield* new MediaNotFound())
      yield* removeClaimed(files.claimThese(keys))
    })

    /** 404 for an unknown entity, variant or asset, 409 if the asset is already attached. */
    const attach = Effect.fn("Media.attach")(function*(attachment: NewAttachment) {
      const ends = yield* repo.attach(attachment)
      if (!ends.entity) return yield* new AttachedEntityNotFound()
      if (!ends.variant) return yield* new AttachedVariantNotFound()
      if (!ends.asset) return yield* new MediaNotFound()
      if (!ends.attached) return yield* new MediaAttached()
    })

    const detach = Effect.fn("Media.detach")(function*(detachment: Detachment) {
      if (!(yield* repo.detach(detachment))) return yield* new AttachmentNotFound()
    })

    /** Removes expired uploads, then files of deleted media; up to `limit` of each. */
    const removeFiles = Effect.fn("Media.removeFiles")(function*(limit: number) {
      const expired = yield* repo.removeExpired(limit)
      return Math.max(expired, yield* removeClaimed(files.claimRemovals(limit)))
    })

    const { claim, page, release } = repo
    const address = yield* makeAddress
    return { page, record, address, update, remove, attach, detach, claim, release, removeFiles }
  })
}) {
  static readonly layer = Layer.effect(Media, Media.make)
}

export interface ReceivedFile {
  readonly file: TemporaryFile
  readonly filename: string
  readonly declared: string
  readonly alt: string | null
  readonly isPublic: boolean
  readonly origin?: "imported"
}

/** Stores files as media of the organization (spec §4 `/media/upload`, contract §10). */
export class Uploads extends Context.Service<Uploads>()("stoa/domain/media/Uploads", {
  make: Effect.gen(function*() {
    const [repo, files, storage] = [yield* MediaRepo, yield* MediaFileRepo, yield* MediaStorage]
    const [images, { contentTypes }] = [yield* MediaImages, yield* MediaSettings]

    /** Shoppers keep private images only. */
    const requireOwn = ({ isPublic }: ReceivedFile, { isRaster }: MediaType) => {
      if (!isRaster) return Effect.fail(new ImageRequired())
      return isPublic ? Effect.fail(new PrivateRequired()) : Effect.void
    }

    /** 501 without storage; check it before reading any byte of the file. */
    const admit = storage.isConfigured ? Effect.void : Effect.fail(StorageNotSupported.of())

    const typeOf = Effect.fnUntraced(function*({ declared, file }: ReceivedFile) {
      if (file.size === 0) return yield* new FileRequired()
      const type = typeNamed(file.contentType)
      if (type === undefined || !contentTypes.includes(type.contentType)) {
        return yield* new TypeNotAllowed(contentTypes)
      }
      const said = declaredType(declared)
      if (said !== undefined && said !== type.contentType) {
        return yield* new TypeMismatch(said, type.contentType)
      }
      return type
    })

    const sizeOf = (type: MediaType, { file }: ReceivedFile) =>
      type.isRaster
        ? Effect.catchTag(
          images.measure(file.path, type.contentType),
          "ImageRefused",
          ({ message }) => Effect.fail(new NoImage(message))
        )
        : Effect.succeed({ width: null, height: null })

    /**
     * Stores a file without its row. The caller writes the row (`MediaRepo.create`); without a row the file is removed.
     */
    const put = Effect.fn("Uploads.put")(function*(received: ReceivedFile) {
      const { file } = received
      const type = yield* typeOf(received)
      const size = yield* sizeOf(type, received)
      const storageKey = yield* newStorageKey(type.extension)
      const asset: NewAsset = {
        id: newId(),
        storageKey,
        filename: savedName(received.filename, type.extension),
        contentType: type.contentType,
        size: file.size,
        digest: file.digest,
        alt: received.alt,
        isPublic: received.isPublic,
        ...received.origin === undefined ? {} : { origin: received.origin },
        ...size
      }
      yield* files.expectRemoval(storageKey)
      yield* storage.put(storageKey, file, type.contentType)
      return asset
    }, Effect.catchTag("StorageFailed", storageAway))

    /**
     * 422 for a file that may not be uploaded, 409 for too many of a shopper, 503 without the storage. Nothing is left of
     * either.
     */
    const store = Effect.fn("Uploads.store")(function*(received: ReceivedFile) {
      const isOwn = !holds(yield* CurrentActor, "media:write")
      if (isOwn) yield* requireOwn(received, yield* typeOf(received))
      const asset = yield* put(received)
      return (yield* isOwn ? repo.createOwn(asset) : repo.create(asset)) ??
        (yield* Effect.fail(Unavailable.of("The upload took too long. Try again.")))
    })

    return { admit, put, store }
  })
}) {
  static readonly layer = Layer.effect(Uploads, Uploads.make)
}
