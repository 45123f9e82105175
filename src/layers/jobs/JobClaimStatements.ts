import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { ClaimedJob, FieldOrder, Job, ProcessingOrder } from "../../domain/platform/jobs/Job.ts"
import { jobs } from "../../domain/platform/jobs/JobRecordRepo.ts"

export interface Claim {
  readonly queue: string
  readonly limit: number
  readonly slot: string
  /** Fences everything that the claimer writes later. */
  readonly token: string
  readonly leaseMs: number
}

export interface Claimed {
  readonly jobs: ReadonlyArray<ClaimedJob>
  readonly parked: number
}

const organizationsAtOnce = 64

const comparable = 1_000

const columns = {
  createdAt: "created_at",
  updatedAt: "updated_at",
  attempts: "attempts",
  taskSlug: "task_slug"
} as const

type Sql = SqlClient.SqlClient

const candidateColumns = "id, organization_id as o, concurrency_key as k, exclusive as x, created_at"

interface FoundRow extends ClaimedJob {
  readonly count: number
  readonly after: string | null
}

/**
 * Claims from locked candidates. Of a key's exclusive jobs only the oldest can win; the key table shows the holder in
 * its newest state, not the snapshot's. Losers are set aside. Rows are picked by an array of ids: the planner would
 * read the whole table for a join.
 */
const claimOf = (
  sql: Sql,
  { leaseMs, slot, token }: Claim,
  parts: { readonly before: Statement.Fragment; readonly after?: Statement.Fragment }
) =>
  sql<FoundRow>`with recursive ${parts.before},
    oldest as (select distinct on (o, k) id, o, k, created_at from c where x order by o, k, created_at, id),
    first as materialized (select * from oldest f where not exists (select 1 from commerce_jobs p
      where p.organization_id = f.o and p.concurrency_key = f.k and p.status = 'pending' and p.blocked
        and (p.created_at, p.id) < (f.created_at, f.id))),
    won as (insert into job_keys (organization_id, concurrency_key, job_id)
      select o, k, id from first order by o, k on conflict do nothing returning job_id),
    parked as (update commerce_jobs set blocked = true
      where id = any(array(select c.id from c where c.x and not exists (select 1 from won where job_id = c.id)))
      returning 1),
    taken as (update commerce_jobs set status = 'processing', attempts = attempts + 1,
        processing_started_at = now(), updated_at = now(), slot = ${slot}, lease_token = ${token}::uuid,
        lease_until = now() + ${leaseMs}::float8 * interval '1 ms'
      where id = any(array(select c.id from c where not c.x or exists (select 1 from won where job_id = c.id)))
      returning id, organization_id as "organizationId", task_slug as "taskSlug", input, attempts,
        max_attempts as "maxAttempts", created_at as "createdAt")
    select p.count, ${parts.after ?? sql.literal("null::text")} as after, t.*
    from (select count(*)::int4 as count from parked) p
      left join (select taken.*, c.place from taken join c on c.id = taken.id) t on true order by t.place, t."createdAt", t.id`

const claimedIn = (rows: ReadonlyArray<FoundRow>): Claimed => ({
  jobs: rows.filter(({ id }) => id !== null),
  parked: rows[0]?.count ?? 0
})

const byField = (
  sql: Sql,
  { limit, queue }: Claim,
  at: Date,
  { direction = "asc", field }: FieldOrder,
  from?: Date
) => {
  const column = sql.literal(columns[field])
  const ties = sql.literal(field === "createdAt" ? `created_at ${direction}, id ${direction}` : "created_at, id")
  const first = field === "createdAt" ? ties : sql`${column} ${sql.literal(direction)}, ${ties}`
  const rows = sql.literal(candidateColumns)
  const fence = from === undefined || field !== "createdAt" || direction !== "asc"
    ? sql.literal("")
    : sql`and created_at >= ${from}::timestamptz`
  const ready = sql`queue = ${queue} and status = 'pending' and wait_until is null and not blocked`
  const due = sql`queue = ${queue} and status = 'pending' and wait_until is not null and not blocked
    and wait_until <= ${at}::timestamptz`
  return sql`a as materialized (select ${rows}, ${column} as sorted from commerce_jobs
      where ${ready} ${fence} order by ${first} limit ${limit} for update skip locked),
    b as materialized (select ${rows}, ${column} as sorted from commerce_jobs
      where ${due} order by wait_until limit ${limit} for update skip locked),
    u as (select * from a union all select * from b),
    c as materialized (select *, row_number() over (order by sorted ${sql.literal(direction)}, ${ties})::int4 as place
      from u order by place limit ${limit})`
}

const byIds = (sql: Sql, { queue }: Claim, at: Date, ids: ReadonlyArray<string>) =>
  sql`picked as (select id, place::int4 from unnest(${ids}::uuid[]) with ordinality p(id, place)),
    c as materialized (select j.id, j.organization_id as o, j.concurrency_key as k, j.exclusive as x, j.created_at,
        picked.place
      from picked join commerce_jobs j on j.id = picked.id
      where j.queue = ${queue} and j.status = 'pending' and not j.blocked
        and (j.wait_until is null or j.wait_until <= ${at}::timestamptz) for update of j skip locked)`

/**
 * The same number for each of the next organizations, one index entry each. Bound: the later of both clocks, since
 * `created_at` is the database's and waits are the process's.
 */
const byOrganization = (sql: Sql, { limit, queue }: Claim, at: Date, after: string, served: ReadonlyArray<string>) => {
  const pending = sql`queue = ${queue} and status = 'pending' and not blocked`
  return sql`walk(o) as (
      (select organization_id from commerce_jobs where ${pending} and organization_id > ${after}
        order by organization_id limit 1)
      union all
      select (select organization_id from commerce_jobs where ${pending} and organization_id > walk.o
        order by organization_id limit 1) from walk where walk.o is not null),
    seen as materialized (select o from walk where o is not null limit ${organizationsAtOnce}),
    chosen as materialized (select o from seen where o <> all(${served}::text[]) order by o limit ${limit}),
    c as materialized (select j.*, 0 as place from chosen cross join lateral (
      select ${sql.literal(candidateColumns)} from commerce_jobs
      where ${pending} and organization_id = chosen.o
        and coalesce(wait_until, created_at) <= greatest(${at}::timestamptz, now())
        and (wait_until is null or wait_until <= ${at}::timestamptz)
      order by coalesce(wait_until, created_at)
      limit (select greatest(1, ${limit}::int4 / count(*)) from chosen) for update skip locked) j)`
}

/**
 * Claims jobs in one statement that skips locked ones. Due by the process's clock, which wrote the waits; leases by the
 * database's, which processes share.
 */
export class JobClaimStatements extends Context.Service<JobClaimStatements>()("stoa/layers/jobs/JobClaimStatements", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const compared = Effect.fnUntraced(function*(claim: Claim, comparator: (left: Job, right: Job) => number) {
      const at = yield* DateTime.nowAsDate
      const rows = yield* sql<Job>`select ${sql.literal(jobs.columns())} from commerce_jobs
        where queue = ${claim.queue} and status = 'pending' and not blocked
          and (wait_until is null or wait_until <= ${at}::timestamptz)
        order by created_at, id limit ${comparable}`
      const ids = rows.toSorted(comparator).slice(0, claim.limit).map(({ id }) => id)
      if (ids.length === 0) return []
      return yield* claimOf(sql, claim, { before: byIds(sql, claim, at, ids) })
    })

    /**
     * Jobs that can run, in the configured order. `from` excludes older jobs: under an old transaction the index keeps
     * finished jobs, and a claim would walk them.
     */
    const take = Effect.fn("JobClaimStatements.take")(function*(claim: Claim, order: ProcessingOrder, from?: Date) {
      const rows = typeof order === "function"
        ? yield* compared(claim, order)
        : yield* claimOf(sql, claim, { before: byField(sql, claim, yield* DateTime.nowAsDate, order, from) })
      return claimedIn(rows)
    }, Effect.orDie)

    /**
     * The same number of jobs for up to 64 organizations after the given one, without `served`: none that floods the
     * queue blocks others.
     */
    const takeFairly = Effect.fn("JobClaimStatements.takeFairly")(function*(
      claim: Claim,
      after: string,
      served: ReadonlyArray<string>
    ) {
      const rows = yield* claimOf(sql, claim, {
        before: byOrganization(sql, claim, yield* DateTime.nowAsDate, after, served),
        after: sql.literal(`case when (select count(*) from chosen) = ${claim.limit}
          then (select max(o) from chosen) else (select max(o) from seen) end`)
      })
      return { ...claimedIn(rows), after: rows[0]?.after ?? "" }
    }, Effect.orDie)

    const nextDue = Effect.fn("JobClaimStatements.nextDue")(function*(queue: string) {
      const rows = yield* sql<{ readonly at: Date }>`select wait_until as at from commerce_jobs
        where queue = ${queue} and status = 'pending' and wait_until is not null and not blocked
        order by wait_until limit 1`
      return rows[0]?.at
    }, Effect.orDie)

    /** Creates the index of a claim order; none for the default. */
    const prepareOrder = Effect.fn("JobClaimStatements.prepareOrder")(function*(order: ProcessingOrder) {
      if (typeof order === "function" || order.field === "createdAt") return
      const [column, direction] = [columns[order.field], order.direction ?? "asc"]
      yield* sql.unsafe(`create index if not exists jobs_ready_by_${column}_${direction}
        on commerce_jobs (queue, ${column} ${direction}, created_at, id)
        where status = 'pending' and wait_until is null and not blocked`)
    }, Effect.orDie)

    return { take, takeFairly, nextDue, prepareOrder }
  })
}) {
  static readonly layer = Layer.effect(JobClaimStatements, JobClaimStatements.make)
}
