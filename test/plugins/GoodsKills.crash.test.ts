import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { audit } from "../support/Audit.ts"
import { killAt } from "../support/KillAt.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aProduct, aWarehouse } from "../support/Purchase.ts"
import { restart, type Service, startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { api, asAdmin } from "../support/TestApp.ts"

const program = fileURLToPath(new URL("../support/serveGoods.ts", import.meta.url))

const post = (path: string, body?: object) => api("POST", `/api/${path}`, { as: asAdmin, ...(body && { body }) })

const done = Effect.fnUntraced(function*(path: string, body?: object) {
  const answer = yield* post(path, body)
  assert.isBelow(answer.status, 300, `${path}: ${JSON.stringify(answer.body)}`)
  return answer
})

/** Stock of each thing and warehouse, the lots beside it, and what was moved and posted. */
const books = onDatabase((sql) =>
  sql`select w.code, l.entity_id as thing, l.on_hand, l.in_transit, l.incoming, l.average_cost::float8 as cost,
      (select coalesce(sum(quantity), 0)::int4 from warehouse_lots t
        where t.entity_id = l.entity_id and t.warehouse_id = l.warehouse_id) as lots,
      (select coalesce(sum(quantity), 0)::int4 from stock_movements m
        where m.entity_id = l.entity_id and m.warehouse_id = l.warehouse_id) as moved,
      (select count(*)::int4 from stock_postings where reference_type in ('grn', 'production', 'warehouse.receipt')) as posted,
      (select count(*)::int4 from production_consumption) as consumed,
      (select count(*)::int4 from stock_transfer_discrepancies) as missing
    from stock_levels l join warehouses w on w.id = l.warehouse_id order by w.code, l.entity_id`
)

/** Ten units of a thing are ordered and come in; what accepts them. */
const purchase = Effect.gen(function*() {
  const [entityId, warehouseId] = [yield* aProduct({ stock: 0 }), yield* aWarehouse()]
  const supplier = yield* done("procurement/suppliers", { name: "Mill", code: "MILL" })
  const items = [{ entityId, quantityOrdered: 10, unitCost: 25 }]
  const order = yield* done("procurement/purchase-orders", { supplierId: supplier.text("data.id"), warehouseId, items })
  const poId = order.text("data.id")
  for (const move of ["submit", "approve"]) yield* done(`procurement/purchase-orders/${poId}/${move}`)
  const whole = yield* api("GET", `/api/procurement/purchase-orders/${poId}`, { as: asAdmin })
  const line = { poItemId: whole.text("data.items.0.id"), quantityReceived: 10, batchNumber: "B1" }
  const receipt = yield* done("procurement/grn", { poId, items: [line] })
  return { ask: post(`procurement/grn/${receipt.text("data.id")}/accept`) }
})

/** A batch of flour in stock, at 30. */
const flourInStock = Effect.gen(function*() {
  const [entityId, warehouseId] = [yield* aProduct({ stock: 0 }), yield* aWarehouse()]
  yield* done("inventory/adjust", { entityId, warehouseId, type: "restock", quantity: 100, unitCost: 30 })
  yield* onDatabase((sql) =>
    sql`insert into warehouse_lots (organization_id, warehouse_id, entity_id, batch_number, quantity)
      values ('org_default', ${warehouseId}::uuid, ${entityId}::uuid, 'B1', 100)`
  )
  return { entityId, warehouseId }
})

/** Five cakes of ten units of flour. */
const baking = Effect.gen(function*() {
  const { entityId: flour, warehouseId } = yield* flourInStock
  const entityId = yield* aProduct({ stock: 0 })
  const items = [{ entityId: flour, itemName: "Flour", quantity: 2, unitCost: 1 }]
  const bom = yield* done("production/boms", { entityId, name: "Cake", items })
  const head = { bomId: bom.text("data.id"), entityId, quantity: 5, warehouseId, plannedDate: "2026-12-01" }
  const id = (yield* done("production/orders", head)).text("data.id")
  yield* done(`production/orders/${id}/start`, { producedBy: "Ada" })
  return { ask: post(`production/orders/${id}/complete`, { batchNumber: "C1" }) }
})

/** Eight units of flour on their way, of which seven arrive. */
const arrival = Effect.gen(function*() {
  const { entityId, warehouseId: fromWarehouseId } = yield* flourInStock
  const items = [{ entityId, itemName: "Flour", quantityRequested: 8 }]
  const head = { fromWarehouseId, toWarehouseId: yield* aWarehouse("SHOP"), items }
  const path = `warehouse/transfers/${(yield* done("warehouse/transfers", head)).text("data.id")}`
  for (const move of ["approve", "dispatch"]) yield* done(`${path}/${move}`)
  const whole = yield* api("GET", `/api/${path}`, { as: asAdmin })
  return { ask: post(`${path}/receive`, { items: [{ itemId: whole.text("data.items.0.id"), quantityReceived: 7 }] }) }
})

const inMain = { code: "MAIN", in_transit: 0, incoming: 0 }

it.live.each([
  {
    what: "goods that are accepted",
    prepare: purchase,
    tables: ["goods_received_notes", "warehouse_lots", "stock_levels", "stock_movements"],
    after: [{ ...inMain, on_hand: 10, cost: 25, lots: 10, moved: 10, posted: 1, consumed: 0, missing: 0 }]
  },
  {
    what: "an order of cakes that is completed",
    prepare: baking,
    tables: ["production_consumption", "warehouse_lots", "stock_levels", "stock_movements", "production_orders"],
    after: [
      { ...inMain, on_hand: 90, cost: 30, lots: 90, moved: 90, posted: 1, consumed: 1, missing: 0 },
      { ...inMain, on_hand: 5, cost: 60, lots: 5, moved: 5, posted: 1, consumed: 1, missing: 0 }
    ]
  },
  {
    what: "a transfer that is received",
    prepare: arrival,
    tables: [
      "warehouse_lots",
      "stock_levels",
      "stock_movements",
      "stock_transfer_items",
      "stock_transfer_discrepancies"
    ],
    after: [
      { ...inMain, on_hand: 92, cost: 30, lots: 92, moved: 92, posted: 1, consumed: 0, missing: 1 },
      { ...inMain, code: "SHOP", on_hand: 7, cost: 30, lots: 7, moved: 7, posted: 1, consumed: 0, missing: 1 }
    ]
  }
])(
  "$what, whose process is killed at any of its tables, move stock, lots and costs once",
  ({ after, prepare, tables }) =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const options = { databaseUrl: url, program }
      let service: Service = yield* startService(options)
      const { ask } = yield* Effect.provide(prepare, talkingTo(service, url))
      const before = yield* Effect.provide(books, talkingTo(service, url))
      for (const table of tables) {
        yield* killAt(table, service, url, Effect.provide(ask, talkingTo(service, url)))
        service = yield* restart(service, options)
        assert.deepStrictEqual(yield* Effect.provide(books, talkingTo(service, url)), before, table)
      }
      yield* Effect.gen(function*() {
        const statuses = yield* Effect.all([1, 2, 3].map(() => persistently(ask)), { concurrency: 3 })
        assert.deepStrictEqual(statuses.map(({ status }) => status).toSorted(), [201, 422, 422])
        const now = yield* books
        assert.deepStrictEqual(now.map(({ thing: _, ...row }) => row), after)
      }).pipe(Effect.provide(talkingTo(service, url)))
      yield* audit(url)
    })),
  180_000
)
