import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Effect, Exit, Fiber, Latch, Metric, Scope } from "effect"
import * as Batcher from "../../src/domain/platform/batching/Batcher.ts"

/** A writer that records its batches and holds each one until the gate is open. */
const recorded = Effect.fnUntraced(
  function*({ maxSize = 100, open = true }: { readonly maxSize?: number; readonly open?: boolean }) {
    const gate = Latch.makeUnsafe(open)
    const batches: Array<ReadonlyArray<number>> = []
    const batcher = yield* Batcher.make<number, string, string>({
      name: "test",
      maxSize,
      write: (items) =>
        Effect.sync(() => batches.push(items)).pipe(
          Effect.andThen(gate.await),
          Effect.andThen(
            items.includes(13) ? Effect.fail("unlucky") : Effect.succeed(items.map((item) => `wrote ${item}`))
          )
        )
    })
    return { gate, batches, batcher }
  }
)

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** Lets every runnable fiber run until it waits. */
const settle = Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow, { discard: true })

describe("Batcher", () => {
  it.effect("writes a lone item at once", () =>
    Effect.gen(function*() {
      const { batcher, batches } = yield* recorded({})
      assert.strictEqual(yield* batcher.submit(1), "wrote 1")
      assert.strictEqual(yield* batcher.submit(2), "wrote 2")
      assert.deepStrictEqual(batches, [[1], [2]])
    }))

  it.effect("writes together what came while the previous batch was being written", () =>
    Effect.gen(function*() {
      const { batcher, batches, gate } = yield* recorded({ open: false })
      const first = yield* fork(batcher.submit(1))
      yield* settle
      const others = yield* Effect.forEach([2, 3, 4], (item) => fork(batcher.submit(item)))
      yield* settle
      assert.deepStrictEqual(batches, [[1]])
      yield* gate.open
      assert.strictEqual(yield* Fiber.join(first), "wrote 1")
      assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), ["wrote 2", "wrote 3", "wrote 4"])
      assert.deepStrictEqual(batches, [[1], [2, 3, 4]])
    }))

  it.effect("splits what waits into batches of the largest size, in order", () =>
    Effect.gen(function*() {
      const { batcher, batches } = yield* recorded({ maxSize: 2 })
      yield* Effect.forEach([1, 2, 3, 4, 5], batcher.submit, { concurrency: "unbounded" })
      assert.deepStrictEqual(batches.flat(), [1, 2, 3, 4, 5])
      assert.isTrue(batches.every((batch) => batch.length <= 2))
    }))

  it.effect("fails every item of a failed batch, counts it, and writes the next one", () =>
    Effect.gen(function*() {
      const { batcher } = yield* recorded({})
      const failures = Metric.withAttributes(Batcher.batchFailures, { batcher: "test" })
      const before = (yield* Metric.value(failures)).count
      const exits = yield* Effect.forEach([12, 13, 14], (item) => Effect.exit(batcher.submit(item)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(exits, [Exit.fail("unlucky"), Exit.fail("unlucky"), Exit.fail("unlucky")])
      assert.strictEqual((yield* Metric.value(failures)).count, before + 1)
      assert.strictEqual(yield* batcher.submit(15), "wrote 15")
    }))

  it.effect("survives a writer that dies or answers too little", () =>
    Effect.gen(function*() {
      const batcher = yield* Batcher.make<number, number, never>({
        name: "test",
        maxSize: 10,
        write: (items) => items.includes(1) ? Effect.die("broken") : Effect.succeed(items.includes(2) ? [] : items)
      })
      const exits = yield* Effect.forEach([1, 2], (item) => Effect.exit(batcher.submit(item)))
      assert.isTrue(exits.every((exit) => exit._tag === "Failure" && Cause.hasDies(exit.cause)))
      assert.strictEqual(yield* batcher.submit(3), 3)
    }))

  it.effect("does not write an item whose caller was interrupted while it waited for its turn", () =>
    Effect.gen(function*() {
      const { batcher, batches, gate } = yield* recorded({ open: false })
      const first = yield* fork(batcher.submit(1))
      yield* settle
      const [left, stayed] = [yield* fork(batcher.submit(2)), yield* fork(batcher.submit(3))]
      yield* Fiber.interrupt(left)
      yield* gate.open
      assert.strictEqual(yield* Fiber.join(first), "wrote 1")
      assert.strictEqual(yield* Fiber.join(stayed), "wrote 3")
      assert.deepStrictEqual(batches, [[1], [3]])
    }))

  it.effect("finishes a batch for the others when one of its callers is interrupted", () =>
    Effect.gen(function*() {
      const { batcher, batches, gate } = yield* recorded({ open: false })
      const callers = yield* Effect.forEach([1, 2], (item) => fork(batcher.submit(item)))
      yield* settle
      assert.deepStrictEqual(batches, [[1, 2]])
      const [left, stayed] = callers
      if (left === undefined || stayed === undefined) return assert.fail("no callers")
      yield* Fiber.interrupt(left)
      yield* gate.open
      assert.strictEqual(yield* Fiber.join(stayed), "wrote 2")
      assert.strictEqual(yield* batcher.submit(3), "wrote 3")
    }))

  it.effect("keeps nothing of a caller's context in its writes", () =>
    Effect.gen(function*() {
      const Colour = Context.Reference<string>("stoa/test/cluster/Colour", { defaultValue: () => "none" })
      const batcher = yield* Batcher.make<number, string, never>({
        name: "test",
        maxSize: 10,
        write: (items) => Effect.map(Colour, (colour) => items.map(() => colour))
      }).pipe(Effect.provideService(Colour, "builder"))
      assert.strictEqual(yield* Effect.provideService(batcher.submit(1), Colour, "caller"), "builder")
    }))

  it.effect("interrupts waiting callers when its scope closes, and later ones", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { batcher } = yield* Scope.provide(recorded({ open: false }), scope)
      const first = yield* fork(Effect.exit(batcher.submit(1)))
      yield* settle
      const second = yield* fork(Effect.exit(batcher.submit(2)))
      yield* settle
      yield* Scope.close(scope, Exit.void)
      const late = yield* Effect.exit(batcher.submit(3))
      for (const exit of [yield* Fiber.join(first), yield* Fiber.join(second), late]) {
        assert.isTrue(exit._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause))
      }
    }))
})
