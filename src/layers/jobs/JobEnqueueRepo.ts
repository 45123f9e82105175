import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"

/** A job as it is written: everything decided. */
export interface NewJobRow {
  readonly id: string
  readonly organizationId: string
  readonly queue: string
  readonly taskSlug: string
  /** JSON text. */
  readonly input: string
  readonly maxAttempts: number
  /** Milliseconds until it may run; 0: at once. */
  readonly delayMs: number
  /** Empty: none. */
  readonly concurrencyKey: string
  readonly exclusive: boolean
}

/** Whose pending jobs a new one replaces. */
type Superseded = Pick<NewJobRow, "organizationId" | "taskSlug" | "concurrencyKey">

/** Writes jobs; joins the caller's transaction. A delay starts at the process's clock. */
export class JobEnqueueRepo extends Context.Service<JobEnqueueRepo>()("stoa/layers/jobs/JobEnqueueRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const insertion = (rows: ReadonlyArray<NewJobRow>, at: Date) => {
      const of = <K extends keyof NewJobRow>(field: K) => rows.map((row) => row[field])
      return sql`with made as (
          insert into commerce_jobs (id, organization_id, queue, task_slug, input, max_attempts, wait_until,
            concurrency_key, exclusive)
          select id, organization, queue, task, input::jsonb, tries,
            case when delay > 0 then ${at}::timestamptz + delay * interval '1 ms' end, nullif(key, ''), exclusive
          from unnest(${of("id")}::uuid[], ${of("organizationId")}::text[], ${of("queue")}::text[],
            ${of("taskSlug")}::text[], ${of("input")}::text[], ${of("maxAttempts")}::int4[], ${of("delayMs")}::int8[],
            ${of("concurrencyKey")}::text[], ${of("exclusive")}::bool[])
            n(id, organization, queue, task, input, tries, delay, key, exclusive)
          returning queue)
        select pg_notify('stoa_jobs', queue) from (select distinct queue from made) notified`
    }

    /** All of them in one statement, which also wakes the workers of their queues once it is committed. */
    const insert = Effect.fn("JobEnqueueRepo.insert")(
      (rows: ReadonlyArray<NewJobRow>) =>
        rows.length === 0
          ? Effect.void
          : Effect.flatMap(DateTime.nowAsDate, (at) => Effect.asVoid(insertion(rows, at))),
      Effect.orDie
    )

    /**
     * Deletes pending jobs of the same keys, including those waiting for another try, and inserts these, in one
     * transaction; concurrent calls for the same key run in sequence. Returns the deleted ids.
     */
    const replace = Effect.fn("JobEnqueueRepo.replace")(
      function*(superseded: ReadonlyArray<Superseded>, rows: ReadonlyArray<NewJobRow>) {
        const of = (field: keyof Superseded) => superseded.map((one) => one[field])
        const pairs = sql`unnest(${of("organizationId")}::text[], ${of("taskSlug")}::text[],
          ${of("concurrencyKey")}::text[]) s(organization, task, key)`
        // Lock in a separate statement, so that the next one sees what the previous holder wrote; in a fixed order, so
        // that two batches never deadlock.
        yield* sql`select pg_advisory_xact_lock(lock) from (select distinct
            hashtextextended(organization || '/' || task || '/' || key, 7) as lock from ${pairs} order by 1) locks`
        const gone = yield* sql<{ readonly id: string }>`delete from commerce_jobs j using ${pairs}
          where j.organization_id = s.organization and j.concurrency_key = s.key and j.task_slug = s.task
            and j.status = 'pending' returning j.id`
        yield* insertion(rows, yield* DateTime.nowAsDate)
        return gone.map(({ id }) => id)
      },
      sql.withTransaction,
      Effect.orDie
    )
    return { insert, replace }
  })
}) {}

export const jobEnqueueRepoLayer = Layer.effect(JobEnqueueRepo, JobEnqueueRepo.make)

/** The last tick of each schedule that was turned into a job. */
export class SchedulerTickRepo extends Context.Service<SchedulerTickRepo>()("stoa/layers/jobs/SchedulerTickRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    /** The last tick of each of these tasks. */
    const last = Effect.fn("SchedulerTickRepo.last")(function*(tasks: ReadonlyArray<string>) {
      const rows = yield* sql<{ readonly task: string; readonly tick: Date }>`select task_slug as task, tick
        from scheduler_ticks where task_slug = any(${tasks}::text[])`
      return new Map(rows.map(({ task, tick }) => [task, tick]))
    }, Effect.orDie)

    /**
     * Does the work of a tick in one transaction with the mark that it was done. Undefined, and no work, when this tick
     * or a later one was done before.
     */
    const once = <A, E>(task: string, tick: Date, work: Effect.Effect<A, E>) =>
      Effect.gen(function*() {
        const mine = yield* sql`insert into scheduler_ticks (task_slug, tick) values (${task}, ${tick}::timestamptz)
          on conflict (task_slug) do update set tick = excluded.tick where scheduler_ticks.tick < excluded.tick returning 1`
        return mine.length === 0 ? undefined : yield* work
      }).pipe(
        sql.withTransaction,
        Effect.catchIf(SqlError.isSqlError, Effect.die),
        Effect.withSpan("SchedulerTickRepo.once")
      )

    return { last, once }
  })
}) {}

/** `SchedulerTickRepo` over the database of the process. */
export const schedulerTickRepoLayer = Layer.effect(SchedulerTickRepo, SchedulerTickRepo.make)
