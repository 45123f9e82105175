import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { migratePlugins } from "../../src/plugins/kit/install/PluginTables.ts"
import { scheduledOrders } from "../../src/plugins/scheduled-orders/index.ts"
import { freshDatabase } from "../support/Postgres.ts"

const uniques = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql`select indexname, indexdef from pg_indexes where tablename = 'scheduled_orders' and indexdef like '%UNIQUE%'
      and indexdef like '%cart_id%' order by 1`,
    (rows) => rows.map(({ indexdef }) => String(indexdef))
  ))

/** The unique of carts before orders repeated by months, under the names that it has had. */
const former = ["scheduled_orders_cart_id_key", "scheduled_orders_cart_id_0a1b2c3d_key"]

describe("the unique of carts of scheduled orders", () => {
  it.live.each(former)(
    "%s gives way to the one that knows months, with the rows that it held",
    (name) =>
      Effect.scoped(Effect.gen(function*() {
        const { url } = yield* freshDatabase
        yield* Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          yield* migratePlugins([scheduledOrders()])
          const now = yield* uniques
          assert.lengthOf(now, 1)
          yield* sql`alter table scheduled_orders drop column every_months, drop column day_of_month`
          yield* sql`drop table plugin_scheduled_orders_migrations`
          yield* sql`create unique index ${sql(name)} on scheduled_orders (organization_id, cart_id)
          where status in ('scheduled', 'paused') or every_days is null and status in ('processing', 'completed', 'failed')`
          yield* migratePlugins([scheduledOrders()])
          assert.deepStrictEqual(yield* uniques, now)
          // A start finds nothing to do.
          yield* migratePlugins([scheduledOrders()])
          assert.deepStrictEqual(yield* uniques, now)
        }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
      }))
  )
})
