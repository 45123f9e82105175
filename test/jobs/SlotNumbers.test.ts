import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/ids/Id.ts"
import { defineTask } from "../../src/domain/jobs/Task.ts"
import { runWorkerSlot } from "../../src/layers/jobs/WorkerSlot.ts"
import { WorkerSlotRepo } from "../../src/layers/jobs/WorkerSlotRepo.ts"
import { enqueue, queueLayer, until } from "./Queue.ts"

let begun = 0
const open = Deferred.makeUnsafe<void>()
const quick = defineTask({ slug: "test/quick", handler: () => Effect.void })
const held = defineTask({
  slug: "test/held",
  handler: () =>
    Effect.suspend(() => {
      begun += 1
      return Deferred.await(open)
    })
})

/** The slots that each queue has after a look. */
const prepared = (standing: ReadonlyArray<string>, wide: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const slots = yield* WorkerSlotRepo
    yield* slots.prepare(standing, wide, 4)
    const found: Record<string, Array<number>> = {}
    for (const { queue, slot } of yield* slots.open) found[queue] = [...found[queue] ?? [], slot].sort()
    const sql = yield* SqlClient.SqlClient
    yield* sql`delete from worker_slots`
    return found
  })

const age = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`update commerce_jobs set created_at = created_at - interval '3 seconds', wait_until = wait_until - interval
        '3 seconds' where id = ${id}::uuid`
  )

it.layer(queueLayer({ tasks: [quick, held], settings: { pollMs: 20 } }), { excludeTestServices: true })(
  "a queue",
  (it) => {
    it.effect("that stands has one slot while it has nothing to do", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prepared(["default", "mail"]), { default: [0], mail: [0] })
      }))

    it.effect("has all of its slots once one of them says that it has much to do", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prepared(["default", "mail"], ["mail"]), { default: [0], mail: [0, 1, 2, 3] })
      }))

    it.effect("has all of them when a job waits that its first slot should have begun, and not for one that has just come", () =>
      Effect.gen(function*() {
        const [ready, later] = [
          yield* enqueue("test/quick"),
          yield* enqueue("test/quick", {}, { delayMs: 2_000, queue: "mail" })
        ]
        assert.deepStrictEqual(yield* prepared(["default", "mail"]), { default: [0], mail: [0] })
        yield* age(ready)
        assert.deepStrictEqual(yield* prepared(["default", "mail"]), { default: [0, 1, 2, 3], mail: [0] })
        yield* age(later)
        yield* age(later)
        assert.deepStrictEqual((yield* prepared(["default", "mail"]))["mail"], [0, 1, 2, 3])
      }))

    it.effect("that does not stand has all of them for as long as it has jobs", () =>
      Effect.gen(function*() {
        yield* enqueue("test/quick", {}, { queue: "rare" })
        assert.deepStrictEqual((yield* prepared(["default"]))["rare"], [0, 1, 2, 3])
      }))

    it.effect("is said to have much to do by a slot that finds a job while it has one in hand, and not before", () =>
      Effect.gen(function*() {
        let [mine, said] = [true, 0]
        const busy = Effect.sync(() => {
          said += 1
        })
        const slot = yield* Effect.forkChild(
          runWorkerSlot({ queue: "hands", slot: "hands/0", token: newId(), mine: () => mine, busy })
        )
        yield* enqueue("test/held", { n: 1 }, { queue: "hands" })
        yield* until("the first job", () => begun === 1)
        assert.strictEqual(said, 0)
        yield* enqueue("test/held", { n: 2 }, { queue: "hands" })
        yield* until("the second job", () => begun === 2)
        assert.strictEqual(said, 1)
        yield* Deferred.succeed(open, undefined)
        mine = false
        assert.strictEqual(yield* Fiber.join(slot), 2)
      }))
  }
)
