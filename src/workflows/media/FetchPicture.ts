import { Effect, Schema } from "effect"
import { defineTask, GiveUp, type Task } from "../../domain/jobs/Task.ts"
import { ExternalPictures, fetchPictureSlug } from "../../domain/media/ExternalPictures.ts"

const inputOf = Schema.decodeUnknownEffect(Schema.Struct({ pictureId: Schema.String }))

/** Concurrent fetches per organization, limited to protect the other shop's server. */
const lanes = 4

/** A picture always maps to the same lane, so that no two workers fetch it at once. */
const laneOf = (pictureId: unknown): number => {
  const last = Number.parseInt(String(pictureId).slice(-1), 16)
  return Number.isNaN(last) ? 0 : last % lanes
}

/**
 * The task `media/fetch-picture`: one try per run, with waits of 10 seconds up to an hour, two hours in total. A
 * separate queue keeps thousands of pictures from delaying other jobs. A picture that is refused for good fails at
 * once; it is listed with its reason among the failed jobs and can be retried there.
 */
export const fetchPicture: Effect.Effect<Task, never, ExternalPictures> = Effect.map(
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
