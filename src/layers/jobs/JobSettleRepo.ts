import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { Settlement } from "../../domain/jobs/Job.ts"

/** Jobs reclaimed from dead workers. */
interface Reclaimed {
  /** Jobs that may be tried again. */
  readonly pending: number
  /** Jobs that had no try left. */
  readonly failed: number
}

/** Error text of a job whose worker died. */
const died = "The process that ran it ended before it did."

// A lease token implies that its job is being processed (a table constraint), so statements with ids filter by the
// token alone: `status = 'processing'` would offer the planner the index of leases, which keeps an entry for every job
// done since the last vacuum.
const clear = "slot = null, lease_token = null, lease_until = null, updated_at = now()"

/**
 * CTEs that follow the end of tries, after `done(exclusive, organization_id, concurrency_key, id)`: delete the keys and
 * make the oldest job of each due now, where claims look that do not start at the oldest job.
 */
const freeing = (sql: SqlClient.SqlClient, at: Date): Statement.Fragment =>
  sql`freed as (delete from job_keys k using done d where d.exclusive and k.organization_id = d.organization_id
      and k.concurrency_key = d.concurrency_key and k.job_id = d.id returning k.organization_id, k.concurrency_key),
    following as materialized (select n.id from freed f cross join lateral (select id from commerce_jobs j
      where j.organization_id = f.organization_id and j.concurrency_key = f.concurrency_key and j.status = 'pending'
        and j.blocked order by created_at, id limit 1 for update skip locked) n),
    unparked as (update commerce_jobs j set blocked = false, wait_until = ${at}::timestamptz from following
      where j.id = following.id returning j.queue)`

const settleStatement = (
  sql: SqlClient.SqlClient,
  queue: string,
  token: string,
  all: ReadonlyArray<Settlement>,
  at: Date
) =>
  sql<{ readonly id: string }>`with t as (select * from unnest(${all.map(({ id }) => id)}::uuid[],
      ${all.map(({ status }) => status)}::text[], ${all.map(({ output }) => output ?? "")}::text[],
      ${all.map(({ error }) => error ?? "")}::text[], ${all.map(({ delayMs }) => delayMs)}::int8[],
      ${all.map(({ counted }) => counted)}::bool[]) t(id, status, output, error, delay, counted)),
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

const reclaim = (sql: SqlClient.SqlClient, which: Statement.Fragment, at: Date) =>
  sql<Reclaimed>`with dead as (select id from commerce_jobs
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

/** One entry of the index per key, however many jobs wait for it. */
const unparkStatement = (sql: SqlClient.SqlClient, at: Date) =>
  sql<{ readonly count: number }>`with recursive keys(o, k) as (
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
    select (select count(*) from unparked)::int4 as count from notified`

/**
 * Ends tries of jobs. Each end frees the job's key for the next job. The process's clock decides when a job can run
 * next, so that tests control back-off. Leases use the database's clock, which separates processes whose clocks differ.
 */
export class JobSettleRepo extends Context.Service<JobSettleRepo>()("stoa/layers/jobs/JobSettleRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    /**
     * Writes the results of tries, in one statement, for jobs this token still holds. Returns the ids written: the
     * others lost their lease to another worker, so their results are dropped.
     */
    const settle = Effect.fn("JobSettleRepo.settle")(
      function*(queue: string, token: string, settlements: ReadonlyArray<Settlement>) {
        const rows = yield* settleStatement(sql, queue, token, settlements, yield* DateTime.nowAsDate)
        return rows.map(({ id }) => id)
      },
      Effect.orDie
    )
    /** Renews the leases of jobs. Returns the ids of those that the token still holds. */
    const extend = Effect.fn("JobSettleRepo.extend")(
      function*(token: string, ids: ReadonlyArray<string>, leaseMs: number) {
        const rows = yield* sql<{ readonly id: string }>`update commerce_jobs
          set lease_until = now() + ${leaseMs}::float8 * interval '1 ms'
          where id = any(${ids}::uuid[]) and lease_token = ${token}::uuid returning id`
        return rows.map(({ id }) => id)
      },
      Effect.orDie
    )
    const counted = (which: Statement.Fragment) =>
      Effect.flatMap(
        DateTime.nowAsDate,
        (at) => Effect.map(reclaim(sql, which, at), ([row]) => row ?? { pending: 0, failed: 0 })
      )
    return {
      settle,
      extend,
      /**
       * Reclaims jobs of workers whose lease has expired, at most 1,000 per call. The try counts, so a job that kills
       * its worker fails after its last try.
       */
      reap: counted(sql`lease_until < now()`).pipe(Effect.orDie, Effect.withSpan("JobSettleRepo.reap")),
      /** Reclaims jobs of a slot's dead or displaced predecessor. `token` is the slot's current one. */
      reclaimSlot: Effect.fn("JobSettleRepo.reclaimSlot")(
        (slot: string, token: string) => counted(sql`slot = ${slot} and lease_token <> ${token}::uuid`),
        Effect.orDie
      ),
      /**
       * Unblocks the oldest job of each free key: a worker may have set it aside at the moment the key became free.
       * Returns the count.
       */
      unpark: DateTime.nowAsDate.pipe(
        Effect.flatMap((at) => unparkStatement(sql, at)),
        Effect.map(([row]) => row?.count ?? 0),
        Effect.orDie,
        Effect.withSpan("JobSettleRepo.unpark")
      )
    }
  })
}) {}

export const jobSettleRepoLayer = Layer.effect(JobSettleRepo, JobSettleRepo.make)
