import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { audit, onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { startDeployment, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { busyLoops, standingStill } from "../support/Starvation.ts"
import { type Answer, TestApp } from "../support/TestApp.ts"

const seconds = Number(process.env["STOA_CHAOS_SECONDS"] ?? 120)
const buyers = 8
const bar = 30_000

/** Which session has how many locks of shards: another one means that shards were lost. */
const lockSessions = (url: string) =>
  onDatabase(
    url,
    (sql) =>
      sql<
        { pid: number; locks: number }
      >`select l.pid, count(*)::int4 as locks from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and l.objsubid = 2 and a.application_name like 'stoa-cluster-%'
        and a.datname = current_database() group by l.pid order by l.pid`
  )

/** Observes every answer to a client. */
const seeing = (note: (answer: Answer) => void) =>
  Layer.effect(
    TestApp,
    Effect.map(TestApp, (app) => ({
      ...app,
      api: (...call: Parameters<typeof app.api>) =>
        Effect.tap(app.api(...call), (answer) => Effect.sync(() => note(answer)))
    }))
  )

it.live(`two runners beside two busy loops keep their shards for ${seconds} s, and every checkout has an outcome`, () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    yield* busyLoops(2)
    const { apis: [edge], runners } = yield* startDeployment(url, { apis: 1, runners: 2 })
    assert.isDefined(edge)
    const statuses = new Map<number, number>()
    const app = Layer.provide(
      seeing(({ headers, status }) => {
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === 503) assert.isTrue(headers.has("retry-after"), "when to come again")
        assert.notStrictEqual(status, 500)
      }),
      talkingTo(edge, url)
    )
    const took: Array<number> = []
    yield* Effect.gen(function*() {
      const product = yield* aProduct({ stock: 1_000_000 })
      yield* aCartWith(product)
      const before = yield* eventually(
        "every shard to have an owner",
        Effect.map(
          lockSessions(url),
          (held) => held.reduce((sum, { locks }) => sum + locks, 0) === 64 ? held : undefined
        ),
        60_000
      )
      yield* Effect.forkChild(standingStill(runners))
      const until = performance.now() + seconds * 1_000
      yield* Effect.forEach(Array.from({ length: buyers }), () =>
        Effect.gen(function*() {
          while (performance.now() < until) {
            const cart = yield* aCartWith(product)
            const began = performance.now()
            const bought = yield* checkOut(cart, {}, { "idempotency-key": cart.id }).pipe(persistently)
            took.push(performance.now() - began)
            assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
          }
        }), { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* lockSessions(url), before, "the same sessions have the same shards")
    }).pipe(Effect.provide(app))
    took.sort((one, other) => one - other)
    console.log(
      `${took.length} checkouts, the slowest took ${Math.round(took.at(-1) ?? 0)} ms, half of them ${
        Math.round(took[Math.floor(took.length / 2)] ?? 0)
      } ms; answers: ${[...statuses].map(([status, count]) => `${status} × ${count}`).join(", ")}`
    )
    assert.isAtMost(took.at(-1) ?? 0, bar)
    for (const runner of runners) {
      assert.notMatch(runner.output(), /unhealthy|in doubt|\n {4}at /, "no loss of shards, and no stack trace")
    }
    yield* audit(url)
  }))
