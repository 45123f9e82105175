import { Context, Effect, Layer, Metric } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { type ForeignPicture, ForeignPictureRepo } from "./ForeignPictureRepo.ts"
import { MediaLinkRepo } from "./MediaLinkRepo.ts"
import { MediaRepo } from "./MediaRepo.ts"
import { MediaSettings } from "./MediaSettings.ts"
import { PictureDelayed, PictureHosts, PictureRefused } from "./PictureHosts.ts"
import { TemporaryFiles } from "./TemporaryFiles.ts"
import { Uploads } from "./Uploads.ts"

const fetches = Metric.counter("stoa_picture_fetches_total", {
  description: "Tries to fetch pictures that files of other shops name: attached, refused for good, or delayed",
  incremental: true
})

/** Counts a try. */
const countFetch = (outcome: "attached" | "refused" | "delayed") =>
  Metric.update(Metric.withAttributes(fetches, { outcome }), 1)

/** Time limit for a picture, from the look-up of its host to the last byte. */
const timeLimit = "60 seconds"

/** The result of a fetch; `gone`: the picture is no longer expected, `there`: it was attached before. */
export type Fetched = "attached" | "there" | "gone"

/** Fetches pictures hosted by another shop and attaches them to their entities. */
export class PictureFetches extends Context.Service<PictureFetches, {
  /**
   * One try. It can run twice and in two workers at once: a picture is attached once. A refusal is stored, and so is a
   * delay at the last try.
   */
  readonly run: (
    id: string,
    isLastTry: boolean
  ) => Effect.Effect<Fetched, PictureRefused | PictureDelayed, CurrentActor>
}>()("stoa/domain/media/PictureFetches") {
  static readonly layer = Layer.effect(PictureFetches, Effect.suspend(() => makeFetches))
}

const nameOf = (url: string): string => {
  const last = new URL(url).pathname.split("/").at(-1) ?? ""
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

/** Downloads a picture of at most `limit` bytes to a temporary file that exists while the scope is open. */
export const pictureArrivals =
  (hosts: PictureHosts["Service"], temporary: TemporaryFiles["Service"], limit: number) => (url: string) =>
    Effect.flatMap(hosts.fetch(url, limit), (bytes) => temporary.receive(bytes, limit)).pipe(
      Effect.timeoutOrElse({
        duration: timeLimit,
        orElse: () => Effect.fail(new PictureDelayed({ message: `did not come within ${timeLimit}` }))
      }),
      Effect.catchTags({
        FileTooLarge: () => Effect.fail(new PictureRefused({ message: `is larger than ${limit} bytes` })),
        StorageFailed: ({ message }) => Effect.fail(new PictureDelayed({ message: `could not be kept: ${message}` }))
      })
    )

const makeFetches = Effect.gen(function*() {
  const [repo, assets, links] = [yield* ForeignPictureRepo, yield* MediaRepo, yield* MediaLinkRepo]
  const [hosts, temporary, uploads] = [yield* PictureHosts, yield* TemporaryFiles, yield* Uploads]
  const { maxUploadSize } = yield* MediaSettings

  const received = pictureArrivals(hosts, temporary, maxUploadSize)

  /**
   * Applies the rules of an upload, restricted to images. The host's content type is ignored, because many hosts guess
   * it.
   */
  const stored = Effect.fnUntraced(
    function*({ alt, url }: ForeignPicture) {
      const file = yield* received(url)
      if (file.contentType?.startsWith("image/") !== true) {
        return yield* new PictureRefused({ message: "is not a picture" })
      }
      return yield* uploads.put({ file, filename: nameOf(url), declared: "", alt, isPublic: false, origin: "imported" })
    },
    Effect.catchTags({
      ValidationFailed: ({ error }) =>
        Effect.fail(new PictureRefused({ message: error.details.issues.map(({ message }) => message).join("; ") })),
      Unavailable: ({ error }) => Effect.fail(new PictureDelayed({ message: `could not be kept: ${error.message}` }))
    })
  )

  const fetched = Effect.fnUntraced(function*(picture: ForeignPicture) {
    const asset = yield* stored(picture)
    const end = yield* repo.attach(picture.id, ({ entityId, hasPrimary, position }) =>
      Effect.gen(function*() {
        const made = yield* assets.create(asset)
        if (made === undefined) return undefined
        const role = position === 0 && !hasPrimary ? "primary" : "gallery"
        yield* links.attach({ entityId, mediaAssetId: made.id, role, sortOrder: position })
        return made.id
      }))
    return end ?? (yield* new PictureDelayed({ message: "took too long" }))
  }, Effect.scoped)

  const noted = (picture: ForeignPicture, isLastTry: boolean, { _tag, message }: PictureRefused | PictureDelayed) =>
    Effect.gen(function*() {
      const reason = `The picture ${picture.url} of '${picture.slug}' ${message}.`
      if (_tag === "PictureDelayed" && !isLastTry) {
        yield* countFetch("delayed")
        return yield* new PictureDelayed({ message: reason })
      }
      yield* countFetch("refused")
      yield* repo.refuse(picture.id, reason)
      // Addresses can contain credentials, so the log omits them; the job's record has the full address.
      yield* Effect.logWarning(`picture ${picture.position + 1} of '${picture.slug}' was not fetched: it ${message}`)
      return yield* new PictureRefused({ message: reason })
    })

  const run = Effect.fn("PictureFetches.run")(function*(id: string, isLastTry: boolean) {
    const picture = yield* repo.find(id)
    if (picture === undefined) return "gone" as const
    if (picture.isAttached) return "there" as const
    const end = yield* Effect.catch(fetched(picture), (error) => noted(picture, isLastTry, error))
    if (end === "attached") yield* countFetch("attached")
    return end === "attached" ? end : "there" as const
  })

  return { run }
})
