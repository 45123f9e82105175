import { Context, Data, type Effect, type Scope } from "effect"
import type { StorageFailed, TemporaryFile } from "./TemporaryFiles.ts"

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

/** What looks into images. It refuses what unpacks to more pixels than the deployment allows. */
export class MediaImages extends Context.Service<MediaImages, {
  /** Reads the head of an image of this content type; no pixels are unpacked. */
  readonly measure: (path: string, contentType: string) => Effect.Effect<ImageSize, ImageRefused | StorageFailed>
  /** Renders the image at most this wide, never wider than the original; the file exists while the scope is open. */
  readonly render: (
    path: string,
    width: number
  ) => Effect.Effect<RenderedImage, ImageRefused | StorageFailed, Scope.Scope>
}>()("stoa/domain/media/MediaImages") {}
