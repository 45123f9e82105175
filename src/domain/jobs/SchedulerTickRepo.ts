import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** The last tick of each schedule that was turned into a job. */
export class SchedulerTickRepo extends Context.Service<SchedulerTickRepo, {
  /** The last tick of each of these tasks. */
  readonly last: (tasks: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, Date>>
  /**
   * Does the work of a tick in one transaction with the mark that it was done. Undefined, and no work, when this tick or
   * a later one was done before.
   */
  readonly once: <A, E>(task: string, tick: Date, work: Effect.Effect<A, E>) => Effect.Effect<A | undefined, E>
}>()("stoa/domain/jobs/SchedulerTickRepo") {}

/** `SchedulerTickRepo` over the database of the process. */
export const schedulerTickRepoLayer = Layer.effect(
  SchedulerTickRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const last = Effect.fn("SchedulerTickRepo.last")(function*(tasks: ReadonlyArray<string>) {
      const rows = yield* sql<
        { readonly task_slug: string; readonly tick: Date }
      >`select task_slug, tick from scheduler_ticks
        where task_slug = any(${tasks}::text[])`
      return new Map(rows.map((row) => [row.task_slug, row.tick]))
    }, Effect.orDie)

    const once = <A, E>(task: string, tick: Date, work: Effect.Effect<A, E>) =>
      Effect.gen(function*() {
        const mine = yield* sql`insert into scheduler_ticks (task_slug, tick) values (${task}, ${tick}::timestamptz)
          on conflict (task_slug) do update set tick = excluded.tick where scheduler_ticks.tick < excluded.tick returning 1`
        return mine.length === 0 ? undefined : yield* work
      }).pipe(
        sql.withTransaction,
        Effect.catchTag("SqlError", (error) => Effect.die(error)),
        Effect.withSpan("SchedulerTickRepo.once")
      ) as Effect.Effect<A | undefined, E>

    return SchedulerTickRepo.of({ last, once })
  })
)
