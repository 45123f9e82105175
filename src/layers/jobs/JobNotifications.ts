import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue } from "effect"
import { Reactivity } from "effect/reactivity"
import { JobNotifier } from "../../domain/jobs/JobNotifier.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { connectingTo } from "../config/DatabaseTls.ts"
import { Database, keepAlive } from "../Database.ts"

/** Whoever listens anew may have missed something. */
const again = "1 second"

/**
 * Hears of jobs that other processes enqueue, on a connection of its own, and wakes the workers of this one. Without it,
 * or while its connection is away, workers find jobs at their next look.
 */
export const jobNotificationsLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    if (!(yield* JobSettings).autorun) return
    const jobNotifier = yield* JobNotifier
    const { url } = yield* Database
    const listen = Effect.gen(function*() {
      const client = yield* PgClient.make({
        ...connectingTo(url),
        keepAlive,
        maxConnections: 1,
        applicationName: "stoa-jobs"
      })
      const heard = yield* client.listen("stoa_jobs")
      yield* jobNotifier.wake()
      return yield* Effect.forever(Effect.flatMap(Queue.take(heard), ({ payload }) => jobNotifier.wake(payload)))
    }).pipe(Effect.scoped)
    yield* listen.pipe(
      Effect.catchCause((cause) => Effect.logWarning("the queue's notifications are away", cause)),
      Effect.andThen(Effect.sleep(again)),
      Effect.forever,
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(Reactivity.layer))
