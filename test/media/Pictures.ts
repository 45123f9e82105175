import { Effect } from "effect"
import sharp from "sharp"

/** How a picture is kept. */
export type Format = "png" | "jpeg" | "gif" | "webp" | "avif"

/** A picture of one colour; another colour has another hash. */
export const aPicture = (format: Format = "png", width = 40, height = 30, red = 200) =>
  Effect.promise(async () =>
    new Uint8Array(
      await sharp({ create: { width, height, channels: 3, background: { r: red, g: 10, b: 90 } } })
        .toFormat(format).toBuffer()
    )
  )

/** A photograph as a telephone keeps it: lying on its side, with a note of how it is meant. */
export const aSidewaysPhoto = Effect.promise(async () =>
  new Uint8Array(
    await sharp({ create: { width: 60, height: 20, channels: 3, background: "#402010" } })
      .withMetadata({ orientation: 6 }).jpeg().toBuffer()
  )
)

/** A picture that moves: this many frames of 40 by 40. */
export const aMovingPicture = (frames: number) =>
  Effect.promise(async () => {
    const pixels = Buffer.from(Array.from({ length: 40 * 40 * 3 * frames }, (_, at) => (at * 7_919) % 251))
    const raw = { width: 40, height: 40 * frames, channels: 3, pageHeight: 40 } as const
    return new Uint8Array(await sharp(pixels, { raw }).gif().toBuffer())
  })

const textBytes = (text: string) => new TextEncoder().encode(text)

export const aPdf = textBytes("%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n")
export const aDrawing = textBytes(
  "<?xml version=\"1.0\"?>\n<!-- a dot -->\n<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"
)
export const aPage = textBytes("<!doctype html><script>alert(1)</script>")
/** The first boxes of an MP4 file. */
export const aVideo = textBytes(
  "\u0000\u0000\u0000\u0018ftypisom\u0000\u0000\u0002\u0000isomiso2\u0000\u0000\u0000\u0008mdat"
)
