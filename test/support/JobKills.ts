import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "./Audit.ts"
import { eventually } from "./Eventually.ts"
import { noterOf } from "./JobRunNotes.ts"
import { placeOf, type Service, type ServiceOptions } from "./Service.ts"

const program = fileURLToPath(new URL("./serveJobs.ts", import.meta.url))

/** A runner whose handlers note their runs in `job_runs`; those of keys take so many ms, give or take a half. */
export const jobRunner = (databaseUrl: string, exclusiveMs = 10): ServiceOptions => ({
  databaseUrl,
  role: "runner",
  program,
  environment: { STOA_TEST_EXCLUSIVE_MS: String(exclusiveMs) }
})

/** The table that the handlers note their runs in. */
export const noteRuns = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.all([
      sql`create table job_deaths (pid int not null, at timestamptz not null, over timestamptz not null)`,
      sql`create table job_displaced (pid int not null)`,
      sql`create table job_runs (id bigserial primary key, job text not null, key text not null, pid int not null,
      begun timestamptz not null default clock_timestamp(), ended timestamptz, died timestamptz)`
    ], { discard: true }))

/** Enqueues so many jobs of a task as another process would, their keys in turn, and their queues too. */
export const enqueueFrom = (url: string, task: string, count: number, keys: number, tries = 1_000, queues = 1) =>
  onDatabase(
    url,
    (sql) =>
      sql`insert into commerce_jobs (id, organization_id, queue, task_slug, input, max_attempts, concurrency_key,
        exclusive)
      select id::uuid, 'org_default', case when n % ${queues}::int = 0 then 'default' else 'queue ' || n % ${queues}::int end,
        ${task}, jsonb_build_object('key', ${task}::text || (n % ${keys}::int)), ${tries}::int,
        ${task}::text || (n % ${keys}::int), ${task} = 'test/exclusive'
      from unnest(${Array.from({ length: count }, () => newId())}::text[]) with ordinality j(id, n)`
  )

/** Jobs of a task that have not ended. */
export const openJobs = (url: string, task: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ n: number }>`select count(*)::int4 as n from commerce_jobs
        where task_slug = ${task} and status in ('pending', 'processing')`,
      ([row]) => row?.n ?? -1
    ))

/** Waits until no job of a task is open. */
export const allEnded = (url: string, task = "test/exclusive") =>
  eventually(`all jobs of ${task} to end`, Effect.map(openJobs(url, task), (open) => open === 0))

/** Runs that have begun; of one process alone when it is given. */
export const runsOf = (url: string, pid?: number) =>
  onDatabase(
    url,
    (sql) =>
      Effect.map(
        sql<{ n: number }>`select count(*)::int4 as n from job_runs where ${pid ?? null}::int4 is null
          or pid = ${pid ?? null}::int4`,
        ([row]) => row?.n ?? 0
      )
  )

/** The process that has most runs at work; undefined when there is none. */
export const busiest = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ pid: number }>`select pid from job_runs where ended is null and died is null
        group by pid order by count(*) desc limit 1`,
      ([row]) => row?.pid
    ))

/** What the kills came to. */
export interface Takeovers {
  /** Kills that cut off a run, and the runs that they did. */
  readonly hits: number
  readonly cutOff: number
  /** How many of them have not begun again. */
  readonly open: number
  /** Of those that have: seconds from the kill until they did, the longest of each kill. */
  readonly seconds: ReadonlyArray<number>
}

export const takeovers = (url: string): Effect.Effect<Takeovers> =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ cut: number; open: number; seconds: number | null }>`select count(*)::int4 as cut,
          (count(*) filter (where n.begun is null))::int4 as open,
          max(extract(epoch from n.begun - r.died))::float8 as seconds
        from job_runs r left join lateral (select begun from job_runs n where n.job = r.job and n.id > r.id
          order by id limit 1) n on true
        where r.died is not null group by r.died order by r.died`,
      (rows) => ({
        hits: rows.length,
        cutOff: rows.reduce((sum, { cut }) => sum + cut, 0),
        open: rows.reduce((sum, { open }) => sum + open, 0),
        seconds: rows.flatMap(({ seconds }) => seconds === null ? [] : [seconds])
      })
    ))

/**
 * A place for a runner; when it is killed, the moment is noted at the runs that it cut off. A death has a beginning, the
 * signal, and an end: PostgreSQL still carries out what the process had sent, so runs begin shortly after the signal.
 */
export const placeFor = (options: ServiceOptions) =>
  placeOf(
    options,
    (service, at) =>
      Effect.andThen(noteDisplaced(options.databaseUrl, service), noteDeath(options.databaseUrl, service, at))
  )

const noteDeath = (url: string, { pid }: Service, at: Date) =>
  onDatabase(
    url,
    (sql) =>
      sql`select 1 from pg_stat_activity where application_name = ${noterOf(pid)}`.pipe(
        Effect.repeat({ until: (open) => open.length === 0 }),
        Effect.andThen(
          sql`with dead as (insert into job_deaths values (${pid}, ${at}::timestamptz, clock_timestamp()) returning at)
            update job_runs set died = dead.at from dead where pid = ${pid} and ended is null and died is null`
        )
      )
  )

/**
 * A process that could not confirm its locks within a second, or the lease of a slot within four, because the machine was
 * busy, gives up its jobs, and says so: as if it were dead, it must not be asked why they ran again.
 */
const noteDisplaced = (url: string, { output, pid }: Service) =>
  /shards of this process are in doubt|could not be kept: its jobs/.test(output())
    ? onDatabase(url, (sql) => Effect.asVoid(sql`insert into job_displaced values (${pid})`))
    : Effect.void

/** What must not be, over all runs: two of one key at once, a lost job, a second run without a kill. */
export const auditRuns = Effect.fnUntraced(function*(
  url: string,
  places: ReadonlyArray<{ readonly service: () => Service }>
) {
  yield* Effect.forEach(places, (place) => noteDisplaced(url, place.service()), { discard: true })
  const found = yield* onDatabase(
    url,
    (sql) =>
      sql`select 'two runs of a key at once' as rule, a.key || ' ' || a.id || ' ' || b.id as example
      from job_runs a join job_runs b on a.key = b.key and a.id < b.id and a.key like 'test/exclusive%'
        and b.begun < coalesce(a.ended, a.died) and a.begun < coalesce(b.ended, b.died)
    union all
    select 'a job that did not succeed', id::text || ' ' || status || ' ' || coalesce(error, '') from commerce_jobs
      where task_slug = 'test/exclusive' and status <> 'succeeded'
    union all
    select 'a job that succeeded without a run', j.id::text from commerce_jobs j where j.task_slug = 'test/exclusive'
      and not exists (select 1 from job_runs r where r.job = j.id::text and r.ended is not null)
    union all
    select 'a second run in a process that lived', concat_ws(' ', a.job, 'in', a.pid, a.begun, 'to', a.ended, 'and in',
        b.pid, b.begun, 'to', b.ended, 'of', j.attempts, 'tries:', j.error)
      from job_runs a join job_runs b on a.job = b.job and a.id < b.id
        join commerce_jobs j on j.id::text = a.job
      where not exists (select 1 from job_deaths d where d.pid = a.pid and a.begun < d.over and d.at < b.begun)
        and not exists (select 1 from job_displaced d where d.pid = a.pid)
    union all
    select 'a key that is still taken', k.concurrency_key from job_keys k
      join commerce_jobs j on j.id = k.job_id where j.status <> 'processing'`
  )
  const said = places.flatMap((place) => place.service().output().split("\n").filter((line) => /slot|shard/.test(line)))
  assert.deepStrictEqual(found, [], said.join("\n"))
})
