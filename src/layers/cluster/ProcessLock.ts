import { PgConnection } from "@effect/sql-pg"
import { Effect, Latch, Layer, Schedule } from "effect"
import { randomInt } from "node:crypto"
import { processLocks, ProcessNumber } from "../../domain/platform/database/ProcessNumber.ts"
import { connectingTo } from "../config/DatabaseTls.ts"
import { Database, keepAlive } from "../Database.ts"

const silence = "4 seconds"

const heartbeat = "1500 millis"

const largest = 2 ** 31 - 1

/** Others see by this lock that the process lives. A frozen process takes another number when it wakes. */
export const processLockLayer = Layer.effect(
  ProcessNumber,
  Effect.gen(function*() {
    const { url } = yield* Database
    const held = Latch.makeUnsafe(false)
    let number = 0

    const session = Effect.gen(function*() {
      const connected = yield* PgConnection.make({
        ...connectingTo(url),
        keepAlive,
        applicationName: "stoa-process",
        startupParameters: { idle_session_timeout: "4000" }
      })
      const connection = yield* connected.pin
      for (;;) {
        const candidate = randomInt(1, largest)
        const [row] = yield* connection.queryValues("select pg_try_advisory_lock($1, $2)", [processLocks, candidate])
        if (row?.[0] !== true) continue
        number = candidate
        break
      }
      yield* held.open
      yield* connection.queryValues("select 1 as process_lock", []).pipe(
        Effect.timeout(silence),
        Effect.repeat(Schedule.spaced(heartbeat))
      )
    }).pipe(Effect.scoped, Effect.ensuring(held.close), Effect.withTracerEnabled(false))

    yield* session.pipe(
      Effect.catchCause((cause) => Effect.logWarning("The lock of this process is lost and is taken again", cause)),
      Effect.repeat(Schedule.spaced("500 millis")),
      Effect.forkScoped
    )
    return { current: Effect.map(held.await, () => number) }
  })
)
