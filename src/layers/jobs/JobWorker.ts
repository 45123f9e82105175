import { Clock, Effect, Fiber, type Latch, Semaphore } from "effect"
import { isTransient } from "../../domain/platform/errors/Transience.ts"
import type { ClaimedJob, Settlement } from "../../domain/platform/jobs/Job.ts"
import { JobSettings } from "../../domain/platform/tasks/JobSettings.ts"
import { JobQueueRepo } from "./JobQueueRepo.ts"
import { released, TaskRuns, unwritable } from "./TaskRuns.ts"

/** Milliseconds. */
const pause = 250

const leaseLost = "jobs ended after their lease was lost, their results are dropped"
const writtenOrLost =
  "jobs ended while the database was away, and were written before its answer was lost or lost their lease"

/**
 * Writes results; retries while the database is away, and one by one if it refuses a batch. Returns those written now:
 * the others lost their lease, or an earlier attempt wrote them.
 */
export const settlementWriter = Effect.fnUntraced(function*(queue: string, token: string) {
  const repo = yield* JobQueueRepo

  const write = Effect.fnUntraced(function*(settlements: ReadonlyArray<Settlement>, again: boolean) {
    const written = new Set(yield* repo.settle(queue, token, settlements))
    const lost = settlements.filter(({ id }) => !written.has(id)).map(({ id }) => id)
    if (lost.length > 0) {
      yield* Effect.logWarning(`${again ? writtenOrLost : leaseLost}: ${lost.join(", ")}`)
    }
    return settlements.filter(({ id }) => written.has(id))
  })

  const persistently = (
    settlements: ReadonlyArray<Settlement>,
    refused: (defect: unknown) => Effect.Effect<ReadonlyArray<Settlement>>,
    again = false
  ): Effect.Effect<ReadonlyArray<Settlement>> =>
    Effect.catchDefect(write(settlements, again), (defect) =>
      isTransient(defect)
        ? Effect.logWarning("ends of jobs could not be written yet", defect).pipe(
          Effect.andThen(Effect.sleep(pause)),
          Effect.andThen(Effect.suspend(() => persistently(settlements, refused, true)))
        )
        : refused(defect))

  const alone = (settlement: Settlement) =>
    persistently([settlement], (defect) =>
      Effect.andThen(
        Effect.logWarning(`the end of job ${settlement.id} was refused`, defect),
        persistently([unwritable(settlement)], () => Effect.succeed([]))
      ))

  return (settlements: ReadonlyArray<Settlement>): Effect.Effect<ReadonlyArray<Settlement>> =>
    persistently(settlements, () => Effect.map(Effect.forEach(settlements, alone), (all) => all.flat()))
})

interface Held {
  readonly job: ClaimedJob
  readonly fiber: Fiber.Fiber<void>
}

const keepLeases = (lose: Effect.Effect<ReadonlyArray<Held>>, leaseMs: number) => {
  const drop = Effect.fnUntraced(function*(lost: ReadonlyArray<Held>) {
    if (lost.length === 0) return
    yield* Effect.logWarning(`jobs lost to another worker: ${lost.map(({ job }) => job.id).join(", ")}`)
    yield* Fiber.interruptAll(lost.map(({ fiber }) => fiber))
  })
  return Effect.flatMap(lose, drop).pipe(
    Effect.catchDefect((defect) => Effect.logWarning("leases of jobs could not be extended", defect)),
    Effect.delay(Math.max(1, Math.floor(leaseMs / 3))),
    Effect.forever
  )
}

const extendAll = Effect.fnUntraced(
  function*(repo: JobQueueRepo["Service"], token: string, held: Map<string, Held>, leaseMs: number) {
    const ids = [...held.keys()]
    const ours = new Set(ids.length === 0 ? [] : yield* repo.extend(token, ids, leaseMs))
    const lost = ids.flatMap((id) => ours.has(id) ? [] : held.get(id) ?? [])
    for (const { job } of lost) held.delete(job.id)
    return lost
  }
)

type Counts = Record<"processed" | "failed" | "retried" | "released", number>

const countOf = ({ counted, status }: Settlement): keyof Counts =>
  status === "succeeded" ? "processed" : status === "failed" ? "failed" : counted ? "retried" : "released"

/**
 * Runs claimed jobs with limited concurrency, writes results in batches and extends leases. `latch` opens whenever a
 * job ends. Jobs are children of the claiming fiber.
 */
export const makeJobWorker = Effect.fnUntraced(function*(
  queue: string,
  token: string,
  latch: Latch.Latch,
  mayRun: () => boolean = () => true
) {
  const repo = yield* JobQueueRepo
  const write = yield* settlementWriter(queue, token)
  const runs = yield* TaskRuns
  const { concurrency, drainMs, leaseMs } = yield* JobSettings
  const permits = yield* Semaphore.make(concurrency)
  // In turns: two statements that lock many rows in different orders could deadlock.
  const inTurn = (yield* Semaphore.make(1)).withPermits(1)
  const held = new Map<string, Held>()
  const counts: Counts = { processed: 0, failed: 0, retried: 0, released: 0 }
  let ended: Array<Settlement> = []

  const toItsEnd = (job: ClaimedJob) =>
    Effect.map(runs.run(job), (settlement) => {
      ended.push(settlement)
      latch.openUnsafe()
    })
  const work = (job: ClaimedJob) => permits.withPermits(1)(Effect.suspend(() => mayRun() ? toItsEnd(job) : Effect.void))

  const take = Effect.fnUntraced(function*(jobs: ReadonlyArray<ClaimedJob>) {
    for (const job of jobs) {
      held.set(job.id, { job, fiber: yield* Effect.forkChild(work(job), { startImmediately: true }) })
    }
  })

  const settle = Effect.suspend(() => {
    if (ended.length === 0) return Effect.void
    const settlements = ended.filter(({ id }) => held.has(id))
    ended = []
    const writing = Effect.map(write(settlements), (written) => {
      for (const { id } of settlements) held.delete(id)
      for (const one of written) counts[countOf(one)]++
    })
    const keep = Effect.sync(() => {
      ended.push(...settlements)
    })
    return settlements.length === 0 ? Effect.void : Effect.onInterrupt(inTurn(writing), () => keep)
  })

  const finish = Effect.gen(function*() {
    while (held.size > 0) {
      latch.closeUnsafe()
      yield* settle
      if (held.size > 0 && ended.length === 0) yield* latch.await
    }
  })

  const stop = Effect.suspend(() => Fiber.interruptAll([...held.values()].map(({ fiber }) => fiber)))

  /** Interrupts running jobs and releases them; the try does not count. */
  const release = Effect.gen(function*() {
    const left = [...held.values()]
    yield* stop
    const over = new Set(ended.map(({ id }) => id))
    ended.push(...left.filter(({ job }) => !over.has(job.id)).map(({ job }) => released(job)))
    yield* settle
  })

  return {
    take,
    settle,
    finish,
    stop,
    release,
    beat: keepLeases(inTurn(extendAll(repo, token, held, leaseMs)), leaseMs),
    drain: Effect.timeoutOption(finish, drainMs).pipe(Effect.andThen(release)),
    size: () => held.size,
    hasEnded: () => ended.length > 0,
    running: () => held.size - ended.length,
    counts: (): Counts => counts
  }
})

export const now = Clock.currentTimeMillis
