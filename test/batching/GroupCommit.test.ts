import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Batcher from "../../src/domain/platform/batching/Batcher.ts"
import * as GroupCommit from "../../src/domain/platform/batching/GroupCommitRepo.ts"

const detail = { cause: { code: "23514" }, message: "no" }
const constraint = new SqlError.SqlError({ reason: new SqlError.ConstraintError(detail) })
const lost = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ ...detail, operation: "query" }) })
const shutdown = new SqlError.SqlError({
  reason: new SqlError.UnknownError({ cause: { code: "57P01" }, message: "bye" })
})

/** Doubles numbers: 0 is left undone by the shared statement, a negative number makes the whole statement fail. */
const doubling = (failure: SqlError.SqlError) => {
  const alone: Array<number> = []
  const shared: Array<ReadonlyArray<number>> = []
  const make = GroupCommit.make<number, number>({
    name: "test",
    together: (items) =>
      Effect.suspend(() => {
        shared.push(items)
        return items.some((item) => item < 0)
          ? Effect.fail(failure)
          : Effect.succeed(items.map((item) => item === 0 ? undefined : item * 2))
      }),
    alone: (item) =>
      Effect.suspend(() => {
        alone.push(item)
        return item < 0 ? Effect.fail(failure) : Effect.succeed(item * 2)
      })
  })
  return { alone, shared, make }
}

const all = (run: (item: number) => Effect.Effect<number, SqlError.SqlError>, items: ReadonlyArray<number>) =>
  Effect.forEach(items, (item) => Effect.exit(run(item)), { concurrency: "unbounded" })

describe("group commit", () => {
  it.effect("runs waiting items in one statement", () =>
    Effect.gen(function*() {
      const { alone, make, shared } = doubling(constraint)
      assert.deepStrictEqual(yield* all(yield* make, [1, 2, 3]), [2, 4, 6].map((done) => Exit.succeed(done)))
      assert.deepStrictEqual([shared, alone], [[[1, 2, 3]], []])
    }))

  it.effect("runs an item alone that the shared statement skipped", () =>
    Effect.gen(function*() {
      const { alone, make } = doubling(constraint)
      assert.deepStrictEqual(yield* all(yield* make, [1, 0, 3]), [2, 0, 6].map((done) => Exit.succeed(done)))
      assert.deepStrictEqual(alone, [0])
    }))

  it.effect("fails only the item that the server refuses", () =>
    Effect.gen(function*() {
      const { make } = doubling(constraint)
      const exits = yield* all(yield* make, [1, -1, 3])
      assert.deepStrictEqual(exits, [Exit.succeed(2), Exit.fail(constraint), Exit.succeed(6)])
    }))

  for (const [name, failure] of [["its connection was lost", lost], ["the server cut it off", shutdown]] as const) {
    it.effect(`repeats nothing when ${name}, since it may have been committed`, () =>
      Effect.gen(function*() {
        const { alone, make } = doubling(failure)
        const exits = yield* all(yield* make, [1, -1])
        assert.deepStrictEqual(exits, [Exit.fail(failure), Exit.fail(failure)])
        assert.deepStrictEqual(alone, [])
      }))
  }

  it.effect("ends a statement that never returns, and continues with the next", () =>
    Effect.gen(function*() {
      const batcher = yield* Batcher.make<number, number, never>({
        name: "test",
        maxSize: 10,
        write: (items) => items.includes(13) ? Effect.never : Effect.succeed(items)
      })
      const stuck = yield* Effect.forkChild(Effect.exit(batcher.submit(13)), { startImmediately: true })
      yield* Effect.yieldNow
      const next = yield* Effect.forkChild(batcher.submit(1), { startImmediately: true })
      yield* TestClock.adjust("20 seconds")
      const exit = yield* Fiber.join(stuck)
      assert.isTrue(Exit.isFailure(exit) && Cause.isTimeoutError(Cause.squash(exit.cause)))
      assert.strictEqual(yield* Fiber.join(next), 1)
    }))
})
