import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { JobRecordRepo } from "../../src/domain/platform/jobs/JobRecordRepo.ts"
import type { Input } from "../../src/domain/platform/jobs/Jobs.ts"
import { defineTask, type Task } from "../../src/domain/platform/tasks/Task.ts"
import { JobClaimStatements } from "../../src/layers/jobs/JobClaimStatements.ts"
import { backoffAfter } from "../../src/layers/jobs/TaskRuns.ts"
import { runWorkerSlot } from "../../src/layers/jobs/WorkerSlot.ts"
import { countOf, enqueue, queueLayer, rowOf, run, until } from "./Queue.ts"

describe("the wait before the next try", () => {
  const [exponential, fixed] = [
    { type: "exponential", delay: 5_000 } as const,
    { type: "fixed", delay: 1_000 } as const
  ]
  for (
    const [what, backoff, random, expected] of [
      ["doubles when it is exponential", exponential, 0.5, [5_000, 10_000, 20_000, 40_000]],
      ["is always the same when it is fixed", { ...fixed, delay: 70 }, 0.5, [70, 70, 70, 70]],
      ["is one second by default", undefined, 0.5, [1_000, 1_000, 1_000, 1_000]],
      ["is at most its ceiling", { ...exponential, ceiling: 12_000, jitter: 0.5 }, 1, [7_500, 12_000, 12_000, 12_000]],
      ["is shorter by its jitter", { ...fixed, jitter: 0.2 }, 0, [800, 800, 800, 800]],
      ["is longer by its jitter", { ...fixed, jitter: 0.2 }, 1, [1_200, 1_200, 1_200, 1_200]]
    ] as const
  ) {
    it(`the wait ${what}`, () => {
      const retries = { attempts: 5, ...backoff && { backoff } }
      assert.deepStrictEqual([1, 2, 3, 4].map((n) => backoffAfter(retries, n, random)), [...expected])
    })
  }
  it("the wait stays a number after any number of tries", () => {
    assert.strictEqual(backoffAfter(undefined, 1, 0.5), 1_000)
    assert.strictEqual(backoffAfter({ attempts: 1e6, backoff: exponential }, 5_000, 0.5), 7 * 86_400_000)
  })
})

/** Which job was tried when, by the clock of the test. */
const tried: Array<{ readonly mark: unknown; readonly at: number }> = []

const triedAt = (mark: string, since: number) => tried.filter((one) => one.mark === mark).map(({ at }) => at - since)

/** A task whose jobs note their tries, and fail always or a number of times, by their input. */
const noting = (slug: string, policies: Partial<Task> = {}) =>
  defineTask({
    slug,
    handler: ({ input, job }) =>
      Effect.gen(function*() {
        tried.push({ mark: input["mark"], at: yield* Clock.currentTimeMillis })
        if (input["fails"] === true || job.attemptNumber <= Number(input["failures"] ?? 0)) {
          return yield* Effect.fail(`try ${job.attemptNumber} of ${job.maxAttempts}`)
        }
      }),
    ...policies
  })

const doubling = { attempts: 4, backoff: { type: "exponential", delay: 5_000 } } as const
const key = (input: Input) => String(input["key"])

/** Promises at work: how each is ended, and whether its signal was aborted. */
const promises = new Map<unknown, { readonly end: () => void; readonly signal: AbortSignal }>()

const tasks = [
  noting("test/doubling", { retries: doubling }),
  noting("test/fixed", { retries: { attempts: 3, backoff: { type: "fixed", delay: 70 } } }),
  noting("test/no-backoff", { retries: { attempts: 3 } }),
  noting("test/plain"),
  noting("test/exclusive", { retries: doubling, concurrency: { key } }),
  noting("test/newest", { retries: doubling, concurrency: { key, supersedes: true } }),
  defineTask({
    slug: "test/promise",
    timeLimitMs: 5_000,
    concurrency: { key },
    handler: ({ ctx, input }) =>
      new Promise((resolve) => {
        promises.set(input["mark"], { end: () => resolve(), signal: ctx.signal })
      })
  })
]

/** What a run of the queue came to: succeeded, failed, to be tried again. */
const outcome = (queue: string, limit = 10) =>
  Effect.map(run(limit, queue), ({ failed, processed, retried }) => [processed, failed, retried])

const nothing = [0, 0, 0]

const ended = (id: string) =>
  Effect.map(rowOf(id), ({ attempts, completed, error, status }) => [status, attempts, error, completed])

it.layer(queueLayer({ tasks }))("by the clock", (it) => {
  it.effect("a job is tried 5, 10 and 20 seconds after each failure, to the millisecond, and again after a retry", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/doubling", { mark: "doubling", fails: true }, { queue: "doubling" })
      const wholeSchedule = Effect.gen(function*() {
        assert.deepStrictEqual(yield* outcome("doubling"), [0, 0, 1])
        for (const [tries, wait] of [[1, 5_000], [2, 10_000], [3, 20_000]] as const) {
          assert.deepStrictEqual(yield* ended(id), ["pending", tries, `try ${tries} of 4`, false])
          yield* TestClock.adjust(wait - 1)
          assert.deepStrictEqual(yield* outcome("doubling"), nothing, "not before its time")
          yield* TestClock.adjust(1)
          assert.deepStrictEqual(yield* outcome("doubling"), tries === 3 ? [0, 1, 0] : [0, 0, 1])
        }
        assert.deepStrictEqual(yield* ended(id), ["failed", 4, "try 4 of 4", true])
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(yield* outcome("doubling"), nothing, "not once more")
      })
      const begun = yield* Clock.currentTimeMillis
      yield* wholeSchedule
      assert.deepStrictEqual(triedAt("doubling", begun), [0, 5_000, 15_000, 35_000])
      tried.length = 0
      const again = yield* Clock.currentTimeMillis
      const records = yield* JobRecordRepo
      yield* Effect.provideService(records.retry(id), CurrentActor, systemActor("org_default"))
      yield* wholeSchedule
      assert.deepStrictEqual(triedAt("doubling", again), [0, 5_000, 15_000, 35_000])
    }))

  it.effect("a job ends with the first try that succeeds", () =>
    Effect.gen(function*() {
      const queue = "third"
      const id = yield* enqueue("test/fixed", { mark: "third", failures: 2 }, { queue })
      for (const expected of [[0, 0, 1], [0, 0, 1], [1, 0, 0], nothing]) {
        assert.deepStrictEqual(yield* outcome(queue), expected)
        yield* TestClock.adjust(70)
      }
      assert.deepStrictEqual(yield* ended(id), ["succeeded", 3, null, true])
    }))

  it.effect("a fixed wait is always the same, a task without one waits a second, and the caller sets the tries", () =>
    Effect.gen(function*() {
      const begun = yield* Clock.currentTimeMillis
      const options = { queue: "fixed", maxAttempts: 4 }
      for (const mark of ["fixed", "no-backoff"]) yield* enqueue(`test/${mark}`, { mark, fails: true }, options)
      yield* enqueue("test/fixed", { mark: "once", fails: true }, { ...options, maxAttempts: 1 })
      for (let ms = 0; ms <= 3_500; ms += 10) {
        if (ms % 70 === 0 || ms % 1_000 === 0) yield* run(10, "fixed")
        yield* TestClock.adjust(10)
      }
      assert.deepStrictEqual(triedAt("fixed", begun), [0, 70, 140, 210])
      assert.deepStrictEqual(triedAt("no-backoff", begun), [0, 1_000, 2_000, 3_000])
      assert.deepStrictEqual(triedAt("once", begun), [0])
    }))

  it.effect("a delayed job is due at its time, and of those that are due the oldest goes first", () =>
    Effect.gen(function*() {
      const marks = () => tried.splice(0).map(({ mark }) => mark)
      const wishes = [["ten", 10_000], ["five", 5_000], ["none", 0]] as const
      const enqueueAll = (queue: string) =>
        Effect.forEach(wishes, ([mark, delayMs]) => enqueue("test/plain", { mark }, { queue, delayMs }))
      yield* enqueueAll("one by one")
      yield* enqueueAll("at once")
      yield* enqueueAll("one a claim")
      marks()
      for (const [wait, expected] of [[0, ["none"]], [4_999, []], [1, ["five"]], [4_999, []], [1, ["ten"]]] as const) {
        yield* TestClock.adjust(wait)
        yield* run(10, "one by one")
        assert.deepStrictEqual(marks(), [...expected])
      }
      yield* run(10, "at once")
      assert.deepStrictEqual(marks(), ["ten", "five", "none"])
      // More are due than a claim takes: those whose wait ended first, beside those that never waited.
      for (const _ of wishes) yield* run(1, "one a claim")
      assert.deepStrictEqual(marks(), ["five", "ten", "none"])
    }))

  it.effect("a fair claim leaves a job alone until its time, too", () =>
    Effect.gen(function*() {
      const repo = yield* JobClaimStatements
      const queue = "round"
      const id = yield* enqueue("test/plain", { mark: "round" }, { queue, delayMs: 5_000 })
      const round = Effect.map(
        repo.takeFairly({ queue, limit: 10, slot: "test", token: newId(), leaseMs: 60_000 }, "", []),
        ({ jobs }) => jobs.map((job) => job.id)
      )
      yield* TestClock.adjust(4_999)
      assert.deepStrictEqual(yield* round, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* round, [id])
    }))

  it.effect("a job that waits for another try leaves its key to others, and takes its turn as the oldest again", () =>
    Effect.gen(function*() {
      const [queue, begun] = ["exclusive", yield* Clock.currentTimeMillis]
      const wish = (mark: string, more: object = {}, delayMs = 0) =>
        enqueue("test/exclusive", { key: "k", mark, ...more }, { queue, delayMs })
      yield* wish("first", { fails: true })
      yield* wish("second")
      yield* wish("third", {}, 5_000)
      assert.deepStrictEqual(yield* outcome(queue), [0, 0, 1])
      assert.deepStrictEqual(yield* outcome(queue), [1, 0, 0])
      yield* TestClock.adjust(4_999)
      assert.deepStrictEqual(yield* outcome(queue), nothing)
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* outcome(queue), [0, 0, 1], "the first, and the third waits for its end")
      assert.deepStrictEqual(yield* outcome(queue), [1, 0, 0])
      assert.deepStrictEqual(
        ["first", "second", "third"].map((mark) => triedAt(mark, begun)),
        [[0, 5_000], [0], [5_000]]
      )
    }))

  it.effect("a slot wakes for a job that waits, at its time", () =>
    Effect.gen(function*() {
      const begun = yield* Clock.currentTimeMillis
      let mine = true
      const slot = yield* Effect.forkChild(
        runWorkerSlot({ queue: "slot", slot: "slot/0", token: newId(), mine: () => mine })
      )
      const options = { queue: "slot", delayMs: 3_000, maxAttempts: 2 }
      const id = yield* enqueue("test/doubling", { mark: "slot", fails: true }, options)
      for (const [ms, attempts, status] of [[2_999, 1, "pending"], [4_999, 2, "failed"]] as const) {
        yield* TestClock.adjust(ms)
        // The slot looks at the clock when the database has answered, so the clock goes on while it does.
        const look = Effect.andThen(TestClock.adjust(1), rowOf(id))
        yield* Effect.repeat(look, { until: (row) => row.attempts === attempts && row.status === status })
      }
      const [first = 0, second = 0] = triedAt("slot", begun)
      assert.isTrue(first >= 3_000 && first < 4_000, `${first}`)
      assert.isTrue(second >= first + 5_000 && second < first + 6_000, `${second}`)
      mine = false
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => slot.pollUnsafe() !== undefined })
      assert.strictEqual(yield* Fiber.join(slot), 2)
    }))
})

it.layer(queueLayer({ tasks }))("a promise whose time is over", (it) => {
  const queue = "promises"

  /** Two jobs of a key, of which the first is being processed and gets the signal that its five seconds are over. */
  const tooLong = Effect.fnUntraced(function*(mark: string) {
    const first = yield* enqueue("test/promise", { key: mark, mark }, { queue })
    yield* enqueue("test/exclusive", { key: mark, mark: `after ${mark}` }, { queue })
    const running = yield* Effect.forkChild(run(10, queue))
    yield* until("the promise to begin", () => promises.has(mark))
    assert.isFalse(promises.get(mark)?.signal.aborted)
    yield* TestClock.adjust(5_000)
    yield* until("its signal", () => promises.get(mark)?.signal.aborted === true)
    assert.deepStrictEqual(yield* outcome(queue), nothing, "its key is taken")
    assert.strictEqual((yield* rowOf(first)).status, "processing")
    return { first, running }
  })

  const ends = Effect.fnUntraced(function*(first: string, mark: string) {
    const { error, status } = yield* rowOf(first)
    assert.deepStrictEqual([status, error], ["failed", "The task took longer than 5000 ms."])
    assert.deepStrictEqual(yield* outcome(queue), [1, 0, 0], "the next one of its key")
    assert.strictEqual(triedAt(`after ${mark}`, 0).length, 1)
    assert.strictEqual(yield* countOf("job_keys"), 0)
  })

  it.effect("a promise past its time limit keeps its job and key until it settles, and the try has failed", () =>
    Effect.gen(function*() {
      const { first, running } = yield* tooLong("obedient")
      promises.get("obedient")?.end()
      assert.strictEqual((yield* Fiber.join(running)).failed, 1)
      yield* ends(first, "obedient")
    }))

  it.effect("a promise that never settles loses its job and key half a minute after its time limit", () =>
    Effect.gen(function*() {
      const { first, running } = yield* tooLong("deaf")
      yield* TestClock.adjust(29_000)
      assert.deepStrictEqual(yield* outcome(queue), nothing, "its key is taken")
      assert.isUndefined(running.pollUnsafe())
      yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => running.pollUnsafe() !== undefined, times: 5 })
      assert.strictEqual((yield* Fiber.join(running)).failed, 1)
      yield* ends(first, "deaf")
    }))
})
