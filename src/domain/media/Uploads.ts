import { Context, Effect, Layer } from "effect"
import { StorageNotSupported, Unavailable, ValidationFailed } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import { type NewAsset, savedName } from "./MediaAsset.ts"
import { MediaFileRepo } from "./MediaFileRepo.ts"
import { MediaImages } from "./MediaImages.ts"
import { MediaRepo } from "./MediaRepo.ts"
import { declaredType, MediaSettings, type MediaType, typeNamed } from "./MediaSettings.ts"
import { MediaStorage, newStorageKey, storageAway, type TemporaryFile } from "./MediaStorage.ts"

/** A received file with the client's description of it. */
export interface ReceivedFile {
  readonly file: TemporaryFile
  readonly filename: string
  /** The content type header of the client, unparsed. */
  readonly declared: string
  readonly alt: string | null
  readonly isPublic: boolean
  /** Origin of the file; absent: uploaded by the merchant. */
  readonly origin?: "imported"
}

const refused = (message: string, code = "invalid") => Effect.fail(ValidationFailed.of("file", message, code))

/** Files become media of the organization (spec §4 `/media/upload`, contract §10). */
export class Uploads extends Context.Service<Uploads>()("stoa/domain/media/Uploads", {
  make: Effect.gen(function*() {
    const [repo, files, storage] = [yield* MediaRepo, yield* MediaFileRepo, yield* MediaStorage]
    const [images, { contentTypes }] = [yield* MediaImages, yield* MediaSettings]

    /** 501 without storage; check it before reading any byte of the file. */
    const admit = storage.isConfigured ? Effect.void : Effect.fail(StorageNotSupported.of())

    /** Detects the content type from the file; a contradicting declaration is refused. */
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

    /**
     * Checks a file and stores it without its row. The caller writes the row (`MediaRepo.create`) together with related
     * records; without a row the file is removed.
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
      // The file is on the removal list until its row is written, so a crash in between leaves no orphan.
      yield* files.expectRemoval(storageKey)
      yield* storage.put(storageKey, file, type.contentType)
      return asset
    }, Effect.catchTag("StorageFailed", storageAway))

    /**
     * 422 for a file that is not what may be uploaded, 503 when the storage does not take it. Nothing is left of
     * either.
     */
    const store = Effect.fn("Uploads.store")(function*(received: ReceivedFile) {
      const asset = yield* put(received)
      return (yield* repo.create(asset)) ?? (yield* Effect.fail(Unavailable.of("The upload took too long. Try again.")))
    })

    return { admit, put, store }
  })
}) {
  static readonly layer = Layer.effect(Uploads, Uploads.make)
}
