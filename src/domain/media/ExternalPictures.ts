import { Context, Data, Effect, Layer, Metric, Schema, type Scope, type Stream } from "effect"
import { CurrentActor, holds, requireAnyOf } from "../platform/access/Actor.ts"
import { ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import type { EntityId } from "../platform/ids/Id.ts"
import { Jobs } from "../platform/jobs/Jobs.ts"
import { defineTask, GiveUp } from "../platform/tasks/Task.ts"
import { Uploads } from "./Media.ts"
import { MediaSettings } from "./MediaAsset.ts"
import { type ExternalPicture, ExternalPictureRepo } from "./MediaFileRepo.ts"
import { MediaStorage, TemporaryFiles } from "./MediaFiles.ts"
import { MediaRepo } from "./MediaRepo.ts"

class NoPictureStorage
  extends invalid("NoPictureStorage", "pictures", "cannot be fetched: this deployment keeps no files.")
{}

/** Never retried; `message` follows the picture's address. */
export class PictureRefused extends Data.TaggedError("PictureRefused")<{ readonly message: string }> {}

export class PictureDelayed extends Data.TaggedError("PictureDelayed")<{ readonly message: string }> {}

/** Requests pictures from the hosts that files of other shops name, behind the guard of webhook targets. */
export class PictureHosts extends Context.Service<PictureHosts, {
  readonly fetch: (
    url: string,
    limit: number
  ) => Effect.Effect<Stream.Stream<Uint8Array, PictureDelayed>, PictureRefused | PictureDelayed, Scope.Scope>
}>()("stoa/domain/media/PictureHosts") {}

const fetchPictureSlug = "media/fetch-picture"

export const ShownPicture = Schema.Struct({ src: Schema.String, alt: Schema.optional(Schema.String) })
export type ShownPicture = typeof ShownPicture.Type

export interface PicturesOfEntity {
  readonly entityId: EntityId
  readonly pictures: ReadonlyArray<ShownPicture>
}

const maxAltLength = 1_000

/** An address listed twice is one picture, at its first position. */
const named = ({ entityId, pictures }: PicturesOfEntity) => {
  const first = new Map(pictures.map(({ src }, index) => [src, index] as const).toReversed())
  return pictures.flatMap(({ alt, src }, position) =>
    first.get(src) === position
      ? [{ entityId, url: src, position, alt: alt?.slice(0, maxAltLength).toWellFormed() ?? null }]
      : []
  )
}

const fetches = Metric.counter("stoa_picture_fetches_total", {
  description: "Tries to fetch pictures that files of other shops name: attached, refused for good, or delayed",
  incremental: true
})

const countFetch = (outcome: "attached" | "refused" | "delayed") =>
  Metric.update(Metric.withAttributes(fetches, { outcome }), 1)

const timeLimit = "60 seconds"

/** Pictures hosted by another shop (docs/import-export.md). */
export class ExternalPictures extends Context.Service<ExternalPictures>()("stoa/domain/media/ExternalPictures", {
  make: Effect.gen(function*() {
    return { ...(yield* makeExpected), fetch: yield* makeFetch }
  })
}) {
  static readonly layer = Layer.effect(ExternalPictures, ExternalPictures.make)
}

const makeExpected = Effect.gen(function*() {
  const [repo, jobs, { isConfigured }] = [yield* ExternalPictureRepo, yield* Jobs, yield* MediaStorage]

  const admit = Effect.fn("ExternalPictures.admit")(function*(asked: boolean | undefined) {
    const actor = yield* CurrentActor
    if (asked === undefined) return isConfigured && holds(actor, "media:write")
    if (!asked) return false
    yield* requireAnyOf(actor, ["media:write"])
    return isConfigured || (yield* new NoPictureStorage())
  })

  /** Call it inside the transaction that writes the entities. */
  const expect = Effect.fn("ExternalPictures.expect")(function*(entities: ReadonlyArray<PicturesOfEntity>) {
    const { organizationId } = yield* CurrentActor
    const ids = yield* repo.expect(entities.flatMap(named))
    if (ids.length === 0) return
    yield* Effect.catch(
      jobs.enqueueAll(ids.map((pictureId) => ({
        task: fetchPictureSlug,
        input: { pictureId },
        options: { organizationId }
      }))),
      Effect.die
    )
  })

  return { admit, expect }
})

const nameOf = (url: string): string => {
  const last = new URL(url).pathname.split("/").at(-1) ?? ""
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

export const pictureArrivals =
  (hosts: PictureHosts["Service"], temporary: TemporaryFiles["Service"], limit: number) => (url: string) =>
    Effect.flatMap(hosts.fetch(url, limit), (bytes) => temporary.receive(bytes, limit)).pipe(
      Effect.timeoutOrElse({
        duration: timeLimit,
        orElse: () => Effect.fail(new PictureDelayed({ message: `It did not come within ${timeLimit}.` }))
      }),
      Effect.catchTags({
        FileTooLarge: () => Effect.fail(new PictureRefused({ message: `It is larger than ${limit} bytes.` })),
        StorageFailed: ({ message }) => Effect.fail(new PictureDelayed({ message: `It could not be kept: ${message}` }))
      })
    )

const makeFetch = Effect.gen(function*() {
  const [repo, media] = [yield* ExternalPictureRepo, yield* MediaRepo]
  const [hosts, temporary, uploads] = [yield* PictureHosts, yield* TemporaryFiles, yield* Uploads]
  const { maxUploadSize } = yield* MediaSettings

  const received = pictureArrivals(hosts, temporary, maxUploadSize)

  /**
   * Applies the rules of an upload, restricted to images. Ignores the host's content type, because many hosts guess it.
   */
  const stored = Effect.fnUntraced(
    function*({ alt, url }: ExternalPicture) {
      const file = yield* received(url)
      if (file.contentType?.startsWith("image/") !== true) {
        return yield* new PictureRefused({ message: "It is not a picture." })
      }
      return yield* uploads.put({ file, filename: nameOf(url), declared: "", alt, isPublic: false, origin: "imported" })
    },
    Effect.catchIf(
      Schema.is(ValidationFailed),
      ({ error }) =>
        Effect.fail(new PictureRefused({ message: error.details.issues.map(({ message }) => message).join(" ") }))
    ),
    Effect.catchTag(
      "Unavailable",
      ({ error }) => Effect.fail(new PictureDelayed({ message: `It could not be kept: ${error.message}` }))
    )
  )

  const fetched = Effect.fnUntraced(function*(picture: ExternalPicture) {
    const asset = yield* stored(picture)
    const end = yield* repo.attach(picture.id, ({ entityId, hasPrimary, position }) =>
      Effect.gen(function*() {
        const made = yield* media.create(asset)
        if (made === undefined) return undefined
        const role = position === 0 && !hasPrimary ? "primary" : "gallery"
        yield* media.attach({ entityId, mediaAssetId: made.id, role, sortOrder: position })
        return made.id
      }))
    return end ?? (yield* new PictureDelayed({ message: "It took too long." }))
  }, Effect.scoped)

  const noted = (picture: ExternalPicture, isLastTry: boolean, { _tag, message }: PictureRefused | PictureDelayed) =>
    Effect.gen(function*() {
      const reason = `The picture ${picture.url} of '${picture.slug}' was not fetched. ${message}`
      if (_tag === "PictureDelayed" && !isLastTry) {
        yield* countFetch("delayed")
        return yield* new PictureDelayed({ message: reason })
      }
      yield* countFetch("refused")
      yield* repo.refuse(picture.id, reason)
      // Addresses can contain credentials, so the log omits them; the job's record has the full address.
      yield* Effect.logWarning(`picture ${picture.position + 1} of '${picture.slug}' was not fetched: ${message}`)
      return yield* new PictureRefused({ message: reason })
    })

  /**
   * One try; `gone`: the picture is no longer expected, `there`: it was attached before. Two workers at once attach a
   * picture once. Stores a refusal, and a delay at the last try.
   */
  return Effect.fn("ExternalPictures.fetch")(function*(id: string, isLastTry: boolean) {
    const picture = yield* repo.find(id)
    if (picture === undefined) return "gone" as const
    if (picture.isAttached) return "there" as const
    const end = yield* Effect.catch(fetched(picture), (error) => noted(picture, isLastTry, error))
    if (end === "attached") yield* countFetch("attached")
    return end === "attached" ? end : "there" as const
  })
})

const inputOf = Schema.decodeUnknownEffect(Schema.Struct({ pictureId: Schema.String }))

/** Concurrent fetches per organization, to protect the other shop's server. */
const lanes = 4

const laneOf = (pictureId: unknown): number => {
  const last = Number.parseInt(String(pictureId).slice(-1), 16)
  return Number.isNaN(last) ? 0 : last % lanes
}

/**
 * One try per run, with waits of 10 seconds up to an hour, two hours in total. A separate queue keeps pictures from
 * delaying other jobs.
 */
export const fetchPicture = Effect.map(
  ExternalPictures,
  (pictures) =>
    defineTask({
      slug: fetchPictureSlug,
      queue: "pictures",
      retries: {
        attempts: 8,
        backoff: { type: "exponential", delay: 10_000, factor: 3, ceiling: 3_600_000, jitter: 0.2 }
      },
      timeLimitMs: 180_000,
      concurrency: { key: ({ pictureId }) => `pictures:${laneOf(pictureId)}` },
      handler: Effect.fn("media/fetch-picture")(function*({ input, job }) {
        const { pictureId } = yield* Effect.mapError(inputOf(input), () => new GiveUp("It names no picture."))
        const state = yield* pictures.fetch(pictureId, job.attemptNumber >= job.maxAttempts).pipe(
          Effect.catchTag("PictureRefused", ({ message }) => Effect.fail(new GiveUp(message)))
        )
        return { output: { state } }
      })
    })
)
