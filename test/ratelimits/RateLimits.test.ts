import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { RateCounters } from "../../src/domain/ratelimits/RateCounter.ts"
import type { RateLimit, Standing } from "../../src/domain/ratelimits/RateLimit.ts"
import { RateLimitRepo, rateLimitRepoLayer, type StoreFailure } from "../../src/domain/ratelimits/RateLimitRepo.ts"
import { makeRateLimits, type RateLimits } from "../../src/domain/ratelimits/RateLimits.ts"
import { defaultRates, rateLimitValues } from "../../src/domain/ratelimits/RateLimitSettings.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
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

const lost: StoreFailure = new SqlError.SqlError({
  reason: new SqlError.UnknownError({ cause: new Error("away"), message: "away", operation: "execute" })
})

/** A store in memory that a test can take away, or let hang, and that counts the questions put to it. */
const scriptedStore = () => {
  const granted = new Map<string, number>()
  const store = { state: "there" as "there" | "away" | "silent", statements: 0, granted }
  const repo = RateLimitRepo.of({
    add: (questions) =>
      Effect.suspend(() => {
        store.statements++
        if (store.state === "away") return Effect.fail(lost)
        if (store.state === "silent") return Effect.never
        return Effect.succeed(questions.map(({ ends, key, wanted }) => {
          const before = granted.get(`${ends} ${key}`) ?? 0
          granted.set(`${ends} ${key}`, before + wanted)
          return before
        }))
      }),
    purge: () => Effect.succeed(0)
  })
  return { store, process: (room = 1_000) => Effect.provideService(makeRateLimits(room), RateLimitRepo, repo) }
}

layer(rateLimitRepoLayer.pipe(Layer.provideMerge(TestDatabase)))("processes of one deployment", (it) => {
  for (const [limit, requests] of [[5, 60], [10, 60], [100, 400], [6_000, 8_000]] as const) {
    it.effect(`together admit at most ${limit} of ${requests} requests at once`, () =>
      Effect.gen(function*() {
        const processes = yield* Effect.all([makeRateLimits(100), makeRateLimits(100), makeRateLimits(100)])
        const admitted = yield* rush(processes, requests, perMinute(`at once ${limit}`, limit))
        assert.isAtMost(admitted, limit)
        assert.isAtLeast(admitted, limit * 0.8, "what a process was granted ahead is little")
      }))
  }

  it.effect("know of each other's requests also when these come one by one", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* makeRateLimits(100), yield* makeRateLimits(100)]
      const limit = perMinute("one by one", 100)
      const admitted = (yield* oneByOne(first, 60, limit)) + (yield* oneByOne(second, 60, limit))
      assert.isAtMost(admitted, 100)
      assert.isAtLeast(admitted, 90, "what a process was granted ahead is little")
    }))

  it.effect("ask for many keys in one statement, and forget them when their time is over", () =>
    Effect.gen(function*() {
      const [sql, repo] = [yield* SqlClient.SqlClient, yield* RateLimitRepo]
      const process = yield* makeRateLimits(1_000)
      yield* sql`truncate rate_limit_counters`
      yield* Effect.forEach(
        Array.from({ length: 500 }, (_, index) => perMinute(`many ${index}`, 100)),
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
  it.effect("counts down, refuses when nothing is left, and begins anew with the next window", () =>
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

  it.effect("asks the store ahead of need: thousands of requests, a few statements", () =>
    Effect.gen(function*() {
      const { process, store } = scriptedStore()
      const limits = yield* process()
      assert.strictEqual(yield* oneByOne(limits, 10_000, perMinute("busy", 100_000)), 10_000)
      assert.isAtMost(store.statements, 5)
    }))

  it.effect("asks nothing more about a key that has nothing left", () =>
    Effect.gen(function*() {
      const { process, store } = scriptedStore()
      const limits = yield* process()
      const limit = perMinute("spent", 10)
      yield* oneByOne(limits, 20, limit)
      const asked = store.statements
      assert.strictEqual(yield* oneByOne(limits, 1_000, limit), 0)
      assert.strictEqual(store.statements, asked)
    }))

  it.effect("tells the tightest of several limits, and counts no further than the one that refuses", () =>
    Effect.gen(function*() {
      const process = yield* scriptedStore().process()
      const [wide, narrow, last] = [perMinute("wide", 10), perMinute("narrow", 2), perMinute("last", 10)]
      assert.deepInclude(yield* process.admit(wide, narrow, last), { limit: 2, remaining: 1 })
      yield* process.admit(wide, narrow, last)
      assert.deepInclude(yield* process.admit(wide, narrow, last), { admitted: false, limit: 2, remaining: 0 })
      assert.strictEqual((yield* process.standing(wide)).remaining, 7)
      assert.strictEqual((yield* process.standing(last)).remaining, 8)
    }))

  it.effect("goes on from its own memory while the store is away, and tells the store when it is back", () =>
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
      assert.strictEqual(yield* oneByOne(second, 20, limit), 0, "it is told what the first one admitted")
      assert.strictEqual(yield* oneByOne(second, 20, perMinute("after the outage", 100)), 20)
    }))

  it.effect("lets nobody wait for a silent store for longer than a quarter of a second", () =>
    Effect.gen(function*() {
      const { process, store } = scriptedStore()
      const limits = yield* process()
      store.state = "silent"
      const waiting = yield* Effect.forkChild(limits.admit(perMinute("silence", 5)))
      yield* TestClock.adjust("249 millis")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.isDefined(waiting.pollUnsafe())
      assert.strictEqual(yield* oneByOne(limits, 10, perMinute("silence", 5)), 4, "nobody else waits")
    }))

  it.effect("keeps a bounded number of counters, and whoever crowds his own out gains nothing", () =>
    Effect.gen(function*() {
      for (const state of ["there", "away"] as const) {
        const { process, store } = scriptedStore()
        const limits = yield* process(50)
        store.state = state
        const own = perMinute("greedy", 10)
        assert.strictEqual(yield* oneByOne(limits, 11, own), 10)
        yield* Effect.forEach(
          Array.from({ length: 5_000 }),
          (_, index) => limits.admit(perMinute(`crowd ${index}`, 10))
        )
        assert.strictEqual(yield* oneByOne(limits, 5, own), 0, `the store is ${state}`)
      }
    }))
})

describe("the counters of a process", () => {
  it("are never more than their room and the shared ones, and make room when windows end", () => {
    const counters = new RateCounters(100)
    for (let index = 0; index < 20_000; index++) {
      const counter = counters.of(perMinute(`visitor ${index}`, 10), 0)
      counter.used++
    }
    assert.isAtMost(counters.size, 100 + 1_024)
    for (let index = 0; index < 200; index++) counters.of(perMinute(`later ${index}`, 10), 120_000)
    assert.isAtMost(counters.size, 100 + 1_024)
    const known = counters.of(perMinute("later 199", 10), 120_000)
    assert.strictEqual(known.key, "api:later 199", "has a counter of its own again")
  })
})

describe("the factor", () => {
  it("multiplies every limit but the one by e-mail", () => {
    const tenfold = rateLimitValues(defaultRates, 10)
    assert.deepStrictEqual(
      [tenfold.api.limit, tenfold.checkout.limit, tenfold.apiOfKey.limit, tenfold.signInPerEmail.limit],
      [1_000, 50, 60_000, 10]
    )
    assert.strictEqual(rateLimitValues(defaultRates, 0.001).checkout.limit, 1)
  })

  it.effect("of 0 refuses nobody but keeps telling the limits, and leaves the one by e-mail in force", () =>
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

  it.effect("are the contract's in production, and elsewhere a thousand times as high but for the one by e-mail", () =>
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

  it.effect("that are wrong end the start with a line that says so", () =>
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
