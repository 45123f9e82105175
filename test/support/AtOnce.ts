import { Deferred, Effect, Fiber } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** Waits until so many statements of this database wait for a lock. */
export const waiting = (count: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const look = sql<{ waiting: number }>`select count(*)::int4 as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    yield* Effect.repeat(look, { until: (rows) => (rows[0]?.waiting ?? 0) >= count })
  })

/** Runs all of them at the same moment: each waits for the row that `lock` holds, in this order, until every one does. */
export const atOnce = Effect.fnUntraced(
  function*<A, E, R>(
    lock: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>,
    all: ReadonlyArray<Effect.Effect<A, E, R>>
  ) {
    const sql = yield* SqlClient.SqlClient
    const locked = yield* Deferred.make<void>()
    const free = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      sql.withTransaction(
        lock(sql).pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(free))
        )
      )
    )
    yield* Deferred.await(locked)
    const fibers = yield* Effect.forEach(
      all,
      (one, index) => Effect.tap(Effect.forkChild(one), () => waiting(index + 1))
    )
    yield* Deferred.succeed(free, undefined)
    yield* Fiber.join(holder)
    return yield* Effect.forEach(fibers, Fiber.join)
  }
)
