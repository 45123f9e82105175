import { Context, Effect, Latch, Layer, type Scope } from "effect"
import { setTimeout } from "node:timers/promises"
import { type WorkerLoopRun, WorkerSlotRepo } from "../../domain/jobs/WorkerSlotRepo.ts"
import { WorkerLoopStarter } from "./WorkerLoopStarter.ts"

/** How long a slot belongs to its worker after its last sign of life, and how long is between two, in ms. */
const leaseMs = 5_000
const signMs = 1_000

/** So long before others may have the slot its worker stops what runs in it. */
const marginMs = 1_000

/** Interval at which a worker checks whether its time is over, and whether a slot it waits for is free. */
const lookMs = 250

/** Signs that are under way: a connection that is dead without a word must not keep the next one from being given. */
const mostSigns = 3

/** A slot that is this worker's until another one may have it. */
export interface WorkerSlotLease {
  /** Check it before starting any job. Once false it stays false. */
  readonly isHeld: () => boolean
  /** Completes when the lease is lost. */
  readonly lost: Effect.Effect<void>
}

interface Held {
  readonly name: string
  readonly latch: Latch.Latch
  /** Of `performance.now()`, which no change of a clock moves. */
  until: number
}

/** Uses the machine's timer: neither a changed clock nor a test clock may extend a lease. */
const pause = (ms: number) => Effect.promise((signal) => setTimeout(ms, undefined, { signal }))

/** Counted from before the statement was sent: the database's own time began later. */
const endOf = (sent: number) => sent + leaseMs - marginMs

/** Renews each held lease, and ends expired ones. */
const keepLeases = (slots: WorkerSlotRepo["Service"], held: Map<string, Held>, scope: Scope.Scope) => {
  let signs = 0

  const lose = (token: string, lease: Held) =>
    Effect.suspend(() => {
      held.delete(token)
      lease.until = -Infinity
      lease.latch.openUnsafe()
      return Effect.logWarning(`slot ${lease.name} could not be kept: its jobs stop here and run again`)
    })

  const sign = Effect.gen(function*() {
    const asked = [...held]
    if (asked.length === 0 || signs >= mostSigns) return
    const sent = performance.now()
    signs++
    const ours = new Set(yield* slots.extend(asked.map(([token]) => token), leaseMs))
    for (const [token, lease] of asked) {
      // A lease lost meanwhile stays lost, even if the database reports it as held later.
      if (held.get(token) !== lease) continue
      if (ours.has(token)) lease.until = Math.max(lease.until, endOf(sent))
      else yield* lose(token, lease)
    }
  }).pipe(
    Effect.ensuring(Effect.sync(() => {
      signs--
    })),
    Effect.catchDefect((defect) => Effect.logWarning("slots of jobs could not be kept", defect))
  )

  const look = Effect.suspend(() =>
    Effect.forEach([...held], ([token, lease]) => performance.now() < lease.until ? Effect.void : lose(token, lease), {
      discard: true
    })
  )

  return Effect.gen(function*() {
    for (let turn = 1;; turn++) {
      yield* pause(lookMs)
      yield* look
      if (turn % (signMs / lookMs) === 0) yield* Effect.forkIn(sign, scope)
    }
  })
}

/**
 * Keeps two workers of one slot apart, even when neither can see the other: after a crash of the database, a loop's
 * shards may get a new owner before the old one notices. A lease lasts five seconds and is renewed every second. A
 * worker that cannot renew it stops its jobs a second before the lease ends.
 */
export class WorkerSlotLeases extends Context.Service<WorkerSlotLeases, {
  /**
   * Begins a run of a slot for the lifetime of the scope, once no other worker has the slot. Undefined if it is not the
   * slot's current run.
   */
  readonly take: (cycle: WorkerLoopRun, token: string) => Effect.Effect<WorkerSlotLease | undefined, never, Scope.Scope>
}>()("stoa/workflows/jobs/WorkerSlotLeases") {
  static readonly layer = Layer.effect(
    WorkerSlotLeases,
    Effect.gen(function*() {
      const slots = yield* WorkerSlotRepo
      const starter = yield* WorkerLoopStarter
      const held = new Map<string, Held>()
      yield* Effect.forkScoped(keepLeases(slots, held, yield* Effect.scope))

      const begin = Effect.fnUntraced(function*(cycle: WorkerLoopRun, token: string) {
        const sent = performance.now()
        return { sent, state: yield* starter.inTurn(slots.begin(cycle, token, leaseMs)) }
      })

      const take = Effect.fnUntraced(function*(cycle: WorkerLoopRun, token: string) {
        let { sent, state } = yield* begin(cycle, token)
        for (; state === "leased"; { sent, state } = yield* begin(cycle, token)) yield* pause(lookMs)
        if (state === "gone") return undefined
        const lease: Held = {
          name: `${cycle.queue}/${cycle.slot}`,
          latch: Latch.makeUnsafe(false),
          until: endOf(sent)
        }
        held.set(token, lease)
        yield* Effect.addFinalizer(() =>
          Effect.suspend(() => {
            held.delete(token)
            // Release the rest of the lease, so that a waiting worker can start. A run that ended normally has already
            // done so.
            return Effect.ignoreCause(slots.release(cycle, token))
          })
        )
        return { isHeld: () => performance.now() < lease.until, lost: lease.latch.await }
      })
      return { take }
    })
  )
}
