import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut, type GuestCart, putInto } from "../support/Purchase.ts"
import { api, asAdmin, withSharedApp } from "../support/TestApp.ts"

const change = ({ headers, id }: GuestCart, body: object) => api("PATCH", `/api/carts/${id}`, { headers, body })

const read = ({ headers, id }: GuestCart) => api("GET", `/api/carts/${id}`, { headers })

const vienna = { line1: "Graben 1", city: "Wien", postalCode: "1010", country: "AT" }

const aCode = Effect.fnUntraced(function*(code: string, percent: number) {
  const made = yield* api("POST", "/api/promotions", {
    as: asAdmin,
    body: { name: code, code, type: "percentage_off_order", value: percent, isActive: true }
  })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
})

withSharedApp("a cart", (it) => {
  it.effect("shows what its checkout then charges, with codes and address that it keeps", () =>
    Effect.gen(function*() {
      yield* aCode("TENOFF", 10)
      const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }), 3)
      const changed = yield* change(cart, { shippingAddress: vienna, promotionCodes: ["tenoff"], note: "Ring twice" })
      assert.strictEqual(changed.status, 200, JSON.stringify(changed.body))
      assert.deepInclude(changed.at("data.totals"), {
        subtotal: 3_000,
        discountTotal: 300,
        grandTotal: 2_700,
        amountDue: 2_700
      })
      assert.deepStrictEqual((yield* read(cart)).at("data"), changed.at("data"))
      const quoted = yield* api("POST", "/api/orders/quote", {
        as: asAdmin,
        body: { cartId: cart.id, currency: "USD", promotionCodes: ["TENOFF"], shippingAddress: vienna }
      })
      assert.strictEqual(quoted.at("data.grandTotal"), 2_700)
      const bought = yield* checkOut(cart, { expectedTotal: 2_700 })
      assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
      assert.strictEqual(bought.at("data.grandTotal"), 2_700)
      assert.deepStrictEqual(bought.at("data.shippingAddress"), vienna)
      assert.strictEqual(bought.at("data.metadata.note"), "Ring twice")
    }))

  it.effect("keeps what a change does not name, and loses what is null", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      yield* change(cart, { email: "ada@example.com", shippingAddress: vienna, note: "Ring twice" })
      const changed = yield* change(cart, { note: null, locale: "de-AT" })
      assert.deepInclude(changed.at("data"), {
        email: "ada@example.com",
        shippingAddress: vienna,
        note: null,
        locale: "de-AT"
      })
    }))

  it.effect("is quoted with other choices, and stays as it was", () =>
    Effect.gen(function*() {
      yield* aCode("HALF", 50)
      const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }))
      const before = (yield* read(cart)).at("data")
      const quoted = yield* api("POST", `/api/carts/${cart.id}/quote`, {
        headers: cart.headers,
        body: { promotionCodes: ["HALF", "UNKNOWN"] }
      })
      assert.strictEqual(quoted.at("data.totals.grandTotal"), 500)
      assert.strictEqual(quoted.at("data.totals.rejectedPromotionCodes.0.code"), "UNKNOWN")
      assert.deepStrictEqual((yield* read(cart)).at("data"), before)
    }))

  it.effect("has prices that follow quantities", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_000 })
      yield* api("POST", "/api/pricing/prices", {
        as: asAdmin,
        body: { entityId, currency: "USD", amount: 800, minQuantity: 10 }
      })
      const cart = yield* aCartWith(entityId, 9)
      assert.strictEqual((yield* addTo(cart, entityId, 1)).at("data.unitPriceSnapshot"), 800)
      const path = `/api/carts/${cart.id}/items/${(yield* read(cart)).text("data.lineItems.0.id")}`
      const fewer = yield* api("PATCH", path, { headers: cart.headers, body: { quantity: 2 } })
      assert.deepInclude(fewer.at("data"), { quantity: 2, unitPriceSnapshot: 1_000 })
    }))

  it.effect("shows that a price has changed since its line did", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_000 })
      const cart = yield* aCartWith(entityId)
      yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId, currency: "USD", amount: 1_200 } })
      const { at } = yield* read(cart)
      assert.deepInclude(at("data.lineItems.0"), { unitPriceSnapshot: 1_000, unitPrice: 1_200, priceChanged: true })
    }))

  it.effect("is not bought for another total than its buyer has agreed to", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct({ price: 1_000, stock: 1 }))
      const refused = yield* checkOut(cart, { expectedTotal: 999 })
      assert.strictEqual(refused.status, 409)
      assert.strictEqual(refused.at("error.code"), "PRICE_CHANGED")
      assert.strictEqual(refused.at("error.details.totals.grandTotal"), 1_000)
      assert.strictEqual((yield* checkOut(cart, { expectedTotal: 1_000 })).status, 201)
    }))

  it.effect("warns of a line that cannot be bought any more, and totals the others", () =>
    Effect.gen(function*() {
      const [kept, gone] = [yield* aProduct({ price: 1_000 }), yield* aProduct({ price: 500 })]
      const cart = yield* aCartWith(kept)
      yield* putInto(cart, gone)
      yield* api("PATCH", `/api/catalog/entities/${gone}`, { as: asAdmin, body: { status: "archived" } })
      const { at } = yield* read(cart)
      assert.strictEqual(at("data.totals.grandTotal"), 1_000)
      assert.strictEqual(at("data.totals.warnings.0.code"), "line_unavailable")
      assert.strictEqual(at("data.totals.warnings.0.lineId"), at("data.lineItems.1.id"))
      assert.strictEqual(at("data.lineItems.1.unitPrice"), null)
    }))

  it.effect("is priced in another currency when all its lines have a price in it", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_000 })
      const cart = yield* aCartWith(entityId, 2)
      const refused = yield* change(cart, { currency: "EUR" })
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text("error.message"), entityId)
      assert.strictEqual((yield* read(cart)).at("data.currency"), "USD")
      yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId, currency: "EUR", amount: 900 } })
      const changed = yield* change(cart, { currency: "EUR" })
      assert.deepInclude(changed.at("data.lineItems.0"), { unitPriceSnapshot: 900, currency: "EUR", unitPrice: 900 })
      assert.deepInclude(changed.at("data.totals"), { currency: "EUR", grandTotal: 1_800 })
    }))

  it.effect("is not changed without its secret, or to values that are not valid", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      assert.strictEqual((yield* api("PATCH", `/api/carts/${cart.id}`, { body: { note: "mine" } })).status, 404)
      assert.strictEqual((yield* change(cart, { email: "ada" })).status, 422)
      assert.strictEqual((yield* change(cart, { shippingAddress: { country: "AT" } })).status, 422)
      const card = yield* change(cart, { giftCardCodes: ["ABCD-EFGH-JKMN-7K2M"] })
      assert.strictEqual(card.text("error.message"), "giftCardCodes are not accepted by this store.")
      assert.deepInclude((yield* read(cart)).at("data"), { email: null, note: null, shippingAddress: null })
    }))
})
