import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  defaultRates,
  type RateLimit,
  type RateLimits,
  rateLimitValues,
  type Standing
} from "../../src/domain/platform/ratelimits/RateLimits.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { makeRateLimits } from "../../src/layers/ratelimits/RateLimiter.ts"
import { RateLimitRepo } from "../../src/layers/ratelimits/RateLimitRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"

const perMinute = (subject: string, limit: number): RateLimit => ({
  bucket: "api",
  subject,
  limit,
  windowMs: 60_000,
  enforced: true
})

const admittedOf = (standings: ReadonlyArray<Standing>) => standings.filter(({ admitted }) => admitted).length

/** So many requests at once, dealt out to processes in turn. */
const rush = (processes: ReadonlyArray<RateLimits["Service"]>, count: number, limit: RateLimit) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: count }, (_, index) => processes[index % processes.length]),
      (process) => process === undefined ? Effect.die("no process") : process.admit(limit),
      { concurrency: "unbounded" }
    ),
    admittedOf
  )

/** The same, one after the other. */
const oneByOne = (process: RateLimits["Service"], count: number, limit: RateLimit) =>
  Effect.map(Effect.forEach(Array.from({ length: count }), () => process.admit(limit)), admittedOf)

const connectionLost = new SqlError.SqlError({
  reason: new SqlError.UnknownError({ cause: new Error("away"), message: "away", operation: "execute" })
})

/** Counters in memory that a test can make fail or hang, and that count the statements. */
const scriptedStore = () => {
  const sums = new Map<string, number>()
  const store = { state: "there" as "there" | "away" | "silent", statements: 0 }
  const repo = RateLimitRepo.of({
    add: (increments) =>
      Effect.suspend(() => {
        store.statements++
        if (store.state === "away") return Effect.fail(connectionLost)
        if (store.state === "silent") return Effect.never
        return Effect.succeed(increments.map(({ count, ends, key }) => {
          const sum = (sums.get(`${ends} ${key}`) ?? 0) + count
          sums.set(`${ends} ${key}`, sum)
          return sum
        }))
      }),
    purge: () => Effect.succeed(0)
  })
  return { store, process: (capacity = 1_000) => Effect.provideService(makeRateLimits(capacity), RateLimitRepo, repo) }
}

layer(RateLimitRepo.layer.pipe(Layer.provideMerge(TestDatabase)))("processes of one deployment", (it) => {
  for (const [limit, requests] of [[5, 60], [10, 60], [100, 400], [6_000, 8_000]] as const) {
    it.effect(`admit ${limit} of ${requests} concurrent requests together, and at most 20 % more`, () =>
      Effect.gen(function*() {
        const processes = yield* Effect.all(Array.from({ length: 4 }, () => makeRateLimits(100)))
        const admitted = yield* rush(processes, requests, perMinute(`at once ${limit}`, limit))
        assert.isAtLeast(admitted, limit)
        assert.isAtMost(admitted, limit < 50 ? limit : limit * 1.2)
      }))
  }

  it.effect("count each other's requests when these come one by one", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* makeRateLimits(100), yield* makeRateLimits(100)]
      for (const [limit, most] of [[perMinute("ten", 10), 10], [perMinute("hundred", 100), 104]] as const) {
        const admitted = (yield* oneByOne(first, limit.limit * 0.6, limit)) + (yield* oneByOne(second, 100, limit))
        assert.isAtLeast(admitted, limit.limit)
        assert.isAtMost(admitted, most)
      }
    }))

  it.effect("count concurrent requests of many subjects in few statements, and purge ended windows", () =>
    Effect.gen(function*() {
      const [sql, repo] = [yield* SqlClient.SqlClient, yield* RateLimitRepo]
      const process = yield* makeRateLimits(1_000)
      yield* sql`truncate rate_limit_counters`
      yield* Effect.forEach(
        Array.from({ length: 500 }, (_, index) => perMinute(`many ${index}`, 10)),
        (limit) => process.admit(limit),
        { concurrency: "unbounded" }
      )
      const rows = Effect.map(
        sql<
          { rows: number; writers: number }
        >`select count(*)::int4 as rows, count(distinct xmin::text)::int4 as writers
          from rate_limit_counters where key like 'api:many %'`,
        ([found]) => found
      )
      const { rows: counted, writers } = (yield* rows) ?? { rows: 0, writers: 500 }
      assert.strictEqual(counted, 500)
      assert.isAtMost(writers, 5)
      yield* sql`update rate_limit_counters set ends_at = now() - interval '2 minutes' where key like 'api:many %'`
      assert.deepStrictEqual([yield* repo.purge(300), yield* repo.purge(300), yield* repo.purge(300)], [300, 200, 0])
    }))
})

describe("a process", () => {
  it.effect("counts down, refuses when nothing is left, and starts again with the next window", () =>
    Effect.gen(function*() {
      const process = yield* scriptedStore().process()
      const limit = perMinute("down", 3)
      const seen = yield* Effect.forEach(Array.from({ length: 5 }), () => process.admit(limit))
      assert.deepStrictEqual(seen.map(({ remaining }) => remaining), [2, 1, 0, 0, 0])
      assert.deepStrictEqual(seen.map(({ admitted }) => admitted), [true, true, true, false, false])
      const resets = new Set(seen.map(({ resetsAt }) => resetsAt))
      assert.strictEqual(resets.size, 1)
      const left = seen[0]?.resetsInMs ?? 0
      assert.isTrue(left > 0 && left <= 60_000, String(left))
      yield* TestClock.adjust(left - 1)
      assert.isFalse((yield* process.admit(limit)).admitted)
      yield* TestClock.adjust(1)
      assert.deepInclude(yield* process.admit(limit), { admitted: true, remaining: 2 })
    }))

  it.effect("reports requests of a large limit in few statements", () =>
    Effect.gen(function*() {
      const { process, store } = scriptedStore()
      const limits = yield* process()
      assert.strictEqual(yield* oneByOne(limits, 10_000, perMinute("busy", 100_000)), 10_000)
      assert.isAtMost(store.statements, 10)
    }))

  it.effect("sends no statement for a subject whose limit is used up", () =>
    Effect.gen(function*() {
      const { process, store } = scriptedStore()
      const limits = yield* process()
      const limit = perMinute("spent", 10)
      yield* oneByOne(limits, 20, limit)
      const asked = store.statements
      assert.strictEqual(yield* oneByOne(limits, 1_000, limit), 0)
      assert.strictEqual(store.statements, asked)
    }))

  it.effect("reports the tightest of several limits, and counts none after the one that refuses", () =>
    Effect.gen(function*() {
      const process = yield* scriptedStore().process()
      const [wide, narrow, last] = [perMinute("wide", 10), perMinute("narrow", 2), perMinute("last", 10)]
      assert.deepInclude(yield* process.admit(wide, narrow, last), { limit: 2, remaining: 1 })
      yield* process.admit(wide, narrow, last)
      assert.deepInclude(yield* process.admit(wide, narrow, last), { admitted: false, limit: 2, remaining: 0 })
      assert.strictEqual((yield* process.standing(wide)).remaining, 7)
      assert.strictEqual((yield* process.standing(last)).remaining, 8)
    }))

  it.effect("counts alone while the database is away, and reports its requests when it is back", () =>
    Effect.gen(function*() {
      const { process, store } = scriptedStore()
      const [first, second] = [yield* process(), yield* process()]
      const limit = perMinute("outage", 100)
      store.state = "away"
      assert.strictEqual(yield* oneByOne(first, 150, limit), 100, "as much as the limit, and no more")
      assert.strictEqual(yield* oneByOne(second, 40, limit), 40)
      store.state = "there"
      yield* TestClock.adjust("1 seconds")
      yield* Effect.forEach([first, second], (one) => one.admit(limit))
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* oneByOne(first, 20, limit), 0)
      assert.strictEqual(yield* oneByOne(second, 20, limit), 0, "the first one's requests were reported")
      assert.strictEqual(yield* oneByOne(second, 20, perMinute("after the outage", 100)), 20)
    }))

  it.effect("keeps a request waiting for a silent database for at most a quarter of a second", () =>
    Effect.gen(function*() {
      const { process, store } = scriptedStore()
      const limits = yield* process()
      store.state = "silent"
      const waiting = yield* Effect.forkChild(limits.admit(perMinute("silence", 5)))
      yield* TestClock.adjust("249 millis")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isDefined(waiting.pollUnsafe())
      assert.strictEqual(yield* oneByOne(limits, 10, perMinute("silence", 5)), 4, "the next requests do not wait")
    }))

  it.effect("drops its oldest counter when there are too many, without giving its subject a new start", () =>
    Effect.gen(function*() {
      const limits = yield* scriptedStore().process(50)
      const greedy = perMinute("greedy", 10)
      assert.strictEqual(yield* oneByOne(limits, 11, greedy), 10)
      yield* Effect.forEach(
        Array.from({ length: 200 }).keys(),
        (index) => limits.admit(perMinute(`crowd ${index}`, 10))
      )
      assert.strictEqual((yield* limits.standing(greedy)).remaining, 10, "the counter is gone")
      assert.strictEqual(yield* oneByOne(limits, 5, greedy), 0)
    }))
})

describe("the factor", () => {
  it("multiplies every limit but the one by e-mail address", () => {
    const tenfold = rateLimitValues(defaultRates, 10)
    assert.deepStrictEqual(
      [tenfold.api.limit, tenfold.checkout.limit, tenfold.apiOfKey.limit, tenfold.signInPerEmail.limit],
      [1_000, 50, 60_000, 10]
    )
    assert.strictEqual(rateLimitValues(defaultRates, 0.001).checkout.limit, 1)
  })

  it.effect("of 0 refuses no request, keeps reporting the limits, and leaves the one by e-mail address in force", () =>
    Effect.gen(function*() {
      const process = yield* scriptedStore().process()
      const { api, signInPerEmail } = rateLimitValues(defaultRates, 0)
      assert.strictEqual(yield* oneByOne(process, 500, { bucket: "api", subject: "s", ...api }), 500)
      assert.deepInclude(yield* process.standing({ bucket: "api", subject: "s", ...api }), {
        limit: 100,
        remaining: 100
      })
      assert.strictEqual(yield* oneByOne(process, 20, { bucket: "e", subject: "s", ...signInPerEmail }), 10)
    }))
})

describe("the settings", () => {
  const read = (deployment: DeploymentConfig, environment: Readonly<Record<string, string>>) =>
    readSettings({ ...deployment, auth: { requireEmailVerification: false } }).pipe(
      Effect.map(({ rateLimits }) => rateLimits),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment))
    )

  it.effect("are the documented ones in production, and elsewhere a thousand times as high but for the one by e-mail address", () =>
    Effect.gen(function*() {
      const limits = (values: Effect.Success<ReturnType<typeof read>>) =>
        Object.fromEntries(Object.entries(values).map(([name, { limit }]) => [name, limit]))
      assert.deepStrictEqual(limits(yield* read({}, { NODE_ENV: "production", STOA_AUTH_SECRET: "s".repeat(32) })), {
        ...defaultRates
      })
      const elsewhere = limits(yield* read({}, {}))
      assert.deepInclude(elsewhere, { api: 100_000, checkout: 5_000, apiOfKey: 6_000_000, signInPerEmail: 10 })
      const own = { rateLimits: { api: 7, signInPerEmail: 3 } }
      const multiplied = limits(
        yield* read(own, { NODE_ENV: "production", STOA_AUTH_SECRET: "s".repeat(32), STOA_RATE_LIMIT_FACTOR: "2" })
      )
      assert.deepInclude(multiplied, { api: 14, checkout: 10, signInPerEmail: 3 })
      const off = yield* read({}, { STOA_RATE_LIMIT_FACTOR: "0" })
      assert.deepStrictEqual([off.api.enforced, off.signInPerEmail.enforced], [false, true])
    }))

  it.effect("are refused at startup with a message that names a wrong one", () =>
    Effect.gen(function*() {
      const refusal = (deployment: DeploymentConfig, environment: Readonly<Record<string, string>>) =>
        Effect.map(Effect.flip(read(deployment, environment)), ({ message }) => message)
      for (const factor of ["-1", "many", "Infinity"]) {
        const message = yield* refusal({}, { STOA_RATE_LIMIT_FACTOR: factor })
        assert.include(message, `STOA_RATE_LIMIT_FACTOR="${factor}" is not allowed`)
      }
      assert.include(yield* refusal({ rateLimits: { checkout: 0 } }, {}), "rateLimits.checkout=\"0\" is not allowed")
      const times = yield* refusal({ server: { requestTimes: { headersMs: 0 } } }, {})
      assert.include(times, "server.requestTimes.headersMs=\"0\" is not allowed")
    }))
})
