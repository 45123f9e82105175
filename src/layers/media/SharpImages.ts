import { Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { Sharp, SharpOptions } from "sharp"
import { ImageRefused, MediaImages } from "../../domain/media/MediaImages.ts"
import type { MediaSettingsValues } from "../../domain/media/MediaSettings.ts"
import { StorageFailed } from "../../domain/media/MediaStorage.ts"
import { onDisk, temporaryPath } from "./LocalTemporaryFiles.ts"

/** Longest time for one image, in seconds. */
const limitSeconds = 20

/** What an image of a type is called by what reads it. */
const formats: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "heif"
}

/** Nobody can read any image here, which no image is to blame for. */
class NotThere extends Error {}

/**
 * The library is read with the first image, as most processes see none. It works outside of JavaScript's thread; one
 * thread for each image and no memory of past ones keep it small.
 */
const loaded = async () => {
  const { default: sharp } = await import("sharp").catch((cause: unknown) => {
    throw new NotThere("The library for images cannot be read on this machine.", { cause })
  })
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}

const unreadable = () => new ImageRefused({ message: "is an image that cannot be read" })

/** Failures of the disk are not the image's. */
const failureOf = (cause: unknown): ImageRefused | StorageFailed =>
  cause instanceof NotThere || (typeof cause === "object" && cause !== null && "syscall" in cause)
    ? new StorageFailed({ cause })
    : cause instanceof ImageRefused
    ? cause
    : cause instanceof Error && /pixel limit/.test(cause.message)
    ? new ImageRefused({ message: "has more pixels than are allowed" })
    : unreadable()

/** Images by sharp. What is damaged is refused rather than guessed at. */
export const sharpImages = (folder: string, { maxPixels }: MediaSettingsValues): Layer.Layer<MediaImages> => {
  const options: SharpOptions = { limitInputPixels: maxPixels, failOn: "error", sequentialRead: true }

  const withImage = <A>(path: string, use: (image: Sharp) => Promise<A>) =>
    Effect.tryPromise({ try: async () => use((await loaded())(path, options)), catch: failureOf })

  const measure = Effect.fn("MediaImages.measure")((path: string, contentType: string) =>
    withImage(path, async (image) => {
      const { autoOrient: { height, width }, format, pages = 1 } = await image.metadata()
      if (format !== formats[contentType]) throw unreadable()
      // The head says how large it unpacks to, every frame of it: a bomb is refused before a pixel is.
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
