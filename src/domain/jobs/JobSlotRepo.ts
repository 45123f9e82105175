import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** The cycle that a slot of a queue stands at. Sequences only grow, so a cycle that is over never comes again. */
export interface SlotCycle {
  readonly queue: string
  readonly slot: number
  readonly sequence: number
}

/** Which cycle of each slot is the current one. */
export class JobSlotRepo extends Context.Service<JobSlotRepo, {
  /**
   * Makes the slots that are missing: the first one of each standing queue, and so many of those named wide, of standing
   * ones with a job that could have begun a second ago, and of every other queue that has jobs.
   */
  readonly prepare: (
    standing: ReadonlyArray<string>,
    wide: ReadonlyArray<string>,
    slots: number
  ) => Effect.Effect<void>
  /** Cycles that nobody has begun. */
  readonly open: Effect.Effect<ReadonlyArray<SlotCycle>>
  /** True when this is the slot's current cycle, which has begun now, or anew after its process died. */
  readonly begin: (cycle: SlotCycle) => Effect.Effect<boolean>
  /** Ends the current cycle: the next one is open. */
  readonly end: (cycle: SlotCycle) => Effect.Effect<void>
  /** Ends it without a successor: the slot is gone until its queue has jobs again. */
  readonly close: (cycle: SlotCycle) => Effect.Effect<void>
}>()("stoa/domain/jobs/JobSlotRepo") {}

/** A job of `found.queue` could have begun a second ago: the first slot is dead or has its hands full. */
const isLate = (sql: SqlClient.SqlClient) =>
  sql.literal(`coalesce(least(
    (select created_at from commerce_jobs j where j.queue = found.queue and status = 'pending' and wait_until is null
      and not blocked order by created_at limit 1),
    (select wait_until from commerce_jobs j where j.queue = found.queue and status = 'pending'
      and wait_until is not null and not blocked order by wait_until limit 1)) < now() - interval '1 second', false)`)

/** `JobSlotRepo` over the database of the process. */
export const jobSlotRepoLayer = Layer.effect(
  JobSlotRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const current = ({ queue, sequence, slot }: SlotCycle) =>
      sql`queue = ${queue} and slot = ${slot} and sequence = ${sequence}`

    // A slot that comes back must not repeat the sequences it had before: they begin at the time.
    const prepare = Effect.fn("JobSlotRepo.prepare")(
      (standing: ReadonlyArray<string>, wide: ReadonlyArray<string>, slots: number) =>
        sql`with recursive found(queue) as (
          (select queue from commerce_jobs where status = 'pending' and not blocked order by queue limit 1)
          union all
          select (select queue from commerce_jobs where status = 'pending' and not blocked and queue > found.queue
            order by queue limit 1) from found where found.queue is not null)
        insert into job_slots (queue, slot, sequence)
        select q.queue, s.slot, (extract(epoch from clock_timestamp()) * 1000)::int8
        from (select queue, bool_or(wide) as wide from (
            select queue, queue <> all(${standing}::text[]) or ${isLate(sql)} as wide from found
              where queue is not null
            union all select unnest(${standing}::text[]), false
            union all select unnest(${wide}::text[]), true) named group by queue) q
          cross join generate_series(0, case when q.wide then ${slots}::int4 - 1 else 0 end) s(slot)
        where not exists (select 1 from job_slots o where o.queue = q.queue and o.slot = s.slot)
        on conflict do nothing`,
      Effect.asVoid,
      Effect.orDie
    )

    const open = sql<{ readonly queue: string; readonly slot: number; readonly sequence: string }>`select queue, slot,
        sequence::text from job_slots where open`.pipe(
      Effect.map((rows) => rows.map((row) => ({ ...row, sequence: Number(row.sequence) }))),
      Effect.orDie
    )

    return JobSlotRepo.of({
      prepare,
      open,
      begin: Effect.fn("JobSlotRepo.begin")((cycle: SlotCycle) =>
        Effect.map(
          sql`update job_slots set open = false where ${current(cycle)} returning 1`,
          (rows) => rows.length === 1
        ), Effect.orDie),
      end: Effect.fn("JobSlotRepo.end")(
        (cycle: SlotCycle) => sql`update job_slots set sequence = sequence + 1, open = true where ${current(cycle)}`,
        Effect.asVoid,
        Effect.orDie
      ),
      close: Effect.fn("JobSlotRepo.close")(
        (cycle: SlotCycle) => sql`delete from job_slots where ${current(cycle)}`,
        Effect.asVoid,
        Effect.orDie
      )
    })
  })
)
