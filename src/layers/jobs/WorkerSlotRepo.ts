import { Context, Effect, Latch, Layer, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { setTimeout } from "node:timers/promises"
import { decoding } from "../../domain/platform/records/Rows.ts"
import { WorkerLoopStarter } from "./JobNotifier.ts"

export const WorkerLoopRun = Schema.Struct({ queue: Schema.String, slot: Schema.Int, sequence: Schema.Int })
export type WorkerLoopRun = typeof WorkerLoopRun.Type

const Begun = Schema.Struct({ state: Schema.Literals(["begun", "leased", "gone"]) })

const isLate = (sql: SqlClient.SqlClient) =>
  sql.literal(`coalesce(least(
    (select created_at from commerce_jobs j where j.queue = found.queue and status = 'pending' and wait_until is null
      and not blocked order by created_at limit 1),
    (select wait_until from commerce_jobs j where j.queue = found.queue and status = 'pending'
      and wait_until is not null and not blocked order by wait_until limit 1)) < now() - interval '1 second', false)`)

export class WorkerSlotRepo extends Context.Service<WorkerSlotRepo>()("stoa/layers/jobs/WorkerSlotRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const states = decoding(sql, Begun)
    const current = ({ queue, sequence, slot }: WorkerLoopRun) =>
      sql`queue = ${queue} and slot = ${slot} and sequence = ${sequence}`
    const own = (run: WorkerLoopRun, token: string) => sql`${current(run)} and lease_token = ${token}::uuid`
    // Not the statement's start: a lease that waited for a lock must not be shorter than its owner thinks.
    const leaseEnd = (leaseMs: number) => sql`clock_timestamp() + ${leaseMs}::float8 * interval '1 ms'`

    /**
     * Creates missing slots: the first of permanent queues; all `slots` of wide queues, of permanent ones with a job
     * overdue by a second, and of others with jobs. Sequences start at the current time, to never repeat.
     */
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

    const open = Effect.orDie(decoding(sql, WorkerLoopRun)`select queue, slot, sequence from worker_slots where open`)

    return {
      prepare,
      open,
      /**
       * Leases the slot for its current run. `leased`: another worker may be active. `gone`: another run is current.
       */
      begin: Effect.fn("WorkerSlotRepo.begin")(function*(run: WorkerLoopRun, token: string, leaseMs: number) {
        const [row] = yield* states`with begun as (
            update worker_slots set open = false, lease_token = ${token}::uuid, lease_until = ${leaseEnd(leaseMs)}
            where ${current(run)} and (lease_until is null or lease_until < clock_timestamp()) returning 1)
          select case when exists (select 1 from begun) then 'begun'
            when exists (select 1 from worker_slots where ${current(run)}) then 'leased' else 'gone' end as state`
        return row?.state ?? "gone"
      }, Effect.orDie),
      extend: Effect.fn("WorkerSlotRepo.extend")(function*(tokens: ReadonlyArray<string>, leaseMs: number) {
        const rows = yield* sql`update worker_slots set lease_until = ${leaseEnd(leaseMs)}
          where lease_token = any(${tokens}::uuid[]) returning lease_token::text as token`
        return rows.map(({ token }) => String(token))
      }, Effect.orDie),
      release: Effect.fn("WorkerSlotRepo.release")(
        (run: WorkerLoopRun, token: string) =>
          sql`update worker_slots set lease_token = null, lease_until = null where ${own(run, token)}`,
        Effect.asVoid,
        Effect.orDie
      ),
      /** Ends the run unless another worker has it; opens the next and notifies runners. */
      end: Effect.fn("WorkerSlotRepo.end")(
        (run: WorkerLoopRun, token: string) =>
          sql`update worker_slots set sequence = sequence + 1, open = true, lease_token = null, lease_until = null
            where ${own(run, token)} returning pg_notify('stoa_jobs', queue)`,
        Effect.asVoid,
        Effect.orDie
      ),
      /** Ends the run without a successor: the slot is closed until its queue has jobs. */
      close: Effect.fn("WorkerSlotRepo.close")(
        (run: WorkerLoopRun, token: string) => sql`delete from worker_slots where ${own(run, token)}`,
        Effect.asVoid,
        Effect.orDie
      )
    }
  })
}) {
  static readonly layer = Layer.effect(WorkerSlotRepo, WorkerSlotRepo.make)
}

const leaseMs = 5_000
const signMs = 1_000

const marginMs = 1_000

const lookMs = 250

const mostSigns = 3

export interface WorkerSlotLease {
  /** Check before starting a job. Once false it stays false. */
  readonly isHeld: () => boolean
  readonly lost: Effect.Effect<void>
  /** Renewed half as often then: a loss costs nothing. */
  isIdle: () => boolean
}

interface Held {
  readonly lease: WorkerSlotLease
  readonly name: string
  readonly latch: Latch.Latch
  /** By `performance.now()`, which no change of a clock moves. */
  until: number
}

/** The machine's timer: neither a changed clock nor a test clock may extend a lease. */
const pause = (ms: number) => Effect.promise((signal) => setTimeout(ms, undefined, { signal }))

/** From before the statement was sent: the database's time began later. */
const endOf = (sent: number) => sent + leaseMs - marginMs

const keepLeases = (slots: WorkerSlotRepo["Service"], held: Map<string, Held>, scope: Scope.Scope) => {
  let signs = 0

  const lose = (token: string, lease: Held) =>
    Effect.suspend(() => {
      held.delete(token)
      lease.until = -Infinity
      lease.latch.openUnsafe()
      return Effect.logWarning(`slot ${lease.name} could not be kept: its jobs stop here and run again`)
    })

  const extend = Effect.fnUntraced(function*(asked: ReadonlyArray<readonly [string, Held]>) {
    const sent = performance.now()
    const ours = new Set(yield* slots.extend(asked.map(([token]) => token), leaseMs))
    for (const [token, lease] of asked) {
      // A lost lease stays lost, even if the database later reports it held.
      if (held.get(token) !== lease) continue
      if (ours.has(token)) lease.until = Math.max(lease.until, endOf(sent))
      else yield* lose(token, lease)
    }
  })

  const sign = (withIdle: boolean) =>
    Effect.suspend(() => {
      const asked = [...held].filter(([, { lease }]) => withIdle || !lease.isIdle())
      if (asked.length === 0 || signs >= mostSigns) return Effect.void
      signs++
      return extend(asked).pipe(
        Effect.ensuring(Effect.sync(() => {
          signs--
        })),
        Effect.catchDefect((defect) => Effect.logWarning("slots of jobs could not be kept", defect))
      )
    })

  const look = Effect.suspend(() =>
    Effect.forEach([...held], ([token, lease]) => performance.now() < lease.until ? Effect.void : lose(token, lease), {
      discard: true
    })
  )

  return Effect.gen(function*() {
    for (let turn = 1;; turn++) {
      yield* pause(lookMs)
      yield* look
      const seconds = turn * lookMs / signMs
      if (Number.isInteger(seconds)) yield* Effect.forkIn(sign(seconds % 2 === 0), scope)
    }
  })
}

/**
 * Keeps two workers of a slot apart that cannot see each other: after a database crash a shard may get a new owner before
 * the old one notices. A lease lasts five seconds; a worker that cannot renew it stops its jobs a second before the end.
 */
export class WorkerSlotLeases extends Context.Service<WorkerSlotLeases>()("stoa/layers/jobs/WorkerSlotLeases", {
  make: Effect.gen(function*() {
    const slots = yield* WorkerSlotRepo
    const starter = yield* WorkerLoopStarter
    const held = new Map<string, Held>()
    yield* Effect.forkScoped(keepLeases(slots, held, yield* Effect.scope))

    const begin = Effect.fnUntraced(function*(run: WorkerLoopRun, token: string) {
      const sent = performance.now()
      return { sent, state: yield* starter.inTurn(slots.begin(run, token, leaseMs)) }
    })

    /** Begins a run once no other worker has the slot. Undefined if it is not the current run. */
    const take = Effect.fnUntraced(function*(run: WorkerLoopRun, token: string) {
      let { sent, state } = yield* begin(run, token)
      for (; state === "leased"; { sent, state } = yield* begin(run, token)) yield* pause(lookMs)
      if (state === "gone") return undefined
      const lost = Latch.makeUnsafe(false)
      const lease: WorkerSlotLease = {
        isHeld: () => performance.now() < own.until,
        lost: lost.await,
        isIdle: () => false
      }
      const own: Held = { lease, name: `${run.queue}/${run.slot}`, latch: lost, until: endOf(sent) }
      held.set(token, own)
      yield* Effect.addFinalizer(() =>
        Effect.suspend(() => {
          held.delete(token)
          return Effect.ignoreCause(slots.release(run, token))
        })
      )
      return lease
    })
    return { take }
  })
}) {
  static readonly layer = Layer.effect(WorkerSlotLeases, WorkerSlotLeases.make)
}
