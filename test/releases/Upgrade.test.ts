import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { gunzipSync } from "node:zlib"
import { Client } from "pg"
import { onDatabase } from "../support/Audit.ts"
import { copyOf, freshDatabase } from "../support/Postgres.ts"
import { aGuestCart, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, testAppOn } from "../support/TestApp.ts"

const kept = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".sql.gz"))

/** A database as a deployment of the release left it. */
const restored = Effect.fnUntraced(function*(file: string) {
  const { url } = yield* copyOf("template0")
  yield* Effect.promise(async () => {
    const client = new Client(url)
    await client.connect()
    await client.query(gunzipSync(readFileSync(join(import.meta.dirname, file))).toString("utf8"))
    await client.end()
  })
  return url
})

/** Each column, constraint, index and trigger. Without parentheses, which versions of PostgreSQL nest differently. */
const definitions = (url: string) =>
  Effect.map(
    onDatabase(url, (sql) =>
      sql<{ definition: string }>`
        select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as definition
          from information_schema.columns where table_schema = 'public'
        union all select format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
          from pg_constraint where connamespace = 'public'::regnamespace
        union all select indexdef from pg_indexes where schemaname = 'public'
        union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
        order by 1`),
    (rows) => rows.map(({ definition }) => definition.replace(/[()]/g, "")).sort()
  )

/** All records of a list, as the API shows them. */
const listed = (path: string) => Effect.map(api("GET", path, { as: asAdmin }), (answer) => answer.list("data"))

describe.each(kept)("the database of release %s", (file) => {
  it.live(`${basename(file, ".sql.gz")} becomes that of this version by a start, and keeps its store and its sales`, () =>
    Effect.scoped(Effect.gen(function*() {
      const url = yield* restored(file)
      const orders = yield* onDatabase(
        url,
        (sql) =>
          sql<{ id: string; total: number }>`select id::text, grand_total::float8 as total from orders order by id`
      )
      const app = yield* Layer.build(testAppOn(url, {}))
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* definitions(url), yield* definitions((yield* freshDatabase).url))
        assert.isAbove(orders.length, 0)
        for (const { id, total } of orders) {
          const order = yield* api("GET", `/api/orders/${id}`, { as: asAdmin })
          assert.deepStrictEqual([order.status, order.at("data.grandTotal")], [200, total])
        }
        for (const path of ["/api/customers", "/api/promotions", "/api/webhooks", "/api/tax/rates", "/api/audit"]) {
          assert.isAbove((yield* listed(path)).length, 0, path)
        }
        const [item] = yield* onDatabase(
          url,
          (sql) => sql`select entity_id::text as "entityId", id::text as "variantId", 1 as quantity from variants`
        )
        const cart = yield* aGuestCart()
        yield* api("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body: item })
        const bought = yield* checkOut(cart)
        assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
      }).pipe(Effect.provide(app))
    })))
})
