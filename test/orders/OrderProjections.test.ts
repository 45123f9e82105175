import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CreateOrderRepo, createOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { OrderProjections } from "../../src/domain/orders/OrderProjections.ts"
import { currentOrganization } from "../../src/domain/platform/access/Actor.ts"
import { aPendingOrder, inStore } from "../checkout/NewOrder.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** Orders for which the projection fails. */
const cursed = new Set<string>()
/** How many orders it received at once. */
const batches: Array<number> = []

/** A projection that keeps a row of each order, and dies for some. */
const following = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create table followed (organization_id text, order_id uuid, lines bigint)`
  yield* (yield* OrderProjections).register({
    created: (orders, prefix) =>
      Effect.gen(function*() {
        batches.push(orders.length)
        if (orders.some(({ id }) => cursed.has(id))) return yield* Effect.die(new Error("a plugin stumbles"))
        const organization = yield* currentOrganization
        const lines = orders.map(({ id, lineItems }) => ({ id, lines: lineItems.length }))
        return sql`${sql.literal(prefix)}followed as (insert into followed select ${organization}, p.id, l.lines
          from created p join jsonb_to_recordset(${
          JSON.stringify(lines)
        }::jsonb) as l(id uuid, lines bigint) on l.id = p.id)`
      }),
    changed: () => Effect.void
  })
}))

const repos = createOrderRepoLayer.pipe(
  Layer.provideMerge(following),
  Layer.provideMerge(OrderProjections.layer),
  Layer.provideMerge(TestDatabase)
)

const orderRows = (ids: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ id: string }>`select o.id from orders o join followed f on f.order_id = o.id and f.lines > 0
        and f.organization_id = o.organization_id where o.id = any(${ids}::uuid[])`,
      (rows) => rows.map(({ id }) => id).sort()
    ))

layer(repos, { excludeTestServices: true })("an order projection of a plugin", (it) => {
  it.effect("receives the order with its lines, and commits together with it", () =>
    Effect.gen(function*() {
      const newOrder = yield* aPendingOrder()
      const { create } = yield* CreateOrderRepo
      assert.strictEqual(yield* inStore(create(newOrder)), "created")
      assert.deepStrictEqual(yield* orderRows([newOrder.order.id]), [newOrder.order.id])
      assert.strictEqual(yield* inStore(create(newOrder)), "exists")
    }))

  it.effect("undoes the order for which it fails, and the orders created with it are created", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { create } = yield* CreateOrderRepo
      const newOrders = yield* Effect.replicateEffect(aPendingOrder(), 6)
      const ids = newOrders.map(({ order }) => order.id)
      const [, , bad = ""] = ids
      cursed.add(bad)
      batches.length = 0
      const exits = yield* Effect.forEach(newOrders, (newOrder) => Effect.exit(inStore(create(newOrder))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(exits.map(({ _tag }) => _tag), ids.map((id) => (id === bad ? "Failure" : "Success")))
      assert.isAbove(Math.max(...batches), 1, "they were to be created by one statement")
      assert.deepStrictEqual(yield* orderRows(ids), ids.filter((id) => id !== bad).sort())
      assert.deepStrictEqual(yield* sql`select 1 from orders where id = ${bad}::uuid`, [])
      assert.deepStrictEqual(yield* sql`select 1 from followed where order_id = ${bad}::uuid`, [])
      assert.deepStrictEqual(yield* sql`select state from holds where holder = ${bad}`, [{ state: "held" }])
      cursed.clear()
      const again = newOrders[2]
      assert.strictEqual(again && (yield* inStore(create(again))), "created")
    }))
})
