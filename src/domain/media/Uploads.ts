import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { StorageNotSupported, Unavailable, ValidationFailed } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import { type MediaAsset, type NewAsset, savedName } from "./MediaAsset.ts"
import { MediaImages } from "./MediaImages.ts"
import { MediaRemovalRepo } from "./MediaRemovalRepo.ts"
import { MediaRepo } from "./MediaRepo.ts"
import { MediaSettings } from "./MediaSettings.ts"
import { MediaStorage, newStorageKey } from "./MediaStorage.ts"
import { declaredType, type MediaType, typeNamed } from "./MediaTypes.ts"
import type { StorageFailed, TemporaryFile } from "./TemporaryFiles.ts"

/** A file as it arrived, with what its sender says of it. */
export interface ReceivedFile {
  readonly file: TemporaryFile
  readonly filename: string
  /** The content type that the client declares, as it stands in the request. */
  readonly declared: string
  readonly alt: string | null
  readonly isPublic: boolean
  /** Where it comes from; absent: from the merchant. */
  readonly origin?: "imported"
}

/** Files become media of the organization (spec §4 `/media/upload`, contract §10). */
export class Uploads extends Context.Service<Uploads, {
  /** 501 where no files are kept; to be asked before a byte of the file is read. */
  readonly admit: Effect.Effect<void, StorageNotSupported>
  /**
   * Looks at a file and stores it without its row, which the caller writes (`MediaRepo.create`) together with whatever
   * belongs to it; without a row the file goes.
   */
  readonly put: (received: ReceivedFile) => Effect.Effect<NewAsset, ValidationFailed | Unavailable, CurrentActor>
  /** 422 for a file that is not what may be uploaded, 503 when the storage does not take it. Nothing is left of either. */
  readonly store: (received: ReceivedFile) => Effect.Effect<MediaAsset, ValidationFailed | Unavailable, CurrentActor>
}>()("stoa/domain/media/Uploads") {
  static readonly layer = Layer.effect(Uploads, Effect.suspend(() => makeUploads))
}

const refused = (message: string, code = "invalid") => Effect.fail(ValidationFailed.of("file", message, code))

/** Storage that is away is told from mistakes of the client; the log has what it said. */
export const storageAway = (failure: StorageFailed) =>
  Effect.andThen(
    Effect.logWarning("the storage of media failed", failure),
    Effect.fail(Unavailable.of("The storage of files is not available. Try again shortly."))
  )

const makeUploads = Effect.gen(function*() {
  const [repo, removals, storage] = [yield* MediaRepo, yield* MediaRemovalRepo, yield* MediaStorage]
  const [images, { contentTypes }] = [yield* MediaImages, yield* MediaSettings]

  const admit = storage.isConfigured ? Effect.void : Effect.fail(StorageNotSupported.of())

  /** What the file is, and never what its sender says; who says something else is told so. */
  const typeOf = Effect.fnUntraced(function*({ declared, file }: ReceivedFile) {
    if (file.size === 0) return yield* refused("file is required", "required")
    const type = typeNamed(file.contentType)
    if (type === undefined || !contentTypes.includes(type.contentType)) {
      return yield* refused(`is of a type that is not allowed; allowed are ${contentTypes.join(", ")}`, "type")
    }
    const said = declaredType(declared)
    if (said !== undefined && said !== type.contentType) {
      return yield* refused(`is declared as ${said} and is ${type.contentType}`, "type_mismatch")
    }
    return type
  })

  const sizeOf = (type: MediaType, { file }: ReceivedFile) =>
    type.isRaster
      ? Effect.catchTag(
        images.measure(file.path, type.contentType),
        "ImageRefused",
        ({ message }) => refused(message, "image")
      )
      : Effect.succeed({ width: null, height: null })

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
    // The file is expected to go until its row is written: whatever dies in between leaves none behind.
    yield* removals.expect(storageKey)
    yield* storage.put(storageKey, file, type.contentType)
    return asset
  }, Effect.catchTag("StorageFailed", storageAway))

  const store = Effect.fn("Uploads.store")(function*(received: ReceivedFile) {
    const asset = yield* put(received)
    return (yield* repo.create(asset)) ?? (yield* Effect.fail(Unavailable.of("The upload took too long. Try again.")))
  })

  return { admit, put, store }
})
