import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/ids/Id.ts"
import { defineTask } from "../../src/domain/jobs/Task.ts"
import { workSlot } from "../../src/workflows/jobs/JobSlot.ts"
import { waitFor } from "../support/waitFor.ts"
import { enqueue, queueLayer, rowOf } from "./Queue.ts"

const begun = new Set<string>()
const cutOff = new Set<string>()
let open: Deferred.Deferred<void> = Deferred.makeUnsafe()

const waits = defineTask({
  slug: "test/waits",
  retries: { attempts: 3 },
  handler: ({ job }) =>
    Effect.suspend(() => {
      begun.add(job.id)
      return Effect.as(Deferred.await(open), { output: "done" })
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => cutOff.add(job.id))))
})
const quick = defineTask({ slug: "test/quick", handler: () => Effect.void })

const until = (what: string, check: () => boolean) => Effect.promise(() => waitFor(what, check))

const settings = { pollMs: 50, leaseMs: 300, drainMs: 200, concurrency: 5 }

/** A slot of the queue at work until it is told to stop. */
const aSlot = Effect.gen(function*() {
  open = yield* Deferred.make<void>()
  let mine = true
  const fiber = yield* Effect.forkChild(
    workSlot({ queue: "default", slot: `default/${newId()}`, token: newId(), mine: () => mine })
  )
  return {
    stop: Effect.suspend(() => {
      mine = false
      return Fiber.join(fiber)
    }),
    tell: () => {
      mine = false
    },
    fiber
  }
})

it.layer(queueLayer({ tasks: [waits, quick], settings }), { excludeTestServices: true })("a slot", (it) => {
  it.effect("that has to stop lets its jobs end", () =>
    Effect.gen(function*() {
      const slot = yield* aSlot
      const id = yield* enqueue("test/waits")
      yield* until("the job to have begun", () => begun.has(id))
      slot.tell()
      yield* Deferred.succeed(open, undefined)
      assert.strictEqual(yield* Fiber.join(slot.fiber), 1)
      const row = yield* rowOf(id)
      assert.deepStrictEqual([row.status, row.attempts, row.output], ["succeeded", 1, "done"])
    }))

  it.effect("gives back what does not end in time, without a try", () =>
    Effect.gen(function*() {
      const slot = yield* aSlot
      const id = yield* enqueue("test/waits")
      yield* until("the job to have begun", () => begun.has(id))
      yield* slot.stop
      assert.isTrue(cutOff.has(id))
      const row = yield* rowOf(id)
      assert.deepStrictEqual([row.status, row.attempts], ["pending", 0])
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from commerce_jobs`
    }))

  it.effect("that is interrupted gives back what it holds", () =>
    Effect.gen(function*() {
      const slot = yield* aSlot
      const id = yield* enqueue("test/waits")
      yield* until("the job to have begun", () => begun.has(id))
      yield* Fiber.interrupt(slot.fiber)
      const row = yield* rowOf(id)
      assert.deepStrictEqual([row.status, row.attempts], ["pending", 0])
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from commerce_jobs`
    }))

  it.effect("does other jobs while slow ones are at work, and keeps their leases", () =>
    Effect.gen(function*() {
      const slot = yield* aSlot
      const slow = [yield* enqueue("test/waits"), yield* enqueue("test/waits")]
      yield* until("the slow jobs to have begun", () => slow.every((id) => begun.has(id)))
      const sql = yield* SqlClient.SqlClient
      const lease = Effect.map(
        sql<{ at: Date }>`select min(lease_until) as at from commerce_jobs where status = 'processing'`,
        ([row]) => row?.at.getTime() ?? 0
      )
      const before = yield* lease
      const fast = yield* enqueue("test/quick")
      yield* Effect.repeat(rowOf(fast), { until: ({ status }) => status === "succeeded" })
      yield* Effect.repeat(lease, { until: (at) => at > before })
      yield* Deferred.succeed(open, undefined)
      yield* Effect.repeat(rowOf(slow[0] ?? ""), { until: ({ status }) => status === "succeeded" })
      yield* slot.stop
    }))

  it.effect("stops a job that somebody else has taken from it, and drops what it came to", () =>
    Effect.gen(function*() {
      const slot = yield* aSlot
      const id = yield* enqueue("test/waits")
      yield* until("the job to have begun", () => begun.has(id))
      const sql = yield* SqlClient.SqlClient
      yield* sql`update commerce_jobs set lease_token = gen_random_uuid(), slot = 'other' where id = ${id}::uuid`
      yield* until("the handler to be cut off", () => cutOff.has(id))
      yield* slot.stop
      assert.strictEqual((yield* rowOf(id)).status, "processing")
    }))
})
