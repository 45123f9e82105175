import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import type { JobId } from "../ids/Id.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { decoding } from "../records/Rows.ts"
import { Table } from "../records/Table.ts"
import { Job } from "./Job.ts"

export const jobs = new Table("commerce_jobs", Job)

const QueueDepth = Schema.Struct({
  queue: Schema.String,
  pending: Schema.Int,
  /** Age of the oldest runnable job; 0 without one. */
  oldestSeconds: Schema.Number
})
export type QueueDepth = typeof QueueDepth.Type

const countable = 10_000

const purgeable = 1_000

const Purged = Schema.Struct({ removed: Schema.Int, looked: Schema.Int, last: Schema.NullOr(Schema.String) })

const depthsAt = (sql: SqlClient.SqlClient, at: Date) =>
  decoding(sql, QueueDepth)`with recursive queues(queue) as (
    (select queue from commerce_jobs where status = 'pending' and not blocked order by queue limit 1)
    union all
    select (select queue from commerce_jobs where status = 'pending' and not blocked and queue > queues.queue
      order by queue limit 1) from queues where queues.queue is not null)
  select queue,
    (select count(*) from (select 1 from commerce_jobs j where j.queue = queues.queue and j.status = 'pending'
      and not j.blocked limit ${countable}) counted)::int4 as pending,
    greatest(0, extract(epoch from greatest(
      now() - (select min(created_at) from commerce_jobs j where j.queue = queues.queue and j.status = 'pending'
        and j.wait_until is null and not j.blocked),
      ${at}::timestamptz - (select min(wait_until) from commerce_jobs j where j.queue = queues.queue
        and j.status = 'pending' and j.wait_until is not null and not j.blocked))))::float8 as "oldestSeconds"
  from queues where queue is not null`

export class JobRecordRepo extends Context.Service<JobRecordRepo>()("stoa/domain/platform/jobs/JobRecordRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const columns = sql.literal(jobs.columns())
    const records = jobs.rows(sql)

    const find = Effect.fn("JobRecordRepo.find")(function*(id: JobId) {
      const [job] = yield* records`select ${columns} from commerce_jobs
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return job
    }, Effect.orDie)

    const failed = Effect.fn("JobRecordRepo.failed")((page: PageRequest) =>
      Effect.orDie(ownPage(sql, jobs, "completed_at desc, id desc", page, [sql`status = 'failed'`], "all"))
    )

    const retry = Effect.fn("JobRecordRepo.retry")(function*(id: JobId) {
      const actor = yield* CurrentActor
      const retried = changeLogRows(sql, actor, {
        type: "jobs.retry",
        entityType: "job",
        entityId: "again.id::text",
        payload: "jsonb_build_object('id', again.id, 'taskSlug', \"taskSlug\", 'queue', queue, 'status', 'pending')",
        before: "jsonb_build_object('status', 'failed', 'attempts', old.attempts, 'error', old.error)",
        from: "again join old on old.id = again.id"
      })
      const [job] = yield* records`with old as (
          select id, attempts, error from commerce_jobs
          where id = ${id}::uuid and organization_id = ${actor.organizationId} and status = 'failed' for update),
        again as (
          update commerce_jobs set status = 'pending', attempts = 0, error = null, output = null, wait_until = null,
            processing_started_at = null, completed_at = null, updated_at = now()
          where id = (select id from old) and status = 'failed'
          returning ${columns}),
        entry as (${retried}),
        notified as (select count(pg_notify('stoa_jobs', queue)) from again)
        select again.* from again left join notified on true`
      return job
    }, Effect.orDie)

    const depths = DateTime.nowAsDate.pipe(
      Effect.flatMap((at) => depthsAt(sql, at)),
      Effect.orDie,
      Effect.withSpan("JobRecordRepo.depths")
    )

    /**
     * Deletes jobs that ended so many days ago, among at most 1,000 rows after `after`; `next` continues, undefined at
     * the end. Ids carry their time: the primary key is the index by age.
     */
    const purge = Effect.fn("JobRecordRepo.purge")(
      function*(days: { readonly succeeded: number; readonly failed: number }, after: string) {
        const cut = sql`(lpad(to_hex((extract(epoch from now() - make_interval(days => ${
          Math.min(days.succeeded, days.failed)
        })) * 1000)::int8), 12, '0') || repeat('0', 20))::uuid`
        const [row] = yield* decoding(sql, Purged)`
          with old as materialized (select id, status, completed_at from commerce_jobs
            where id > ${after}::uuid and id < ${cut} order by id limit ${purgeable}),
          gone as (delete from commerce_jobs j using old where j.id = old.id and j.status = old.status
            and ((old.status = 'succeeded' and old.completed_at < now() - make_interval(days => ${days.succeeded}))
              or (old.status = 'failed' and old.completed_at < now() - make_interval(days => ${days.failed})))
            returning 1)
          select (select count(*) from gone)::int4 as removed, count(*)::int4 as looked,
            (select id::text from old order by id desc limit 1) as last from old`
        return { removed: row?.removed ?? 0, next: row?.looked === purgeable ? row.last ?? undefined : undefined }
      },
      Effect.orDie
    )
    return { find, failed, retry, depths, purge }
  })
}) {
  static readonly layer = Layer.effect(JobRecordRepo, JobRecordRepo.make)
}
