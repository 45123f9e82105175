import { Context, Data, Effect, Layer, type Scope, Semaphore } from "effect"
import { CurrentActor, systemActor } from "../access/Actor.ts"
import { NotFound, Unavailable, ValidationFailed } from "../errors/ApiErrors.ts"
import { type MediaFile, MediaFileRepo } from "./MediaFileRepo.ts"
import { MediaSettings, typeNamed } from "./MediaSettings.ts"
import { MediaStorage, newStorageKey, storageAway, type StorageFailed, type TemporaryFile } from "./MediaStorage.ts"

/** An image that cannot be decoded, or only at too high a cost. */
export class ImageRefused extends Data.TaggedError("ImageRefused")<{ readonly message: string }> {}

/** Width and height in pixels, as the image is seen. */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

/** A smaller version of an image. */
export interface RenderedImage extends ImageSize {
  readonly file: TemporaryFile
  readonly contentType: string
  readonly extension: string
}

/** Reads and renders images. Refuses those that unpack to more pixels than the deployment allows. */
export class MediaImages extends Context.Service<MediaImages, {
  /** Reads the head of an image of this content type; no pixels are unpacked. */
  readonly measure: (path: string, contentType: string) => Effect.Effect<ImageSize, ImageRefused | StorageFailed>
  /** Renders the image at most this wide, never wider than the original; the file exists while the scope is open. */
  readonly render: (
    path: string,
    width: number
  ) => Effect.Effect<RenderedImage, ImageRefused | StorageFailed, Scope.Scope>
}>()("stoa/domain/media/MediaImages") {}

/** Images that a process renders at the same time, and how many may wait for it. */
const maxConcurrent = 2
const maxWaiting = 64

/** The original image of smaller versions. */
export type Original = Pick<MediaFile, "assetId" | "organizationId" | "storageKey" | "contentType">

const refused = (message: string) => Effect.fail(ValidationFailed.of("width", message))

/**
 * Smaller versions of images, rendered on the first request and then stored. Only in the configured widths, so that a
 * client cannot have one image rendered a thousand times.
 */
export class Renditions extends Context.Service<Renditions>()("stoa/domain/media/Renditions", {
  make: Effect.gen(function*() {
    const [repo, storage] = [yield* MediaFileRepo, yield* MediaStorage]
    const [images, { imageWidths }] = [yield* MediaImages, yield* MediaSettings]
    const slots = yield* Semaphore.make(maxConcurrent)
    let waiting = 0

    const render = Effect.fn("Renditions.render")(function*({ assetId, storageKey }: Original, width: number) {
      // Another request may have rendered it during the wait.
      const found = yield* repo.rendition(assetId, width)
      if (found !== undefined) return found
      const { contentType, extension, file } = yield* images.render(yield* storage.local(storageKey), width)
      const key = yield* newStorageKey(extension)
      const { digest, size } = file
      // As for uploads: the file is removed unless its row is written.
      yield* repo.expectRemoval(key)
      yield* storage.put(key, file, contentType)
      const made = { assetId, width, storageKey: key, contentType, size, digest }
      if (yield* repo.addRendition(made)) return made
      // Another process was faster, or the image was deleted.
      return (yield* repo.rendition(assetId, width)) ?? (yield* NotFound.of("Media not found."))
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
        if (!imageWidths.includes(width)) return yield* refused(`expected one of ${imageWidths.join(", ")}`)
        if (typeNamed(original.contentType)?.isRaster !== true) return yield* refused("only images have other widths")
        return (yield* repo.rendition(original.assetId, width)) ?? (yield* queued(original, width))
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
}) {
  static readonly layer = Layer.effect(Renditions, Renditions.make)
}
