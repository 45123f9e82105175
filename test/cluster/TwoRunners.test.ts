import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Workflow } from "effect/workflow"
import { freshDatabase } from "../support/Postgres.ts"
import { aRunner } from "./Runners.ts"

const Order = Workflow.make("Order", {
  payload: { id: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ id }) => id
})

/** A runner that writes down what it ran. */
const runner = Effect.fnUntraced(function*(url: string, name: string, ran: Array<string>) {
  const { context, stop } = yield* aRunner(
    url,
    Order.toLayer(({ id }) => Effect.sync(() => ran.push(`${name} ${id}`)).pipe(Effect.as(`order ${id}`)))
  )
  const execute = (id: string) => Effect.provideContext(Order.execute({ id }), context)
  return { execute, stop }
})

const ids = (prefix: string) => Array.from({ length: 30 }, (_, n) => `${prefix}${n}`)
const all = { concurrency: "unbounded" } as const

it.live(
  "two runners share the work, know each other's answers, and the rest goes on when one stops",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const ran: Array<string> = []
      const [a, b] = [yield* runner(url, "a", ran), yield* runner(url, "b", ran)]
      // Both hold shards once the lock table says so: two sessions with advisory locks.
      const holders = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql<{ pid: number }>`
        select distinct pid from pg_locks where locktype = 'advisory' and objsubid = 2
          and database = (select oid from pg_database where datname = current_database())`)
      yield* Effect.filterOrFail(holders, (rows) => rows.length === 2, () => "one holds all").pipe(
        Effect.retry({ schedule: Schedule.spaced(20), times: 400 }),
        Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      )
      const results = yield* Effect.forEach(ids("x"), (id, n) => (n % 2 === 0 ? a : b).execute(id), all)
      assert.deepStrictEqual(results, ids("x").map((id) => `order ${id}`))
      // At least once each: an execution may be redone when its shard moves under it.
      assert.strictEqual(new Set(ran.map((entry) => entry.slice(2))).size, 30)
      const before = ran.length
      assert.deepStrictEqual(new Set(ran.map((entry) => entry.slice(0, 1))), new Set(["a", "b"]))
      yield* a.stop
      const repeated = yield* Effect.forEach(ids("x"), b.execute, all)
      assert.deepStrictEqual(repeated, results)
      assert.strictEqual(ran.length, before, "no finished execution ran again")
      assert.deepStrictEqual(yield* Effect.forEach(ids("y"), b.execute, all), ids("y").map((id) => `order ${id}`))
    }),
  60_000
)
