import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { everySafely } from "../../src/layers/ScheduledJobs.ts"

for (const [how, failure] of [["fails", Effect.fail("no database")], ["dies", Effect.die("no database")]] as const) {
  it.effect(`a scheduled job that ${how} runs again all the same`, () =>
    Effect.gen(function*() {
      let turns = 0
      const job = Effect.suspend(() => turns++ === 0 ? failure : Effect.succeed(1))
      const running = yield* Effect.forkChild(job.pipe(everySafely("test", "30 seconds")), {
        startImmediately: true
      })
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(turns, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(turns, 2)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(turns, 3)
      yield* Fiber.interrupt(running)
    }))
}
