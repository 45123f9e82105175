import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aProductInSizes, onDatabase, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, withSharedApp } from "../support/TestApp.ts"

const reserve = (entityId: string, quantity: number, orderId: string) =>
  api("POST", "/api/inventory/reserve", { as: asAdmin, body: { entityId, quantity, orderId } })

const anOrder = Effect.fnUntraced(function*() {
  return (yield* checkOut(yield* aCartWith(yield* aProduct()))).text("data.id")
})

const cancel = (orderId: string) =>
  api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status: "cancelled" } })

withSharedApp("stock reserved by hand for an order", (it) => {
  it.effect("stock reserved by hand for an order goes back when the order is cancelled, for an id in any case", () =>
    Effect.gen(function*() {
      const orderId = yield* anOrder()
      const entityId = yield* aProduct({ stock: 5 })
      assert.strictEqual((yield* reserve(entityId, 2, orderId.toUpperCase())).status, 200)
      assert.strictEqual((yield* reserve(entityId, 1, orderId)).status, 200)
      assert.strictEqual((yield* cancel(orderId)).status, 200)
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
    }))

  it.effect("stock reserved by hand for an order goes back also when its units together exceed a 32-bit number", () =>
    Effect.gen(function*() {
      const orderId = yield* anOrder()
      const most = 2_147_483_647
      const entities = [yield* aProduct({ stock: most }), yield* aProduct({ stock: most })]
      for (const entityId of entities) assert.strictEqual((yield* reserve(entityId, most, orderId)).status, 200)
      assert.strictEqual((yield* cancel(orderId)).status, 200)
      for (const entityId of entities) assert.strictEqual((yield* stockOf(entityId)).reserved, 0)
    }))

  it.effect("stock reserved by hand for an order is reserved and released under the same reference in the ledger, the order", () =>
    Effect.gen(function*() {
      const orderId = yield* anOrder()
      const entityId = yield* aProduct({ stock: 5 })
      yield* reserve(entityId, 2, orderId)
      const body = { entityId, quantity: 1, orderId }
      assert.strictEqual((yield* api("POST", "/api/inventory/release", { as: asAdmin, body })).status, 200)
      assert.strictEqual((yield* cancel(orderId)).status, 200)
      const movements = yield* onDatabase((sql) =>
        sql`select type, quantity, reference_type, reference_id from stock_movements
          where entity_id = ${entityId}::uuid and type <> 'receipt' order by performed_at, type desc`
      )
      const reference = { reference_type: "order", reference_id: orderId }
      assert.deepStrictEqual(movements, [
        { type: "reservation", quantity: 2, ...reference },
        { type: "release", quantity: 1, ...reference },
        { type: "release", quantity: 1, ...reference }
      ])
    }))

  it.effect("stock reserved by hand for an order is not taken of a variant under the name of another entity", () =>
    Effect.gen(function*() {
      const { entityId, small } = yield* aProductInSizes({ stock: 5 })
      const other = yield* aProduct({ stock: 5 })
      const body = { entityId: other, variantId: small, quantity: 1, orderId: "order-1" }
      refused(yield* api("POST", "/api/inventory/reserve", { as: asAdmin, body }), 404, "NOT_FOUND")
      assert.strictEqual((yield* stockOf(entityId)).reserved, 0)
      const right = { ...body, entityId }
      assert.strictEqual((yield* api("POST", "/api/inventory/reserve", { as: asAdmin, body: right })).status, 200)
    }))
})
