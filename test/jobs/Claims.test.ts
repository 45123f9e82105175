import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import type { Job, ProcessingOrder, Settlement } from "../../src/domain/platform/jobs/Job.ts"
import { type Input, Jobs } from "../../src/domain/platform/jobs/Jobs.ts"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { JobClaimStatements } from "../../src/layers/jobs/JobClaimStatements.ts"
import { JobQueueRepo } from "../../src/layers/jobs/JobQueueRepo.ts"
import { waiting } from "../support/AtOnce.ts"
import { countOf, done, enqueue, queueLayer, rowOf, run } from "./Queue.ts"

const handler = () => Effect.void
const key = (input: Input) => String(input["key"])
const tasks = [
  defineTask({ slug: "test/a", handler, concurrency: { key } }),
  defineTask({ slug: "test/b", handler, concurrency: { key } }),
  defineTask({ slug: "test/newest", handler, concurrency: { key, supersedes: true, exclusive: false } }),
  defineTask({ slug: "test/plain", handler })
]

const oldest = { field: "createdAt" } as const

/** Processing orders, and in which they take five jobs. */
const orders: ReadonlyArray<readonly [string, ProcessingOrder, string]> = [
  ["oldest first", oldest, "0,1,2,3,4"],
  ["newest first", { field: "createdAt", direction: "desc" }, "4,3,2,1,0"],
  ["by task", { field: "taskSlug" }, "4,1,3,0,2"],
  ["most attempts first", { field: "attempts", direction: "desc" }, "1,0,2,3,4"],
  ["by the last change", { field: "updatedAt" }, "2,0,1,3,4"],
  [
    "by a comparator",
    (left: Job, right: Job) => Number(right.input["weight"]) - Number(left.input["weight"]),
    "3,0,1,2,4"
  ]
]

const claim = (queue: string, limit: number, token = newId()) => ({
  queue,
  limit,
  slot: "test",
  token,
  leaseMs: 60_000
})

const take = (queue: string, limit = 10, order: ProcessingOrder = oldest, token = newId(), from?: Date) =>
  Effect.flatMap(JobClaimStatements, (repo) => repo.take(claim(queue, limit, token), order, from))

const idsOf = ({ jobs }: { readonly jobs: ReadonlyArray<{ readonly id: string }> }) => jobs.map(({ id }) => id)

const settle = (queue: string, token: string, ...all: ReadonlyArray<Settlement>) =>
  Effect.flatMap(JobQueueRepo, (repo) => repo.settle(queue, token, all))

let queues = 0
const aQueue = () => `queue ${++queues}`

it.layer(queueLayer({ tasks }), { excludeTestServices: true })("a claim", (it) => {
  it.effect("a claim takes the oldest first, and none twice when many claim at once", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const jobs = yield* Jobs
      const options = { organizationId: "org_default", queue }
      const ids = yield* jobs.enqueueAll(
        Array.from({ length: 400 }, () => ({ task: "test/plain", input: {}, options }))
      )
      assert.deepStrictEqual(idsOf(yield* take(queue, 20)), ids.slice(0, 20))
      const claims = yield* Effect.forEach(Array.from({ length: 10 }), () => take(queue, 38), { concurrency: 10 })
      assert.sameMembers(claims.flatMap(idsOf), ids.slice(20))
    }))

  for (const [what, order, expected] of orders) {
    it.effect(`a claim takes jobs in the configured order: ${what}`, () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const sql = yield* SqlClient.SqlClient
        yield* (yield* JobClaimStatements).prepareOrder(order)
        const ids: Array<string> = []
        for (const [n, slug] of ["c", "b", "c", "b", "a"].entries()) {
          const id = yield* enqueue(slug, { weight: n === 3 ? 1 : 0 }, { queue })
          yield* sql`update commerce_jobs set attempts = ${n === 1 ? 2 : 0},
            updated_at = created_at - ${n === 2 ? 60 : 0}::int4 * interval '1 second' where id = ${id}::uuid`
          ids.push(id)
        }
        const taken = idsOf(yield* take(queue, 5, order)).map((id) => ids.indexOf(id))
        assert.strictEqual(taken.join(), expected)
      }))
  }

  it.effect("a claim starts behind the last one in the order of creation only: another order may want an older job next", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const [what, order] of orders) {
        const queue = aQueue()
        const old = yield* enqueue("test/plain", {}, { queue })
        yield* sql`update commerce_jobs set created_at = created_at - interval '1 hour' where id = ${old}::uuid`
        const young = yield* enqueue("test/plain", {}, { queue })
        const [{ from } = { from: new Date() }] = yield* sql<{ readonly from: Date }>`
          select created_at - interval '1 second' as from from commerce_jobs where id = ${young}::uuid`
        const taken = idsOf(yield* take(queue, 10, order, newId(), from))
        assert.sameMembers(taken, order === oldest ? [young] : [old, young], what)
      }
    }))

  it.effect("a claim takes one exclusive job of a key, of any task, and the next one when that has ended, oldest first", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const first = yield* enqueue("test/a", { key: "k" }, { queue })
      const second = yield* enqueue("test/b", { key: "k" }, { queue })
      const third = yield* enqueue("test/a", { key: "k" }, { queue })
      const other = yield* enqueue("test/a", { key: "other" }, { queue })
      const outsider = yield* enqueue("test/a", { key: "k" }, { queue, organizationId: "org_other" })
      const shared = yield* enqueue("test/newest", { key: "k" }, { queue })
      const token = newId()
      const taken = yield* take(queue, 10, oldest, token)
      assert.deepStrictEqual(idsOf(taken), [first, other, outsider, shared])
      assert.strictEqual(taken.parked, 2)
      assert.deepStrictEqual((yield* rowOf(second)).attempts, 0)
      assert.deepStrictEqual(idsOf(yield* take(queue)), [])
      // A failed try frees the key too.
      yield* settle(queue, token, done(first, { status: "pending", delayMs: 60_000, error: "no" }))
      assert.deepStrictEqual(idsOf(yield* take(queue, 10, oldest, token)), [second])
      yield* settle(queue, token, done(second), done(other), done(outsider), done(shared))
      assert.deepStrictEqual(idsOf(yield* take(queue, 10, oldest, token)), [third])
      yield* settle(queue, token, done(third))
      assert.strictEqual(yield* countOf("job_keys"), 0)
    }))

  it.effect("a key is never given to two of four workers at once", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const jobs = yield* Jobs
      const repo = yield* JobQueueRepo
      const options = { organizationId: "org_default", queue }
      yield* jobs.enqueueAll(
        Array.from({ length: 300 }, (_, n) => ({ task: "test/a", input: { key: `key ${n % 5}` }, options }))
      )
      const held = new Map<unknown, string>()
      const overlaps: Array<unknown> = []
      let left = 300
      const worker = Effect.gen(function*() {
        while (left > 0) {
          const token = newId()
          const { jobs } = yield* take(queue, 7, oldest, token)
          for (const { id, input } of jobs) {
            if (held.has(input["key"])) overlaps.push(input["key"])
            held.set(input["key"], id)
          }
          yield* repo.unpark
          for (const { input } of jobs) held.delete(input["key"])
          if (jobs.length === 0) continue
          const settled = yield* settle(queue, token, ...jobs.map(({ id }) => done(id)))
          left -= settled.length
        }
      })
      yield* Effect.all([worker, worker, worker, worker], { concurrency: 4 })
      assert.deepStrictEqual([overlaps, left], [[], 0])
    }))

  it.effect("a claim that waits for a key of jobs that end does not stop them, though it holds one of their rows", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const sql = yield* SqlClient.SqlClient
      for (const name of ["first", "second"]) yield* enqueue("test/a", { key: `${queue} ${name}` }, { queue })
      const token = newId()
      const ids = idsOf(yield* take(queue, 2, oldest, token))
      const [locked, free] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      // A claim that began before the job ran locks its row to look whether it is still pending.
      const claim = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`select 1 from commerce_jobs where id = ${ids[1] ?? ""}::uuid for update`
        yield* Deferred.succeed(locked, undefined)
        yield* Deferred.await(free)
        yield* sql`insert into job_keys (organization_id, concurrency_key, job_id)
          select organization_id, concurrency_key, ${newId()}::uuid from job_keys
          where job_id = any(${ids}::uuid[]) on conflict do nothing`
      })))
      yield* Deferred.await(locked)
      const ending = yield* Effect.forkChild(settle(queue, token, ...ids.map((id) => done(id))))
      yield* waiting(1)
      yield* Deferred.succeed(free, undefined)
      yield* Fiber.join(claim)
      assert.sameMembers(yield* Fiber.join(ending), ids)
    }))

  it.effect("equal keys of two organizations are separate: neither waits for the other, nor takes its turn", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const sql = yield* SqlClient.SqlClient
      const elsewhere = { queue, organizationId: "org_other" }
      const [theirs, waiting] = [
        yield* enqueue("test/a", { key: "shared" }, elsewhere),
        yield* enqueue("test/a", { key: "shared" }, elsewhere)
      ]
      const ours: Array<string> = []
      for (let n = 0; n < 3; n++) ours.push(yield* enqueue("test/a", { key: "shared" }, { queue }))
      const [first = "", second = "", third = ""] = ours
      const token = newId()
      assert.sameMembers(idsOf(yield* take(queue, 10, oldest, token)), [theirs, first])
      // The oldest that waits for this key waits elsewhere, for a key that is not free.
      yield* settle(queue, token, done(first))
      assert.deepStrictEqual(idsOf(yield* take(queue, 10, oldest, token)), [second])
      yield* sql`delete from job_keys where job_id = ${second}::uuid`
      assert.strictEqual(yield* (yield* JobQueueRepo).unpark, 1)
      assert.deepStrictEqual(idsOf(yield* take(queue, 10, oldest, token)), [third])
      assert.isTrue((yield* rowOf(waiting)).blocked)
      yield* sql`delete from job_keys`
      yield* sql`delete from commerce_jobs where queue = ${queue}`
    }))

  it.effect("a claim is lost with its lease: a worker that ends a job late writes nothing", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const sql = yield* SqlClient.SqlClient
      const repo = yield* JobQueueRepo
      const id = yield* enqueue("test/a", { key: "late" }, { queue, maxAttempts: 3 })
      const [slow, quick] = [newId(), newId()]
      yield* take(queue, 1, oldest, slow)
      yield* sql`update commerce_jobs set lease_until = now() - interval '1 second' where id = ${id}::uuid`
      assert.deepStrictEqual(yield* repo.reap, { pending: 1, failed: 0 })
      assert.deepStrictEqual(idsOf(yield* take(queue, 1, oldest, quick)), [id])
      assert.deepStrictEqual(yield* repo.extend(slow, [id], 60_000), [])
      assert.deepStrictEqual(yield* settle(queue, slow, done(id, { output: "1" })), [])
      assert.strictEqual(yield* countOf("job_keys"), 1)
      assert.deepStrictEqual(yield* settle(queue, quick, done(id, { output: "2" })), [id])
      const row = yield* rowOf(id)
      assert.deepStrictEqual([row.status, row.attempts, row.output], ["succeeded", 2, 2])
    }))

  it.effect("a claim counts as a try even when its worker dies, and the last one ends the job", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const sql = yield* SqlClient.SqlClient
      const repo = yield* JobQueueRepo
      const id = yield* enqueue("test/a", { key: "poison" }, { queue, maxAttempts: 2 })
      for (const expected of [{ pending: 1, failed: 0 }, { pending: 0, failed: 1 }]) {
        yield* take(queue)
        assert.deepStrictEqual(yield* repo.reap, { pending: 0, failed: 0 }, "while its lease lasts")
        yield* sql`update commerce_jobs set lease_until = now() - interval '1 second' where id = ${id}::uuid`
        assert.deepStrictEqual(yield* repo.reap, expected)
      }
      const { attempts, error, status } = yield* rowOf(id)
      assert.deepStrictEqual([status, attempts, error], ["failed", 2, "The process that ran it ended before it did."])
      assert.strictEqual(yield* countOf("job_keys"), 0)
    }))

  it.effect("the job of a slot is reclaimed for a new owner of the slot only", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const repo = yield* JobQueueRepo
      const token = newId()
      const claims = yield* JobClaimStatements
      const id = yield* enqueue("test/plain", {}, { queue, maxAttempts: 2 })
      yield* claims.take({ ...claim(queue, 1, token), slot: "q/7" }, oldest)
      // The owner of another slot lives.
      const other = yield* enqueue("test/plain", {}, { queue, maxAttempts: 2 })
      yield* claims.take({ ...claim(queue, 1), slot: "q/8" }, oldest)
      assert.deepStrictEqual(yield* repo.reclaimSlot("q/7", token), { pending: 0, failed: 0 })
      assert.deepStrictEqual(yield* repo.reclaimSlot("q/7", newId()), { pending: 1, failed: 0 })
      assert.strictEqual((yield* rowOf(other)).status, "processing")
      assert.deepStrictEqual(idsOf(yield* take(queue)), [id])
    }))
})

it.layer(queueLayer({ tasks }), { excludeTestServices: true })("a new job", (it) => {
  it.effect("a new job supersedes pending jobs of its task, organization and key, and no others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const newest = (key: string, options = {}) => enqueue("test/newest", { key }, options)
      const failed = yield* newest("k")
      yield* sql`update commerce_jobs set status = 'failed' where id = ${failed}::uuid`
      const [waiting, plain] = [yield* newest("k", { delayMs: 60_000 }), yield* enqueue("test/a", { key: "k" })]
      const kept = [
        failed,
        waiting,
        plain,
        yield* newest("other"),
        yield* newest("k", { organizationId: "org_other" }),
        yield* newest("k", { supersedes: false, queue: "kept" })
      ]
      const ids = Effect.map(sql<{ id: string }>`select id from commerce_jobs`, (rows) => rows.map(({ id }) => id))
      assert.sameMembers(yield* ids, kept)
      const last = yield* newest("k")
      assert.sameMembers(yield* ids, [...kept.filter((id) => id !== waiting && id !== kept.at(-1)), last])
      // The caller may ask for it, too.
      const instead = yield* enqueue("test/a", { key: "k" }, { supersedes: true })
      const left = yield* ids
      assert.deepStrictEqual([left.includes(plain), left.includes(instead), left.includes(last)], [false, true, true])
      yield* sql`delete from commerce_jobs`
    }))

  it.effect("a superseding job stays alone when twenty are enqueued at once, beside one that is being processed", () =>
    Effect.gen(function*() {
      const atWork = yield* enqueue("test/newest", { key: "x" })
      yield* take("default", 1)
      yield* Effect.forEach(Array.from({ length: 20 }), () => enqueue("test/newest", { key: "x" }), { concurrency: 20 })
      assert.strictEqual(yield* countOf("commerce_jobs"), 2)
      assert.strictEqual((yield* rowOf(atWork)).status, "processing")
    }))

  it.effect("a job behind ten of another key is done in the same run", () =>
    Effect.gen(function*() {
      for (let n = 0; n < 10; n++) yield* enqueue("test/a", { key: "same" }, { queue: "same key" })
      const other = yield* enqueue("test/a", { key: "another" }, { queue: "same key" })
      const counts = yield* run(10, "same key")
      assert.deepStrictEqual([counts.processed, counts.released], [2, 9])
      assert.strictEqual((yield* rowOf(other)).status, "succeeded")
    }))
})
