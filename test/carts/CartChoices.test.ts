import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const silent = { line1: "Graben 1", city: "Wien", postalCode: "1010", country: "AT" }
const vienna = { ...silent, phone: "+43 (1) 234-56.78/9 x1" }

const settings = {
  plugins: [giftCards()],
  checkout: { requires: ["email", "shippingAddress", "billingAddress", "phone"] }
} as const

layer(testAppLayer(settings), live)("a store that must know its buyers", (it) => {
  it.effect("shows what is missing, and sells when the cart has it", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }))
      const path = `/api/carts/${cart.id}`
      const missing = ["email", "shippingAddress", "billingAddress", "phone"]
      const { at } = yield* api("GET", path, { headers: cart.headers })
      assert.deepStrictEqual(at("data.totals.missing"), missing)
      const refused = yield* checkOut(cart, { metadata: { billingAddress: vienna } })
      assert.strictEqual(refused.status, 422)
      assert.deepInclude(refused.at("error.details"), { reason: "missing", missing })
      const known = { email: "ada@example.com", shippingAddress: vienna, billingAddress: vienna, note: "Ring twice" }
      const changed = yield* api("PATCH", path, { headers: cart.headers, body: known })
      assert.deepStrictEqual(changed.at("data.totals.missing"), [])
      const bought = yield* checkOut(cart, { metadata: { note: "Knock" } })
      assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
      assert.deepInclude(bought.at("data.metadata"), { note: "Knock", billingAddress: vienna })
    }))

  it.effect("asks for a phone number, which stands in either address", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }), 1, "ada@example.com")
      const change = (body: object) => api("PATCH", `/api/carts/${cart.id}`, { headers: cart.headers, body })
      const both = yield* change({ shippingAddress: silent, billingAddress: silent })
      assert.deepStrictEqual(both.at("data.totals.missing"), ["phone"])
      const refused = yield* checkOut(cart)
      assert.deepStrictEqual([refused.status, refused.at("error.message")], [
        422,
        "The order needs a phone number in an address."
      ])
      for (const phone of ["+".repeat(41), "call me"]) {
        const bad = yield* change({ billingAddress: { ...silent, phone } })
        assert.deepStrictEqual([bad.status, bad.at("error.details.issues.0.path")], [422, "billingAddress.phone"])
      }
      const known = yield* change({ billingAddress: vienna })
      assert.deepStrictEqual(known.at("data.totals.missing"), [])
      const bought = yield* checkOut(cart)
      assert.strictEqual(bought.at("data.metadata.billingAddress.phone"), vienna.phone, JSON.stringify(bought.body))
    }))

  it.effect("asks downloads for no shipping address", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct({ type: "digitalDownload", stock: 0 }), 1, "ada@example.com")
      const { at } = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
      assert.deepStrictEqual(at("data.totals.missing"), ["billingAddress", "phone"])
    }))

  it.effect("takes a cart's gift card first, and shows neither its code nor its hash", () =>
    Effect.gen(function*() {
      const made = yield* api("POST", "/api/gift-cards", { as: asAdmin, body: { amount: 700, currency: "USD" } })
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      const code = made.text("data.code")
      const cart = yield* aCartWith(yield* aProduct({ price: 1_000 }), 1, "ada@example.com")
      const changed = yield* api("PATCH", `/api/carts/${cart.id}`, {
        headers: cart.headers,
        body: { giftCardCodes: [code, "ABCD-EFGH-JKMN-7K2M"], shippingAddress: vienna, billingAddress: vienna }
      })
      assert.deepStrictEqual(changed.at("data.giftCards"), [{ lastFour: code.slice(-4) }, { lastFour: "7K2M" }])
      assert.deepInclude(changed.at("data.totals"), { grandTotal: 1_000, amountDue: 300 })
      assert.strictEqual(changed.at("data.totals.warnings.0.code"), "gift_card_refused")
      assert.notInclude(JSON.stringify(changed.body), code)
      yield* api("PATCH", `/api/carts/${cart.id}`, { headers: cart.headers, body: { giftCardCodes: [code] } })
      const bought = yield* checkOut(cart)
      assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
      assert.strictEqual(bought.at("data.tenders.0.amount"), 700)
    }))
})
