import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import type { Settlement } from "../../domain/platform/jobs/Job.ts"
import { storedJobs } from "../../domain/platform/jobs/JobTable.ts"
import { decoding } from "../../domain/platform/records/Rows.ts"
import type { EngineJob } from "../../domain/platform/tasks/JobSettings.ts"

export type NewJobRow = Omit<EngineJob, "supersedes"> & { readonly id: string }

type Superseded = Pick<NewJobRow, "organizationId" | "task" | "concurrencyKey">

const died = "The process that ran it ended before it did."

// A lease token implies processing (a table constraint), so statements filter by the token alone: `status =
// 'processing'` would offer the planner the index of leases, which keeps all jobs since the last vacuum.
const clear = "slot = null, lease_token = null, lease_until = null, updated_at = now()"

/**
 * Writes jobs and settles their tries; an enqueue joins the caller's transaction. The process's clock decides when a
 * job can run, so tests control delays; leases use the database's clock.
 */
export class JobQueueRepo extends Context.Service<JobQueueRepo>()("stoa/layers/jobs/JobQueueRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...enqueuing(sql), ...settling(sql), ...reclaiming(sql) }))
}) {
  static readonly layer = Layer.effect(JobQueueRepo, JobQueueRepo.make)
}

const enqueuing = (sql: SqlClient.SqlClient) => {
  const insertion = (rows: ReadonlyArray<NewJobRow>, at: Date) => {
    const of = <A>(value: (row: NewJobRow) => A) => rows.map(value)
    return sql`with made as (
        insert into commerce_jobs ${
      storedJobs.insert(sql, {
        id: "id",
        organizationId: "organization",
        queue: "queue",
        taskSlug: "task",
        input: "input::jsonb",
        maxAttempts: "tries",
        waitUntil: sql`case when delay > 0 then ${at}::timestamptz + delay * interval '1 ms' end`,
        concurrencyKey: "nullif(key, '')",
        exclusive: "exclusive"
      })
    } from unnest(${of(({ id }) => id)}::uuid[], ${of(({ organizationId }) => organizationId)}::text[],
          ${of(({ queue }) => queue)}::text[], ${of(({ task }) => task)}::text[],
          ${of(({ input }) => JSON.stringify(input))}::text[], ${of(({ maxAttempts }) => maxAttempts)}::int4[],
          ${of(({ delayMs }) => delayMs)}::int8[], ${of(({ concurrencyKey }) => concurrencyKey ?? "")}::text[],
          ${of(({ exclusive }) => exclusive)}::bool[])
          n(id, organization, queue, task, input, tries, delay, key, exclusive)
        on conflict (id) do nothing returning queue)
      select pg_notify('stoa_jobs', queue) from (select distinct queue from made) notified`
  }

  return {
    insert: Effect.fn("JobQueueRepo.insert")(
      (rows: ReadonlyArray<NewJobRow>) =>
        Effect.flatMap(DateTime.nowAsDate, (at) => Effect.asVoid(insertion(rows, at))),
      Effect.orDie
    ),
    /** Replaces pending jobs of the same keys; calls for one key run in sequence. Returns the deleted ids. */
    replace: Effect.fn("JobQueueRepo.replace")(
      function*(superseded: ReadonlyArray<Superseded>, rows: ReadonlyArray<NewJobRow>) {
        const pairs = sql`unnest(${superseded.map(({ organizationId }) => organizationId)}::text[],
          ${superseded.map(({ task }) => task)}::text[],
          ${superseded.map(({ concurrencyKey }) => concurrencyKey ?? "")}::text[]) s(organization, task, key)`
        // A separate statement, so that the next sees the previous holder's writes; a fixed order, against deadlocks.
        yield* sql`select pg_advisory_xact_lock(lock) from (select distinct
            hashtextextended(organization || '/' || task || '/' || key, 7) as lock from ${pairs} order by 1) locks`
        const gone = yield* sql`delete from commerce_jobs j using ${pairs}
          where j.organization_id = s.organization and j.concurrency_key = s.key and j.task_slug = s.task
            and j.status = 'pending' returning j.id`
        yield* insertion(rows, yield* DateTime.nowAsDate)
        return gone.map(({ id }) => String(id))
      },
      sql.withTransaction,
      Effect.orDie
    )
  }
}

/**
 * CTEs after `done(exclusive, organization_id, concurrency_key, id)`: delete the keys and make the oldest job of each
 * due now, where claims that start later look. The sort writes all jobs before it deletes the first key: a claim that
 * waits for a key may hold the row of a job that ran meanwhile, and row by row would be a deadlock.
 */
const freeing = (sql: SqlClient.SqlClient, at: Date): Statement.Fragment =>
  sql`written as materialized (select * from done where exclusive order by organization_id, concurrency_key),
    freed as (delete from job_keys k using written d where k.organization_id = d.organization_id
      and k.concurrency_key = d.concurrency_key and k.job_id = d.id returning k.organization_id, k.concurrency_key),
    following as materialized (select n.id from freed f cross join lateral (select id from commerce_jobs j
      where j.organization_id = f.organization_id and j.concurrency_key = f.concurrency_key and j.status = 'pending'
        and j.blocked order by created_at, id limit 1 for update skip locked) n),
    unparked as (update commerce_jobs j set blocked = false, wait_until = ${at}::timestamptz from following
      where j.id = following.id returning j.queue)`

const settling = (sql: SqlClient.SqlClient) => ({
  /** Writes results of jobs that the token still holds, and returns their ids; the others lost their lease. */
  settle: Effect.fn("JobQueueRepo.settle")(
    function*(queue: string, token: string, all: ReadonlyArray<Settlement>) {
      const at = yield* DateTime.nowAsDate
      const of = <A>(value: (settlement: Settlement) => A) => all.map(value)
      const rows = yield* sql`with t as (select * from unnest(${of(({ id }) => id)}::uuid[],
          ${of(({ status }) => status)}::text[], ${of(({ output }) => output ?? "")}::text[],
          ${of(({ error }) => error ?? "")}::text[], ${of(({ delayMs }) => delayMs)}::int8[],
          ${of(({ counted }) => counted)}::bool[]) t(id, status, output, error, delay, counted)),
        done as (update commerce_jobs j set status = t.status, output = nullif(t.output, '')::jsonb,
            error = nullif(t.error, ''), attempts = j.attempts - case when t.counted then 0 else 1 end,
            wait_until = case when t.status = 'pending' then ${at}::timestamptz + t.delay * interval '1 ms'
              else j.wait_until end,
            completed_at = case when t.status <> 'pending' then now() end,
            processing_started_at = case when t.status <> 'pending' then j.processing_started_at end,
            ${sql.literal(clear)}
          from t where j.id = t.id and j.lease_token = ${token}::uuid
          returning j.id, j.exclusive, j.organization_id, j.concurrency_key),
        ${freeing(sql, at)},
        notified as (select count(pg_notify('stoa_jobs', queue)) from (select distinct queue from unparked) u
          where queue <> ${queue})
        select done.id from done left join notified on true`
      return rows.map(({ id }) => String(id))
    },
    Effect.orDie
  ),
  extend: Effect.fn("JobQueueRepo.extend")(
    function*(token: string, ids: ReadonlyArray<string>, leaseMs: number) {
      const rows = yield* sql`update commerce_jobs
        set lease_until = now() + ${leaseMs}::float8 * interval '1 ms'
        where id = any(${ids}::uuid[]) and lease_token = ${token}::uuid returning id`
      return rows.map(({ id }) => String(id))
    },
    Effect.orDie
  )
})

const reclaiming = (sql: SqlClient.SqlClient) => {
  const reclaimed = decoding(sql, Schema.Struct({ pending: Schema.Int, failed: Schema.Int }))

  const reclaim = Effect.fnUntraced(function*(which: Statement.Fragment) {
    const at = yield* DateTime.nowAsDate
    const [row] = yield* reclaimed`with dead as (select id from commerce_jobs
        where status = 'processing' and ${which} limit 1000 for update skip locked),
      done as (update commerce_jobs j set
          status = case when j.attempts < j.max_attempts then 'pending' else 'failed' end, error = ${died},
          wait_until = case when j.attempts < j.max_attempts then ${at}::timestamptz else j.wait_until end,
          completed_at = case when j.attempts >= j.max_attempts then now() end,
          processing_started_at = case when j.attempts >= j.max_attempts then j.processing_started_at end,
          ${sql.literal(clear)}
        where j.id = any(array(select id from dead))
        returning j.id, j.exclusive, j.organization_id, j.concurrency_key, j.queue, j.status),
      ${freeing(sql, at)},
      notified as (select count(pg_notify('stoa_jobs', queue)) from
        (select queue from unparked union select queue from done where status = 'pending') u)
      select count(*) filter (where done.status = 'pending')::int4 as pending,
        count(*) filter (where done.status = 'failed')::int4 as failed from done left join notified on true`
    return row ?? { pending: 0, failed: 0 }
  }, Effect.orDie)

  return {
    /**
     * Reclaims at most 1,000 jobs with expired leases. The try counts: a job that kills its worker fails in the end.
     */
    reap: Effect.withSpan(reclaim(sql`lease_until < now()`), "JobQueueRepo.reap"),
    reclaimSlot: Effect.fn("JobQueueRepo.reclaimSlot")((slot: string, token: string) =>
      reclaim(sql`slot = ${slot} and lease_token <> ${token}::uuid`)
    ),
    /**
     * Unblocks the oldest job of each free key: a worker may have set it aside as the key became free. One index entry
     * per key. Returns the count.
     */
    unpark: Effect.gen(function*() {
      const at = yield* DateTime.nowAsDate
      const unparked = yield* sql`with recursive keys(o, k) as (
          (select organization_id, concurrency_key from commerce_jobs where status = 'pending' and blocked
            order by organization_id, concurrency_key limit 1)
          union all
          select n.organization_id, n.concurrency_key from keys cross join lateral (
            select organization_id, concurrency_key from commerce_jobs where status = 'pending' and blocked
              and (organization_id, concurrency_key) > (keys.o, keys.k)
            order by organization_id, concurrency_key limit 1) n),
        orphans as materialized (select n.id from keys cross join lateral (select id from commerce_jobs j
            where j.organization_id = keys.o and j.concurrency_key = keys.k and j.status = 'pending' and j.blocked
            order by created_at, id limit 1 for update skip locked) n
          where not exists (select 1 from job_keys t where t.organization_id = keys.o and t.concurrency_key = keys.k)),
        unparked as (update commerce_jobs j set blocked = false, wait_until = ${at}::timestamptz from orphans
          where j.id = orphans.id returning j.queue),
        notified as (select count(pg_notify('stoa_jobs', queue)) from (select distinct queue from unparked) u)
        select 1 from unparked left join notified on true`
      return unparked.length
    }).pipe(Effect.orDie, Effect.withSpan("JobQueueRepo.unpark"))
  }
}

export class SchedulerTickRepo extends Context.Service<SchedulerTickRepo>()("stoa/layers/jobs/SchedulerTickRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const ticks = decoding(sql, Schema.Struct({ task: Schema.String, tick: Schema.Date }))
    const ids = decoding(sql, Schema.Struct({ id: Schema.String }))

    const last = Effect.fn("SchedulerTickRepo.last")(function*(tasks: ReadonlyArray<string>) {
      const rows = yield* ticks`select task_slug as task, tick from scheduler_ticks
        where task_slug = any(${tasks}::text[])`
      return new Map(rows.map(({ task, tick }) => [task, tick]))
    }, Effect.orDie)

    /**
     * Marks a tick done and runs the work in one transaction. Undefined, without work, if it or a later one was done.
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

    const organizations = Effect.fn("SchedulerTickRepo.organizations")(
      function*(task: string, after: string, limit: number) {
        const rows = yield* ids`select id from organizations_read o where id > ${after} and not exists (
            select 1 from commerce_jobs j where j.organization_id = o.id and j.concurrency_key is not null
              and j.task_slug = ${task} and j.status = 'pending')
          order by id limit ${limit}`
        return rows.map(({ id }) => id)
      },
      Effect.orDie
    )

    return { last, once, organizations }
  })
}) {
  static readonly layer = Layer.effect(SchedulerTickRepo, SchedulerTickRepo.make)
}
