import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { runWorkerSlot } from "../../src/layers/jobs/WorkerSlot.ts"
import { WorkerSlotRepo } from "../../src/layers/jobs/WorkerSlotRepo.ts"
import { lineTo } from "../support/DatabaseLine.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { countOf, enqueue, queueLayer, rowOf, until } from "./Queue.ts"

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
let tidyUp: (() => void) | undefined
const obedient = defineTask({
  slug: "test/obedient",
  retries: { attempts: 3 },
  handler: ({ ctx, job }) =>
    new Promise((resolve) => {
      begun.add(job.id)
      ctx.signal.addEventListener("abort", () => {
        tidyUp = () => resolve()
      })
    })
})

/**
 * Statements that write ends of jobs and wait for a row, and when they began. PostgreSQL shows a transaction the same
 * activity from its first look to its end, unless its snapshot is cleared.
 */
const settling = (sql: SqlClient.SqlClient) =>
  Effect.andThen(
    sql`select pg_stat_clear_snapshot()`,
    sql<{ pid: number; at: string }>`select pid, query_start::text as at from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like 'with t as (select%'`
  )

const settings = { pollMs: 50, leaseMs: 3_000, drainMs: 200, concurrency: 5 }
const unhurried = { ...settings, leaseMs: 60_000, drainMs: 60_000 }

/** A slot that works on the queue until it is stopped. */
const aSlot = Effect.gen(function*() {
  open = yield* Deferred.make<void>()
  let mine = true
  const fiber = yield* Effect.forkChild(
    runWorkerSlot({ queue: "default", slot: `default/${newId()}`, token: newId(), mine: () => mine })
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

/** A slot and a job that it runs. */
const atWork = Effect.fnUntraced(function*(task: string) {
  const slot = yield* aSlot
  const id = yield* enqueue(task)
  yield* until("the job to have begun", () => begun.has(id))
  return { id, slot }
})

const removeJobs = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`delete from commerce_jobs`)

it.layer(queueLayer({ tasks: [waits, quick, obedient], settings }), { excludeTestServices: true })("a slot", (it) => {
  for (const how of ["does not end in time", "is interrupted"] as const) {
    it.effect(`a slot releases a job that ${how}, without a try`, () =>
      Effect.gen(function*() {
        const { id, slot } = yield* atWork("test/waits")
        yield* how === "is interrupted" ? Fiber.interrupt(slot.fiber) : slot.stop
        assert.isTrue(cutOff.has(id))
        const row = yield* rowOf(id)
        assert.deepStrictEqual([row.status, row.attempts], ["pending", 0])
        yield* removeJobs
      }))
  }

  it.effect("a slot releases the job of a promise when it has settled after its signal", () =>
    Effect.gen(function*() {
      const { id, slot } = yield* atWork("test/obedient")
      slot.tell()
      yield* until("its signal", () => tidyUp !== undefined)
      for (let look = 0; look < 10; look++) assert.strictEqual((yield* rowOf(id)).status, "processing")
      tidyUp?.()
      yield* Effect.repeat(rowOf(id), { until: ({ status }) => status === "pending" })
      yield* slot.stop
      yield* removeJobs
    }))

  it.effect("a slot does other jobs while slow ones run, and keeps their leases", () =>
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

  it.effect("a slot stops a job that another worker has taken from it, and drops its result", () =>
    Effect.gen(function*() {
      const { id, slot } = yield* atWork("test/waits")
      const sql = yield* SqlClient.SqlClient
      yield* sql`update commerce_jobs set lease_token = gen_random_uuid(), slot = 'other' where id = ${id}::uuid`
      yield* until("the handler to be cut off", () => cutOff.has(id))
      yield* slot.stop
      assert.strictEqual((yield* rowOf(id)).status, "processing")
    }))
})

// Signs of life wait for the row too, and an end for them: with leases so long there are none.
it.layer(queueLayer({ tasks: [waits], settings: unhurried }), { excludeTestServices: true })(
  "a slot with long leases",
  (it) => {
    it.effect("a slot that has to stop lets its jobs end", () =>
      Effect.gen(function*() {
        const { id, slot } = yield* atWork("test/waits")
        slot.tell()
        yield* Deferred.succeed(open, undefined)
        assert.strictEqual(yield* Fiber.join(slot.fiber), 1)
        const row = yield* rowOf(id)
        assert.deepStrictEqual([row.status, row.attempts, row.output], ["succeeded", 1, "done"])
      }))

    it.effect("a slot keeps a result when it has to stop before that is written", () =>
      Effect.gen(function*() {
        const { id, slot } = yield* atWork("test/waits")
        const sql = yield* SqlClient.SqlClient
        const stopping = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`select 1 from commerce_jobs where id = ${id}::uuid for update`
          yield* Deferred.succeed(open, undefined)
          const [settle] = yield* Effect.repeat(settling(sql), { until: (rows) => rows.length > 0 })
          const stopping = yield* Effect.forkDetach(Fiber.interrupt(slot.fiber), { startImmediately: true })
          // The statement was called back, and the next one waits for the row in its stead.
          yield* Effect.repeat(settling(sql), { until: (rows) => rows.some(({ at }) => at > (settle?.at ?? "")) })
          return stopping
        }))
        yield* Fiber.join(stopping)
        const row = yield* rowOf(id)
        assert.deepStrictEqual([row.status, row.attempts, row.output], ["succeeded", 1, "done"])
      }))
  }
)

/** Runs a slot on a database whose line can be cut. */
const overALine = Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const line = yield* lineTo(url)
  const clientOf = (of: string) => PgClient.layer({ url: Redacted.make(of), maxConnections: 10 }).pipe(Layer.orDie)
  const queue = yield* Layer.build(
    queueLayer({ tasks: [waits, quick], settings: { pollMs: 50 }, database: clientOf(line.url) })
  )
  return { line, queue, direct: yield* Layer.build(clientOf(url)) }
})

for (const lost of ["the statement", "only the answer"] as const) {
  it.live(`a slot whose database goes away in the middle of a settle writes it once: ${lost} is lost`, () =>
    Effect.gen(function*() {
      const { direct, line, queue } = yield* overALine
      const recorded: Array<string> = []
      const log = Logger.layer([Logger.make(({ message }) => {
        recorded.push(String(message))
      })])
      const slot = yield* aSlot.pipe(Effect.provideContext(queue), Effect.provide(log))
      const row = (id: string) => Effect.provideContext(rowOf(id), direct)
      const succeeded = (id: string) => Effect.repeat(row(id), { until: ({ status }) => status === "succeeded" })
      const id = yield* Effect.provideContext(enqueue("test/waits"), queue)
      yield* until("the job to have begun", () => begun.has(id))
      yield* Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`select 1 from commerce_jobs where id = ${id}::uuid for update`
          yield* Deferred.succeed(open, undefined)
          const [settle] = yield* Effect.repeat(settling(sql), { until: (rows) => rows.length > 0 })
          yield* line.cut
          if (lost === "the statement") yield* sql`select pg_terminate_backend(${settle?.pid ?? 0}::int4)`
        }))
        if (lost === "only the answer") yield* succeeded(id)
        yield* until("somebody to have tried again", () => line.refused() > 0)
        if (lost === "the statement") assert.strictEqual((yield* row(id)).status, "processing")
        yield* line.mend
        const { attempts, output } = yield* succeeded(id)
        assert.deepStrictEqual([attempts, output], [1, "done"])
        // It goes on. Another process enqueues: a connection that was refused is somebody's first error.
        const another = newId()
        yield* sql`insert into commerce_jobs (id, organization_id, task_slug)
          values (${another}::uuid, 'org_default', 'test/quick')`
        yield* succeeded(another)
        assert.strictEqual((yield* row(id)).attempts, 1)
        assert.strictEqual(yield* countOf("job_keys"), 0)
      }).pipe(Effect.provideContext(direct), Effect.ensuring(Effect.andThen(line.mend, Effect.ignore(slot.stop))))
      assert.strictEqual(yield* Fiber.join(slot.fiber), 2)
      // The repeat finds nothing to write, and does not say that a result was dropped which was not.
      assert.deepStrictEqual(
        recorded.filter((line) => line.startsWith("jobs ended")).map((line) => line.split(",")[0]),
        lost === "only the answer" ? ["jobs ended while the database was away"] : []
      )
    }))
}

let heldJobs = 0
const gate = Deferred.makeUnsafe<void>()
const held = defineTask({
  slug: "test/held",
  handler: () =>
    Effect.suspend(() => {
      heldJobs += 1
      return Deferred.await(gate)
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
    it.effect("a permanent queue has one slot while it has no jobs", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prepared(["default", "mail"]), { default: [0], mail: [0] })
      }))

    it.effect("a queue has all of its slots when one of them reports much work", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* prepared(["default", "mail"], ["mail"]), { default: [0], mail: [0, 1, 2, 3] })
      }))

    it.effect("a queue has all of its slots for an overdue job, and not for a new one", () =>
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

    it.effect("a queue that is not permanent has all of its slots while it has jobs", () =>
      Effect.gen(function*() {
        yield* enqueue("test/quick", {}, { queue: "rare" })
        assert.deepStrictEqual((yield* prepared(["default"]))["rare"], [0, 1, 2, 3])
      }))

    it.effect("a slot reports much work when it finds a job while it has another one, and not before", () =>
      Effect.gen(function*() {
        let [mine, said] = [true, 0]
        const busy = Effect.sync(() => {
          said += 1
        })
        const slot = yield* Effect.forkChild(
          runWorkerSlot({ queue: "hands", slot: "hands/0", token: newId(), mine: () => mine, busy })
        )
        yield* enqueue("test/held", { n: 1 }, { queue: "hands" })
        yield* until("the first job", () => heldJobs === 1)
        assert.strictEqual(said, 0)
        yield* enqueue("test/held", { n: 2 }, { queue: "hands" })
        yield* until("the second job", () => heldJobs === 2)
        assert.strictEqual(said, 1)
        yield* Deferred.succeed(gate, undefined)
        mine = false
        assert.strictEqual(yield* Fiber.join(slot), 2)
      }))
  }
)
