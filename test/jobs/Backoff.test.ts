import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { backoffAfter } from "../../src/domain/jobs/Backoff.ts"
import { defineTask, type Retries } from "../../src/domain/jobs/Task.ts"
import { enqueue, queueLayer, rowOf, run, timeHasCome } from "./Queue.ts"

const waits = (retries: Retries | undefined, random = 0.5) => [1, 2, 3, 4].map((n) => backoffAfter(retries, n, random))

describe("the wait before the next try", () => {
  it("doubles from 5 s: 5 s, 10 s, 20 s, 40 s", () => {
    const backoff = { type: "exponential", delay: 5_000 } as const
    assert.deepStrictEqual(waits({ attempts: 5, backoff }), [5_000, 10_000, 20_000, 40_000])
  })
  it("is always the same when it is fixed, and one second when the task says nothing", () => {
    assert.deepStrictEqual(waits({ attempts: 5, backoff: { type: "fixed", delay: 70 } }), [70, 70, 70, 70])
    assert.deepStrictEqual(waits({ attempts: 5 }), [1_000, 1_000, 1_000, 1_000])
    assert.deepStrictEqual(waits(undefined), [1_000, 1_000, 1_000, 1_000])
  })
  it("is never above its ceiling, spread or not", () => {
    const backoff = { type: "exponential", delay: 5_000, ceiling: 12_000, jitter: 0.5 } as const
    assert.deepStrictEqual(waits({ attempts: 5, backoff }, 1), [7_500, 12_000, 12_000, 12_000])
  })
  it("is spread by its jitter to both sides", () => {
    const backoff = { type: "fixed", delay: 1_000, jitter: 0.2 } as const
    assert.deepStrictEqual([0, 0.5, 1].map((random) => waits({ attempts: 2, backoff }, random)[0]), [800, 1_000, 1_200])
  })
  it("stays a number however many tries there were", () => {
    const backoff = { type: "exponential", delay: 1_000 } as const
    assert.strictEqual(backoffAfter({ attempts: 1e6, backoff }, 5_000, 0.5), 7 * 86_400_000)
  })
})

const failing = defineTask({
  slug: "test/failing",
  retries: { attempts: 4, backoff: { type: "exponential", delay: 5_000 } },
  handler: ({ job }) => Effect.fail(`try ${job.attemptNumber} of ${job.maxAttempts}`)
})

it.layer(queueLayer({ tasks: [failing] }), { excludeTestServices: true })("a task that fails", (it) => {
  it.effect("is tried after 5, 10 and 20 seconds, keeps its reason, and fails after its last try", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/failing")
      for (const [tries, wait] of [[1, 5], [2, 10], [3, 20]] as const) {
        assert.strictEqual((yield* run()).retried, 1)
        const row = yield* rowOf(id)
        assert.deepStrictEqual(
          [row.status, row.attempts, row.error, row.wait, row.completed],
          ["pending", tries, `try ${tries} of 4`, wait, false]
        )
        assert.strictEqual((yield* run()).retried, 0, "not before its time")
        yield* timeHasCome(id)
      }
      assert.strictEqual((yield* run()).failed, 1)
      const row = yield* rowOf(id)
      assert.deepStrictEqual([row.status, row.attempts, row.error], ["failed", 4, "try 4 of 4"])
    }))

  it.effect("has as many tries as its caller says", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/failing", {}, { maxAttempts: 1 })
      yield* run()
      assert.strictEqual((yield* rowOf(id)).status, "failed")
    }))
})
