import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  assertNothingLeft,
  assertTakenBack,
  checkoutFailed,
  onDatabase,
  ordersFrom
} from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, aWarehouse, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"
import { aTaxRate, to } from "../tax/TaxedShop.ts"
import { tillPlugin } from "./TillPlugin.ts"

const configured = { shipping: { type: "flat" as const, flatRate: 500 }, plugins: [tillPlugin] }
const shop = layer(testAppLayer(configured), live)

/** What the plugin was asked and learned since the last look, oldest first. */
const calls = onDatabase((sql) =>
  Effect.map(
    sql`with gone as (delete from till_calls returning *) select checkout_id::text as id, call, data from gone order by created_at, id`,
    (rows) => rows.map(({ call, data, id }) => ({ call, data, id }))
  )
)

shop("the checkout extension of a plugin", (it) => {
  it.effect("decides shipping and channel, and the totals add up before the hooks and the payment", () =>
    Effect.gen(function*() {
      yield* aTaxRate({ country: "NL", rateBps: 1_000, appliesToShipping: true })
      const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }), 2)
      const order = yield* checkOut(cart, { ...to("NL"), metadata: { till: "1" } })
      assert.deepStrictEqual(
        ["subtotal", "shippingTotal", "taxTotal", "grandTotal", "amountCaptured"].map((field) =>
          order.at(`data.${field}`)
        ),
        [2_000, 0, 200, 2_200, 2_200]
      )
      assert.deepStrictEqual(
        [order.at("data.metadata.channel"), order.at("data.metadata.shippingMethod")],
        ["till", "Counter"]
      )
      // It gets what it keeps, and no reader of the order does.
      const data = { secret: "drawer", subtotal: 2_000 }
      const id = order.text("data.id")
      assert.deepStrictEqual(yield* calls, [{ id, call: "decide", data: null }, { id, call: "created", data }])
      const read = yield* api("GET", `/api/orders/${id}`, { as: asAdmin })
      assert.notInclude(JSON.stringify([order.body, read.body]), "drawer")
    }))

  it.effect("decides quotes of carts too, which lead to nothing", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }), 1)
      const quote = yield* api("POST", "/api/till/quote", { as: asAdmin, body: { cartId: cart.id } })
      assert.deepStrictEqual(["shippingTotal", "grandTotal"].map((field) => quote.at(`data.${field}`)), [0, 1_000])
      assert.deepStrictEqual(yield* calls, [])
    }))

  it.effect("takes the stock from the warehouse that it names and from no other", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 5 })
      const warehouseId = yield* aWarehouse("TILL")
      const buy = (quantity: number) =>
        Effect.flatMap(
          aCartWith(entityId, quantity),
          (cart) => checkOut(cart, { metadata: { till: "1", warehouseId } })
        )
      checkoutFailed(yield* buy(1), /Available: 0/)
      yield* api("POST", "/api/inventory/adjust", {
        as: asAdmin,
        body: { entityId, warehouseId, type: "restock", quantity: 2 }
      })
      assert.strictEqual((yield* buy(2)).status, 201)
      const levels = yield* api("GET", `/api/inventory/levels?entityId=${entityId}&limit=100`, { as: asAdmin })
      const reserved = levels.list("data").map((
        level
      ) => [at(level, "warehouseId") === warehouseId, at(level, "quantityReserved")])
      assert.deepStrictEqual(reserved.toSorted(), [[false, 0], [true, 2]])
      yield* calls
    }))

  it.effect("learns that a checkout failed before its order, with and without a decision that was stored", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 3 })
      const short = yield* aCartWith(entityId, 4)
      checkoutFailed(yield* checkOut(short, { metadata: { till: "1" } }), /Insufficient stock/)
      yield* assertNothingLeft(short.id, entityId)
      assert.deepStrictEqual((yield* calls).map(({ call, data }) => [call, data]), [["decide", null], ["failed", null]])
      const declined = yield* aCartWith(entityId, 1)
      checkoutFailed(yield* checkOut(declined, { paymentMethodId: "test_decline", metadata: { till: "1" } }))
      yield* assertNothingLeft(declined.id, entityId)
      const data = { secret: "drawer", subtotal: 1_000 }
      assert.deepStrictEqual((yield* calls).map(({ call, data }) => [call, data]), [["decide", null], ["failed", data]])
    }))

  it.effect("learns that an order could not be paid", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({})
      const cart = yield* aCartWith(entityId, 1)
      checkoutFailed(yield* checkOut(cart, { paymentMethodId: "test_capture_fail", metadata: { till: "1" } }))
      yield* assertTakenBack(cart.id, entityId)
      const [order] = yield* ordersFrom(cart.id)
      const heard = yield* calls
      assert.deepStrictEqual(heard.map(({ call }) => call), ["decide", "created", "failed"])
      assert.deepStrictEqual(new Set(heard.map(({ id }) => id)), new Set([at(order, "id")]))
    }))

  it.effect("refuses with its text, and shows nothing of a mistake", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({})
      const cart = yield* aCartWith(entityId, 1)
      checkoutFailed(yield* checkOut(cart, { metadata: { till: "closed" } }), /The till is closed/)
      const broken = yield* checkOut(cart, { metadata: { till: "broken" } })
      checkoutFailed(broken, /could not be completed/)
      assert.notInclude(JSON.stringify(broken.body), "secret")
      yield* assertNothingLeft(cart.id, entityId)
      assert.strictEqual((yield* checkOut(cart)).status, 201)
      yield* calls
    }))

  it.effect("a cart that a plugin would not sell can be read and changed, and says why it has no price", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct({}), 1)
      const path = `/api/carts/${cart.id}`
      const changed = yield* api("PATCH", path, { headers: cart.headers, body: { metadata: { till: "closed" } } })
      for (const answer of [changed, yield* api("GET", path, { headers: cart.headers })]) {
        assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
        assert.deepStrictEqual(answer.at("data.totals.warnings"), [
          { code: "not_priced", lineId: null, message: "The till is closed." }
        ])
      }
    }))
})
