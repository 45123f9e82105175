import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, EntityId, group, idOf, integer, oneOf, table, WarehouseId } from "stoa/plugin"
import { addTo, aGuestCart, aProduct, aWarehouse, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const receipts = table("receiving_receipts", {
  entityId: idOf(EntityId),
  warehouseId: idOf(WarehouseId),
  quantity: integer,
  unitCost: integer,
  status: oneOf(["ordered", "accepted"]).default("ordered")
})

const routes = group("Receiving", "/receiving")
const permission = "receiving:use"
const Sent = Schema.Struct({
  entityId: EntityId,
  warehouseId: WarehouseId,
  quantity: Schema.Int,
  unitCost: Schema.Int
})

/** Goods that are ordered and received: the smallest document that moves stock. */
const receiving = definePlugin({
  id: "receiving",
  version: "1.0.0",
  permissions: [{ scope: permission, description: "Order and receive goods" }],
  schema: () => [receipts],
  routes: () => [
    routes.post("/receipts", { permission, input: Sent, success: receipts.Row }).handle(
      ({ db, input, services: { inventory } }) =>
        db.transaction(Effect.gen(function*() {
          const row = yield* db.table(receipts).insert(input)
          const { entityId, quantity, warehouseId } = input
          yield* inventory.post({ type: "receiving.order", id: row.id }, [{
            entityId,
            warehouseId,
            incoming: quantity
          }])
          return row
        }))
    ),
    routes.post("/receipts/:id/accept", { permission, success: receipts.Row }).handle(
      ({ db, params, services: { inventory } }) =>
        db.transaction(Effect.gen(function*() {
          const row = yield* db.table(receipts).update(params.id, { status: "accepted" }, { status: "ordered" })
          const { entityId, id, quantity, unitCost, warehouseId } = row
          yield* inventory.post({ type: "receiving.receipt", id }, [
            { entityId, warehouseId, delta: quantity, incoming: -quantity, unitCost, average: true }
          ])
          return row
        }))
    )
  ]
})

const withPlugin = layer(testAppLayer({ plugins: [receiving] }), live)

const ordered = Effect.fnUntraced(function*(entityId: string, quantity: number, unitCost: number) {
  const body = { entityId, warehouseId: yield* aWarehouse(), quantity, unitCost }
  return (yield* api("POST", "/api/receiving/receipts", { as: asAdmin, body })).text("data.id")
})
const accept = (id: string) => api("POST", `/api/receiving/receipts/${id}/accept`, { as: asAdmin })

const levelOf = (entityId: string) =>
  Effect.map(
    api("GET", `/api/inventory/levels?entityId=${entityId}`, { as: asAdmin }),
    ({ at }) => Object(at("data.0"))
  )
const rowsOf = (query: object) =>
  Effect.map(api("POST", "/api/analytics/query", { as: asAdmin, body: query }), ({ at }) => at("data.rows"))

withPlugin("a plugin that posts stock", (it) => {
  it.effect("shows what is incoming, sells what was received, and tells what it cost", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 0 })
      const ids = [yield* ordered(entityId, 2, 100), yield* ordered(entityId, 1, 101)]
      assert.deepInclude(yield* levelOf(entityId), {
        quantityOnHand: 0,
        quantityIncoming: 3,
        quantityInTransit: 0,
        available: 0,
        unitCost: null,
        averageCost: null
      })
      for (const id of ids) assert.strictEqual((yield* accept(id)).status, 201)
      assert.deepInclude(yield* levelOf(entityId), {
        quantityOnHand: 3,
        quantityIncoming: 0,
        available: 3,
        unitCost: 100,
        averageCost: "100.3333333333"
      })
      const cart = yield* aGuestCart()
      yield* addTo(cart, entityId, 2)
      const order = yield* checkOut(cart)
      const lineItems = [{ orderLineItemId: order.text("data.lineItems.0.id"), quantity: 2 }]
      const path = `/api/orders/${order.text("data.id")}`
      yield* api("PATCH", `${path}/status`, { as: asAdmin, body: { status: "confirmed" } })
      const shipped = yield* api("POST", `${path}/fulfillments`, { as: asAdmin, body: { lineItems } })
      assert.strictEqual(shipped.status, 201, JSON.stringify(shipped.body))
      const filters = [{ member: "StockMovements.entityId", operator: "equals", values: [entityId] }]
      const measures = ["count", "quantity", "cost", "costOfGoodsSold"].map((name) => `StockMovements.${name}`)
      const rows = yield* rowsOf({
        measures,
        dimensions: ["StockMovements.type"],
        filters,
        order: { "StockMovements.type": "asc" }
      })
      const row = (type: string, ...[count, quantity, cost, sold]: ReadonlyArray<number>) => ({
        "StockMovements.type": type,
        "StockMovements.count": count,
        "StockMovements.quantity": quantity,
        "StockMovements.cost": cost,
        "StockMovements.costOfGoodsSold": sold
      })
      assert.deepStrictEqual(rows, [
        row("fulfillment", 1, -2, -201, 201),
        row("receipt", 2, 3, 301, 0),
        row("reservation", 1, 2, 0, 0)
      ])
      const value = yield* rowsOf({
        measures: ["Inventory.inventoryValue", "Inventory.totalIncoming", "Inventory.totalInTransit"],
        filters: [{ member: "Inventory.entityId", operator: "equals", values: [entityId] }]
      })
      assert.deepStrictEqual(value, [
        { "Inventory.inventoryValue": 100, "Inventory.totalIncoming": 0, "Inventory.totalInTransit": 0 }
      ])
    }))

  it.effect("receives a document once, of eight requests at the same time", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 0 })
      const id = yield* ordered(entityId, 5, 10)
      const answers = yield* Effect.all(Array.from({ length: 8 }, () => accept(id)), { concurrency: "unbounded" })
      assert.lengthOf(answers.filter(({ status }) => status === 201), 1)
      assert.strictEqual((yield* levelOf(entityId)).quantityOnHand, 5)
    }))

  it.effect("leaves no document whose lines cannot be posted", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 0 })
      const body = { entityId, warehouseId: yield* aWarehouse(), quantity: -1, unitCost: 1 }
      const refused = yield* api("POST", "/api/receiving/receipts", { as: asAdmin, body })
      assert.deepStrictEqual([refused.status, refused.at("error.details.issues.0.path")], [422, "lines.0.incoming"])
      const unknown = yield* api("POST", "/api/receiving/receipts", {
        as: asAdmin,
        body: { ...body, quantity: 1, warehouseId: entityId }
      })
      assert.deepStrictEqual([unknown.status, unknown.at("error.code")], [404, "NOT_FOUND"])
    }))
})
