import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { Sharp, SharpOptions } from "sharp"
import { ImageRefused, MediaImages } from "../../domain/media/MediaImages.ts"
import type { MediaSettingsValues } from "../../domain/media/MediaSettings.ts"
import { StorageFailed } from "../../domain/media/MediaStorage.ts"
import { onDisk, temporaryPath } from "./LocalTemporaryFiles.ts"

/** Time limit for one image, in seconds. */
const limitSeconds = 20

/** The library's names of the formats. */
const formats: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "heif"
}

/** The library cannot be loaded: no fault of the image. */
class LibraryMissing extends Error {}

/**
 * The library is loaded with the first image, as most processes see none. It works outside of JavaScript's thread; one
 * thread per image and no cache keep its memory small.
 */
const loaded = async () => {
  const { default: sharp } = await import("sharp").catch((cause: unknown) => {
    throw new LibraryMissing("The library for images cannot be read on this machine.", { cause })
  })
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}

const unreadable = () => new ImageRefused({ message: "is an image that cannot be read" })

/** Tells failures of the disk from those of the image. */
const failureOf = (cause: unknown): ImageRefused | StorageFailed =>
  cause instanceof LibraryMissing || (typeof cause === "object" && cause !== null && "syscall" in cause)
    ? new StorageFailed({ cause })
    : cause instanceof ImageRefused
    ? cause
    : cause instanceof Error && /pixel limit/.test(cause.message)
    ? new ImageRefused({ message: "has more pixels than are allowed" })
    : unreadable()

/** Images by sharp. Damaged images are refused rather than guessed at. */
export const sharpImages = (folder: string, { maxPixels }: MediaSettingsValues): Layer.Layer<MediaImages> => {
  const options: SharpOptions = { limitInputPixels: maxPixels, failOn: "error", sequentialRead: true }

  const withImage = <A>(path: string, use: (image: Sharp) => Promise<A>) =>
    Effect.tryPromise({ try: async () => use((await loaded())(path, options)), catch: failureOf })

  const measure = Effect.fn("MediaImages.measure")((path: string, contentType: string) =>
    withImage(path, async (image) => {
      const { autoOrient: { height, width }, format, pages = 1 } = await image.metadata()
      if (format !== formats[contentType]) throw unreadable()
      // The head holds the unpacked size of all frames: a bomb is refused before a pixel is unpacked.
      if (width * height > maxPixels || width * height * pages > 4 * maxPixels) {
        throw new ImageRefused({ message: `has more pixels than are allowed (${maxPixels})` })
      }
      return { width, height }
    })
  )

  const render = Effect.fn("MediaImages.render")(function*(path: string, width: number) {
    const made = yield* temporaryPath(folder)
    const info = yield* withImage(
      path,
      (image) =>
        image.autoOrient().resize({ width, withoutEnlargement: true }).timeout({ seconds: limitSeconds })
          .webp({ quality: 80 }).toFile(made)
    )
    // A smaller version is small enough to be read at once.
    const bytes = yield* onDisk(() => readFile(made))
    const file = {
      path: made,
      size: bytes.length,
      digest: createHash("sha256").update(bytes).digest("hex"),
      contentType: "image/webp"
    }
    return { file, width: info.width, height: info.height, contentType: "image/webp", extension: "webp" }
  })

  return Layer.succeed(MediaImages, { measure, render })
}
