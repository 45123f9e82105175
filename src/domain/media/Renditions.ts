import { Context, Effect, Layer, Semaphore } from "effect"
import { CurrentActor, systemActor } from "../access/Actor.ts"
import { NotFound, Unavailable, ValidationFailed } from "../errors/ApiErrors.ts"
import { type MediaFile, MediaFileRepo } from "./MediaFileRepo.ts"
import { MediaImages } from "./MediaImages.ts"
import { MediaRemovalRepo } from "./MediaRemovalRepo.ts"
import { MediaSettings } from "./MediaSettings.ts"
import { MediaStorage, newStorageKey } from "./MediaStorage.ts"
import { typeNamed } from "./MediaTypes.ts"
import { storageAway } from "./Uploads.ts"

/** Images that a process draws at the same time, and how many may wait for it. */
const atOnce = 2
const mostWaiting = 64

/** The original image of smaller versions. */
export type Original = Pick<MediaFile, "assetId" | "organizationId" | "storageKey" | "contentType">

type Stored = Pick<MediaFile, "storageKey" | "contentType" | "size" | "digest">

/**
 * Smaller versions of images, rendered on the first request and then stored. Only in the configured widths, so that a
 * client cannot have one image rendered a thousand times.
 */
export class Renditions extends Context.Service<Renditions, {
  /**
   * 422 for a width that is not configured or a file that is not an image; 503 at the limit of concurrent renderings.
   */
  readonly of: (original: Original, width: number) => Effect.Effect<Stored, ValidationFailed | NotFound | Unavailable>
}>()("stoa/domain/media/Renditions") {
  static readonly layer = Layer.effect(Renditions, Effect.suspend(() => makeRenditions))
}

const refused = (message: string) => Effect.fail(ValidationFailed.of("width", message))

const makeRenditions = Effect.gen(function*() {
  const [repo, removals, storage] = [yield* MediaFileRepo, yield* MediaRemovalRepo, yield* MediaStorage]
  const [images, { imageWidths }] = [yield* MediaImages, yield* MediaSettings]
  const drawing = yield* Semaphore.make(atOnce)
  let waiting = 0

  const draw = Effect.fn("Renditions.draw")(function*({ assetId, storageKey }: Original, width: number) {
    // Another request may have rendered it during the wait.
    const found = yield* repo.rendition(assetId, width)
    if (found !== undefined) return found
    const { contentType, extension, file } = yield* images.render(yield* storage.local(storageKey), width)
    const key = yield* newStorageKey(extension)
    const { digest, size } = file
    // As for uploads: the file is removed unless its row is written.
    yield* removals.expect(key)
    yield* storage.put(key, file, contentType)
    const made = { assetId, width, storageKey: key, contentType, size, digest }
    if (yield* repo.addRendition(made)) return made
    // Another process was faster, or the image was deleted.
    return (yield* repo.rendition(assetId, width)) ?? (yield* NotFound.of("Media not found."))
  }, Effect.scoped)

  const drawn = Effect.fnUntraced(function*(original: Original, width: number) {
    if (waiting >= mostWaiting) return yield* Unavailable.of("Too many images are being drawn. Try again.")
    waiting += 1
    return yield* Effect.ensuring(drawing.withPermits(1)(draw(original, width)), Effect.sync(() => waiting -= 1))
  })

  const of = Effect.fn("Renditions.of")(
    function*(original: Original, width: number) {
      if (!imageWidths.includes(width)) return yield* refused(`expected one of ${imageWidths.join(", ")}`)
      if (typeNamed(original.contentType)?.isRaster !== true) return yield* refused("only images have other widths")
      return (yield* repo.rendition(original.assetId, width)) ?? (yield* drawn(original, width))
    },
    (effect, { organizationId }) => Effect.provideService(effect, CurrentActor, systemActor(organizationId)),
    Effect.catchTags({
      StorageFailed: storageAway,
      FileMissing: () => Effect.fail(NotFound.of("The file of this medium is missing.")),
      ImageRefused: ({ message }) => Effect.fail(ValidationFailed.of("width", message))
    })
  )

  return { of }
})
