import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { elsewhere, openElsewhere } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { at, testAppLayer } from "../support/TestApp.ts"
import {
  aMark,
  deployment,
  enqueue,
  failedJob,
  openGate,
  recordOf,
  type Run,
  run,
  runs,
  runsOf,
  runUntil,
  tryEnqueue,
  type Wish
} from "./TestTasks.ts"

const aQueue = () => `q-${newId()}`

const hasStatus = (id: string, status: string) => Effect.map(recordOf(id), (job) => job?.status === status)

/** Milliseconds between the end of each run and the beginning of the next. */
const pauses = (of: ReadonlyArray<Run>) => of.slice(1).map((one, nth) => one.began - (of[nth]?.ended ?? 0))

/** Runs that were under way at the same time. */
const overlaps = (of: ReadonlyArray<Run>) =>
  of.flatMap((one, nth) => of.slice(nth + 1).filter((other) => other.began < (one.ended ?? Infinity)))

/** Those of the marks whose jobs were run, in the order of their runs. */
const ranOf = (marks: ReadonlyArray<string>) => runs.filter(({ mark }) => marks.includes(mark)).map(({ mark }) => mark)

const withTasks = layer(testAppLayer(deployment), { excludeTestServices: true, timeout: "60 seconds" })

withTasks("what becomes of a job", (it) => {
  describe("a run", () => {
    it.effect("stores what the handler returns, whether an effect or a promise, and null for nothing", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const ids = yield* enqueue([
          { slug: "test/echo", input: { say: [1, { a: "b" }] }, options: { queue } },
          { slug: "test/promise", input: { say: "so" }, options: { queue } },
          { slug: "test/nothing", options: { queue } }
        ])
        yield* run(`queue=${queue}`)
        const records = yield* Effect.forEach(ids, recordOf)
        assert.deepStrictEqual(records.map((job) => [job?.status, job?.attempts, job?.output]), [
          ["succeeded", 1, { said: [1, { a: "b" }] }],
          ["succeeded", 1, { said: "so" }],
          ["succeeded", 1, null]
        ])
      }))

    it.effect("gives the handler its input, its try and the service's own rights in the job's organization", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const [queue, mark] = [aQueue(), aMark()]
        const [id = ""] = yield* enqueue([{ slug: "test/echo", input: { mark, n: 1 }, options: { queue } }], elsewhere)
        yield* run(`queue=${queue}`)
        const [only] = runsOf(mark)
        assert.deepStrictEqual(only?.call.input, { mark, n: 1 })
        assert.include(only?.call.job, { id, attemptNumber: 1, maxAttempts: 1 })
        assert.strictEqual(only?.call.ctx.organizationId, "org_other")
        assert.include(only?.actor, { organizationId: "org_other", role: "system", userId: "system:internal" })
        assert.deepStrictEqual(only?.actor?.permissions, ["*:*"])
      }))

    it.effect("fails with the text of whatever the handler ends by", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const ids = yield* enqueue([
          { slug: "test/echo", input: { fail: "It failed." }, options: { queue } },
          { slug: "test/echo", input: { throw: "It broke." }, options: { queue } },
          { slug: "test/promise", input: { fail: "It rejected." }, options: { queue } },
          { slug: "test/three-times", input: { giveUp: "It gave up." }, options: { queue } }
        ])
        assert.include((yield* run(`queue=${queue}`)).at("data"), { processed: 0, failed: 4, retried: 0 })
        const jobs = yield* Effect.forEach(ids, (id) => failedJob(id))
        assert.deepStrictEqual(jobs.map((job) => [at(job, "error"), at(job, "attempts")]), [
          ["It failed.", 1],
          ["It broke.", 1],
          ["It rejected.", 1],
          ["It gave up.", 1]
        ])
      }))

    it.effect("of a task that nobody knows fails without a try", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const [id = ""] = yield* enqueue([{ slug: "test/unknown", options: { queue } }])
        assert.include((yield* run(`queue=${queue}`)).at("data"), { processed: 0, failed: 1 })
        const job = yield* failedJob(id)
        assert.strictEqual(at(job, "error"), "Unknown task slug: test/unknown")
        assert.strictEqual(at(job, "attempts"), 0)
        assert.isString(at(job, "completedAt"))
      }))

    it.effect("that ends with what a database cannot hold does not hold up the queue", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const ids = yield* enqueue([
          { slug: "test/unstorable", options: { queue } },
          { slug: "test/character-0", options: { queue } },
          { slug: "test/echo", input: { say: "y" }, options: { queue } }
        ])
        yield* runUntil(
          "all to end",
          Effect.map(Effect.forEach(ids, recordOf), (all) =>
            all.every((job) => job?.status === "failed" || job?.status === "succeeded")),
          queue
        )
        assert.strictEqual((yield* recordOf(ids[2] ?? ""))?.status, "succeeded")
      }))

    it.effect("is done for the tasks of the service itself too", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const [id = ""] = yield* enqueue([{ slug: "jobs/reap-stale", options: { queue } }])
        yield* run(`queue=${queue}`)
        const job = yield* recordOf(id)
        assert.deepStrictEqual([job?.status, job?.output], ["succeeded", { reapedCount: 0 }])
      }))
  })

  describe("a job that fails", () => {
    it.effect("is tried as often as its task says, and then is failed with its last error", () =>
      Effect.gen(function*() {
        const [queue, mark] = [aQueue(), aMark()]
        const [id = ""] = yield* enqueue([{
          slug: "test/three-times",
          input: { mark, fail: "No." },
          options: { queue }
        }])
        yield* runUntil("the last try", failedJob(id), queue)
        assert.deepStrictEqual(runsOf(mark).map(({ call }) => [call.job.attemptNumber, call.job.maxAttempts]), [
          [1, 3],
          [2, 3],
          [3, 3]
        ])
        const job = yield* failedJob(id)
        assert.deepStrictEqual([at(job, "attempts"), at(job, "maxAttempts"), at(job, "error")], [3, 3, "No."])
      }))

    it.effect("succeeds with the try that does", () =>
      Effect.gen(function*() {
        const [queue, mark] = [aQueue(), aMark()]
        const input = { mark, failures: 2 }
        const [id = ""] = yield* enqueue([{ slug: "test/three-times", input, options: { queue } }])
        yield* runUntil("the third try", hasStatus(id, "succeeded"), queue)
        assert.deepStrictEqual([runsOf(mark).length, (yield* recordOf(id))?.attempts], [3, 3])
        assert.isUndefined(yield* failedJob(id))
      }))

    it.effect("is tried more or less often when the enqueue says so", () =>
      Effect.gen(function*() {
        const [queue, more, less] = [aQueue(), aMark(), aMark()]
        const ids = yield* enqueue([
          { slug: "test/three-times", input: { mark: more, fail: "No." }, options: { queue, maxAttempts: 4 } },
          { slug: "test/three-times", input: { mark: less, fail: "No." }, options: { queue, maxAttempts: 1 } }
        ])
        yield* runUntil(
          "both",
          Effect.map(Effect.forEach(ids, (id) => failedJob(id)), (all) => all.every(Boolean)),
          queue
        )
        assert.deepStrictEqual([runsOf(more).length, runsOf(less).length], [4, 1])
      }))

    it.effect("waits always as long, twice as long each time, or a second, by its policy", () =>
      Effect.gen(function*() {
        const [queue, fixed, doubled, plain] = [aQueue(), aMark(), aMark(), aMark()]
        const ids = yield* enqueue([
          { slug: "test/fixed", input: { mark: fixed, fail: "No." }, options: { queue } },
          { slug: "test/exponential", input: { mark: doubled, fail: "No." }, options: { queue } },
          { slug: "test/no-backoff", input: { mark: plain, fail: "No." }, options: { queue } }
        ])
        yield* runUntil(
          "all",
          Effect.map(Effect.forEach(ids, (id) => failedJob(id)), (all) => all.every(Boolean)),
          queue
        )
        const atLeast = (mark: string, expected: ReadonlyArray<number>) => {
          const waited = pauses(runsOf(mark))
          assert.strictEqual(waited.length, expected.length)
          // Two clocks of one machine take part, so a few milliseconds are nobody's fault.
          expected.forEach((least, nth) => assert.isAtLeast((waited[nth] ?? 0) + 10, least, `${mark} ${nth}`))
        }
        atLeast(fixed, [200, 200])
        atLeast(doubled, [100, 200, 400])
        atLeast(plain, [1_000])
      }))

    it.effect("is pending until its next try, which no run takes early", () =>
      Effect.gen(function*() {
        const [queue, mark] = [aQueue(), aMark()]
        const options = { queue, maxAttempts: 2 }
        const [id = ""] = yield* enqueue([{ slug: "test/no-backoff", input: { mark, fail: "No." }, options }])
        assert.include((yield* run(`queue=${queue}`)).at("data"), { processed: 0, failed: 0, retried: 1 })
        const job = yield* recordOf(id)
        assert.deepStrictEqual([job?.status, job?.attempts], ["pending", 1])
        assert.isAbove(job?.waitMs ?? 0, 0)
        assert.isAtMost(job?.waitMs ?? 0, 1_000)
        assert.include((yield* run(`queue=${queue}`)).at("data"), { processed: 0, failed: 0, retried: 0 })
        assert.strictEqual(runsOf(mark).length, 1)
      }))
  })

  describe("an enqueue", () => {
    it.effect("is refused for a blank organization, and for a number of tries or a delay that is none", () =>
      Effect.gen(function*() {
        for (
          const options of [
            { organizationId: "" },
            { organizationId: "   " },
            { organizationId: "\t" },
            { maxAttempts: 0 },
            { maxAttempts: 1.5 },
            { delayMs: -1 },
            { delayMs: Number.NaN }
          ]
        ) {
          const error = yield* Effect.flip(tryEnqueue([{ slug: "test/echo", options }]))
          assert.strictEqual(error.error.code, "VALIDATION_FAILED", JSON.stringify(options))
        }
      }))

    it.effect("takes its defaults from the task: queue, tries and key", () =>
      Effect.gen(function*() {
        const ids = yield* enqueue([
          { slug: "test/echo", options: { delayMs: 600_000 } },
          { slug: "test/own-queue", options: { delayMs: 600_000 } },
          { slug: "test/exclusive", input: { key: "k1" }, options: { delayMs: 600_000 } },
          { slug: "test/three-times", options: { delayMs: 600_000 } },
          { slug: "test/exclusive", input: { key: "k1" }, options: { concurrencyKey: "k2", delayMs: 600_000 } }
        ])
        const jobs = yield* Effect.forEach(ids, recordOf)
        assert.deepStrictEqual(jobs.map((job) => [job?.queue, job?.maxAttempts, job?.concurrencyKey, job?.attempts]), [
          ["default", 1, null, 0],
          ["own", 1, null, 0],
          ["default", 1, "k1", 0],
          ["default", 3, null, 0],
          ["default", 1, "k2", 0]
        ])
        assert.deepStrictEqual([...new Set(jobs.map((job) => job?.status))], ["pending"])
      }))

    it.effect("with a delay is not due before it", () =>
      Effect.gen(function*() {
        const [queue, mark] = [aQueue(), aMark()]
        const before = Date.now()
        const [id = ""] = yield* enqueue([{ slug: "test/echo", input: { mark }, options: { queue, delayMs: 500 } }])
        yield* runUntil("the delayed job", hasStatus(id, "succeeded"), queue)
        assert.isAtLeast((runsOf(mark)[0]?.began ?? 0) - before, 490)
      }))
  })

  describe("exclusive jobs", () => {
    /** Enqueues so that all wait at the same time, and runs the queue with four callers until all have ended. */
    const rush = Effect.fnUntraced(function*(wishes: ReadonlyArray<Wish & { readonly by?: typeof elsewhere }>) {
      const queue = aQueue()
      const ids: Array<string> = []
      for (const { by, ...wish } of wishes) ids.push(...(yield* enqueue([{ ...wish, options: { queue } }], by)))
      const ended = Effect.map(Effect.forEach(ids, recordOf), (all) => all.every((job) => job?.status === "succeeded"))
      yield* Effect.all(Array.from({ length: 4 }, () => runUntil("all to end", ended, queue)), { concurrency: 4 })
      return ids
    })

    it.effect("of one key never run at the same time, whatever their task, and lose no try to waiting", () =>
      Effect.gen(function*() {
        const key = newId()
        const marks = Array.from({ length: 10 }, aMark)
        const ids = yield* rush(
          marks.map((mark, nth) => ({
            slug: nth % 2 === 0 ? "test/exclusive" : "test/exclusive-too",
            input: { key, mark }
          }))
        )
        const all = runs.filter(({ mark }) => marks.includes(mark))
        assert.strictEqual(all.length, 10)
        assert.deepStrictEqual(overlaps(all), [])
        assert.deepStrictEqual([...new Set(all.map(({ call }) => call.job.attemptNumber))], [1])
        const records = yield* Effect.forEach(ids, recordOf)
        assert.deepStrictEqual([...new Set(records.map((job) => job?.attempts))], [1])
      }))

    it.effect("run oldest first", () =>
      Effect.gen(function*() {
        const key = newId()
        const marks = Array.from({ length: 5 }, aMark)
        yield* rush(marks.map((mark) => ({ slug: "test/exclusive", input: { key, mark } })))
        assert.deepStrictEqual(ranOf(marks), marks)
      }))

    it.effect("of another key, of another organization, and of tasks that exclude nobody do not wait", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const [queue, gate, key] = [aQueue(), aMark(), newId()]
        const blocked = { mark: aMark(), key, gate }
        const free = [aMark(), aMark(), aMark()]
        yield* enqueue([{ slug: "test/exclusive", input: blocked, options: { queue } }])
        const running = yield* Effect.forkChild(run(`queue=${queue}`))
        // Nobody else runs the queue now: whoever claims the job waits for its gate.
        yield* eventually("the first to run", Effect.sync(() => runsOf(blocked.mark).length === 1))
        yield* enqueue([
          { slug: "test/exclusive", input: { mark: free[0], key: newId() }, options: { queue } },
          { slug: "test/keyed", input: { mark: free[1], key }, options: { queue } }
        ])
        yield* enqueue([{ slug: "test/exclusive", input: { mark: free[2], key }, options: { queue } }], elsewhere)
        yield* runUntil("the others", Effect.sync(() => free.every((mark) => runsOf(mark).length === 1)), queue)
        assert.isUndefined(runsOf(blocked.mark)[0]?.ended)
        yield* openGate(gate)
        yield* runUntil("the first to end", Effect.sync(() => runsOf(blocked.mark)[0]?.ended !== undefined), queue)
        yield* Fiber.join(running)
      }))

    it.effect("that wait for one another do not keep others from a run's places", () =>
      Effect.gen(function*() {
        const [queue, key] = [aQueue(), newId()]
        const marks = Array.from({ length: 10 }, aMark)
        const other = aMark()
        for (const mark of marks) yield* enqueue([{ slug: "test/exclusive", input: { key, mark }, options: { queue } }])
        yield* enqueue([{ slug: "test/exclusive", input: { key: newId(), mark: other }, options: { queue } }])
        yield* run(`queue=${queue}&limit=10`)
        assert.strictEqual(runsOf(other).length, 1)
        assert.strictEqual(ranOf(marks)[0], marks[0])
      }))
  })

  describe("a superseding job", () => {
    const given = Effect.fnUntraced(
      function*(second: Wish["options"], by?: typeof elsewhere, slug = "test/superseding") {
        yield* openElsewhere
        const [queue, key] = [aQueue(), newId()]
        const marks = [aMark(), aMark()]
        yield* enqueue([{ slug: "test/superseding", input: { key, mark: marks[0] }, options: { queue } }])
        const wish = { slug, input: { key, mark: marks[1] }, options: { queue, ...second } }
        const [id = ""] = yield* enqueue([wish], by)
        yield* runUntil("the second", hasStatus(id, "succeeded"), queue)
        yield* run(`queue=${queue}`)
        return marks.map((mark) => runsOf(mark).length)
      }
    )

    it.effect("takes the place of the one that waits", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* given({}), [0, 1])
      }))

    it.effect("does not when the enqueue says so, and a task without the policy does when told to", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* given({ supersedes: false }), [1, 1])
        const [queue, key] = [aQueue(), newId()]
        const marks = [aMark(), aMark()]
        const wish = (mark: string | undefined, supersedes: boolean): Wish => ({
          slug: "test/exclusive",
          input: { key, mark },
          options: { queue, supersedes }
        })
        yield* enqueue([wish(marks[0], false)])
        yield* enqueue([wish(marks[1], true)])
        yield* runUntil("the second", Effect.sync(() => ranOf(marks).includes(marks[1] ?? "")), queue)
        yield* run(`queue=${queue}`)
        assert.deepStrictEqual(ranOf(marks), [marks[1]])
      }))

    it.effect("leaves another key, another organization and another task alone", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* given({ concurrencyKey: "another" }), [1, 1])
        assert.deepStrictEqual(yield* given({}, elsewhere), [1, 1])
        assert.deepStrictEqual(yield* given({ supersedes: true }, undefined, "test/exclusive-too"), [1, 1])
      }))

    it.effect("leaves one that has been run and one that failed as they are", () =>
      Effect.gen(function*() {
        const [queue, key] = [aQueue(), newId()]
        const [id = ""] = yield* enqueue([{
          slug: "test/superseding",
          input: { key, fail: "No." },
          options: { queue }
        }])
        yield* run(`queue=${queue}`)
        yield* enqueue([{ slug: "test/superseding", input: { key }, options: { queue } }])
        assert.strictEqual(at(yield* failedJob(id), "error"), "No.")
      }))
  })
})
