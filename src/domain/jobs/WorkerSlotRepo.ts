import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** The current run of a slot of a queue. Sequences only grow, so a finished run never returns. */
export interface WorkerLoopRun {
  readonly queue: string
  readonly slot: number
  readonly sequence: number
}

/** The current run of each slot. */
export class WorkerSlotRepo extends Context.Service<WorkerSlotRepo, {
  /**
   * Creates missing slots: the first one of each permanent queue, and `slots` of those listed as wide, of permanent
   * ones with a job overdue by a second, and of every other queue with jobs.
   */
  readonly prepare: (
    standing: ReadonlyArray<string>,
    wide: ReadonlyArray<string>,
    slots: number
  ) => Effect.Effect<void>
  /** Runs that have not begun. */
  readonly open: Effect.Effect<ReadonlyArray<WorkerLoopRun>>
  /**
   * Leases the slot for its current run, which begins now or restarts after its process died: `begun`. `leased`:
   * another worker may still be active. `gone`: another run is the current one.
   */
  readonly begin: (cycle: WorkerLoopRun, token: string, leaseMs: number) => Effect.Effect<"begun" | "leased" | "gone">
  /** Says that the workers with these tokens live. Gives those that still have their slot. */
  readonly extend: (tokens: ReadonlyArray<string>, leaseMs: number) => Effect.Effect<ReadonlyArray<string>>
  /** Releases a slot whose run has not ended. */
  readonly release: (cycle: WorkerLoopRun, token: string) => Effect.Effect<void>
  /** Ends the current run, unless another worker has it; the next run is then open. */
  readonly end: (cycle: WorkerLoopRun, token: string) => Effect.Effect<void>
  /** Ends the run without a successor: the slot is closed until its queue has jobs again. */
  readonly close: (cycle: WorkerLoopRun, token: string) => Effect.Effect<void>
}>()("stoa/domain/jobs/WorkerSlotRepo") {}

/** A job of `found.queue` is overdue by a second: the first slot is dead or overloaded. */
const isLate = (sql: SqlClient.SqlClient) =>
  sql.literal(`coalesce(least(
    (select created_at from commerce_jobs j where j.queue = found.queue and status = 'pending' and wait_until is null
      and not blocked order by created_at limit 1),
    (select wait_until from commerce_jobs j where j.queue = found.queue and status = 'pending'
      and wait_until is not null and not blocked order by wait_until limit 1)) < now() - interval '1 second', false)`)

/** `WorkerSlotRepo` over the database of the process. */
export const workerSlotRepoLayer = Layer.effect(
  WorkerSlotRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const current = ({ queue, sequence, slot }: WorkerLoopRun) =>
      sql`queue = ${queue} and slot = ${slot} and sequence = ${sequence}`
    const own = (cycle: WorkerLoopRun, token: string) => sql`${current(cycle)} and lease_token = ${token}::uuid`
    // Later than the beginning of the statement: a lease that waited for a lock must not be shorter than its owner thinks.
    const leaseEnd = (leaseMs: number) => sql`clock_timestamp() + ${leaseMs}::float8 * interval '1 ms'`

    // A returning slot must not repeat earlier sequences, so sequences start at the current time.
    const prepare = Effect.fn("WorkerSlotRepo.prepare")(
      (standing: ReadonlyArray<string>, wide: ReadonlyArray<string>, slots: number) =>
        sql`with recursive found(queue) as (
          (select queue from commerce_jobs where status = 'pending' and not blocked order by queue limit 1)
          union all
          select (select queue from commerce_jobs where status = 'pending' and not blocked and queue > found.queue
            order by queue limit 1) from found where found.queue is not null)
        insert into worker_slots (queue, slot, sequence)
        select q.queue, s.slot, (extract(epoch from clock_timestamp()) * 1000)::int8
        from (select queue, bool_or(wide) as wide from (
            select queue, queue <> all(${standing}::text[]) or ${isLate(sql)} as wide from found
              where queue is not null
            union all select unnest(${standing}::text[]), false
            union all select unnest(${wide}::text[]), true) named group by queue) q
          cross join generate_series(0, case when q.wide then ${slots}::int4 - 1 else 0 end) s(slot)
        where not exists (select 1 from worker_slots o where o.queue = q.queue and o.slot = s.slot)
        on conflict do nothing`,
      Effect.asVoid,
      Effect.orDie
    )

    const open = sql<{ readonly queue: string; readonly slot: number; readonly sequence: string }>`select queue, slot,
        sequence::text from worker_slots where open`.pipe(
      Effect.map((rows) => rows.map((row) => ({ ...row, sequence: Number(row.sequence) }))),
      Effect.orDie
    )

    return WorkerSlotRepo.of({
      prepare,
      open,
      begin: Effect.fn("WorkerSlotRepo.begin")(function*(cycle: WorkerLoopRun, token: string, leaseMs: number) {
        const [row] = yield* sql<{ readonly state: "begun" | "leased" | "gone" }>`with begun as (
            update worker_slots set open = false, lease_token = ${token}::uuid, lease_until = ${leaseEnd(leaseMs)}
            where ${current(cycle)} and (lease_until is null or lease_until < clock_timestamp()) returning 1)
          select case when exists (select 1 from begun) then 'begun'
            when exists (select 1 from worker_slots where ${current(cycle)}) then 'leased' else 'gone' end as state`
        return row?.state ?? "gone"
      }, Effect.orDie),
      extend: Effect.fn("WorkerSlotRepo.extend")(function*(tokens: ReadonlyArray<string>, leaseMs: number) {
        const rows = yield* sql<{ readonly token: string }>`update worker_slots set lease_until = ${leaseEnd(leaseMs)}
          where lease_token = any(${tokens}::uuid[]) returning lease_token::text as token`
        return rows.map(({ token }) => token)
      }, Effect.orDie),
      release: Effect.fn("WorkerSlotRepo.release")(
        (cycle: WorkerLoopRun, token: string) =>
          sql`update worker_slots set lease_token = null, lease_until = null where ${own(cycle, token)}`,
        Effect.asVoid,
        Effect.orDie
      ),
      end: Effect.fn("WorkerSlotRepo.end")(
        (cycle: WorkerLoopRun, token: string) =>
          sql`update worker_slots set sequence = sequence + 1, open = true, lease_token = null, lease_until = null
            where ${own(cycle, token)}`,
        Effect.asVoid,
        Effect.orDie
      ),
      close: Effect.fn("WorkerSlotRepo.close")(
        (cycle: WorkerLoopRun, token: string) => sql`delete from worker_slots where ${own(cycle, token)}`,
        Effect.asVoid,
        Effect.orDie
      )
    })
  })
)
