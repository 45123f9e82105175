import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aCartWith, addTo, aGuestCart, aProduct, type GuestCart } from "../support/Purchase.ts"
import { api, at, withSharedApp } from "../support/TestApp.ts"

const withTotals = "?include=totals"

const read = ({ headers, id }: GuestCart) => api("GET", `/api/carts/${id}`, { headers })

withSharedApp("totals of changed lines", (it) => {
  it.effect("answers an added, changed and removed line with what the cart costs then, as a read does", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct({ price: 500 }))
      const added = yield* addTo(cart, yield* aProduct({ price: 1_000, stock: 2 }), 1, withTotals)
      assert.strictEqual(added.status, 201, JSON.stringify(added.body))
      assert.strictEqual(added.at("meta.totals.grandTotal"), 1_500)
      const seen = yield* read(cart)
      assert.deepStrictEqual(added.at("data"), seen.at("data.lineItems.1"))
      assert.deepStrictEqual(added.at("meta.totals"), seen.at("data.totals"))

      const path = `/api/carts/${cart.id}/items/${added.text("data.id")}`
      const changed = yield* api("PATCH", path + withTotals, { headers: cart.headers, body: { quantity: 3 } })
      assert.strictEqual(changed.at("meta.totals.grandTotal"), 3_500)
      assert.strictEqual(changed.at("data.stockWarning"), "insufficient_stock")
      assert.deepStrictEqual(changed.at("data"), (yield* read(cart)).at("data.lineItems.1"))

      const removed = yield* api("DELETE", path + withTotals, { headers: cart.headers })
      assert.deepStrictEqual(removed.at("data"), { deleted: true })
      assert.strictEqual(removed.at("meta.totals.grandTotal"), 500)
    }))

  it.effect("warns of too much of an item that has several lines", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 2 })
      const cart = yield* aCartWith(entityId, 2)
      const added = yield* api("POST", `/api/carts/${cart.id}/items${withTotals}`, {
        headers: cart.headers,
        body: { entityId, quantity: 1, metadata: { engraving: "J" } }
      })
      assert.deepInclude(Object(added.at("data")), { available: 2, stockWarning: "insufficient_stock" })
    }))

  it.effect("answers no totals unless they are asked for, and names other wishes", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      const entityId = yield* aProduct()
      assert.isFalse("meta" in Object((yield* addTo(cart, entityId)).body))
      const other = yield* addTo(cart, entityId, 1, "?include=totals,gifts")
      assert.strictEqual(other.headers.get("x-ignored-fields"), "include.gifts")
      assert.strictEqual(at(other.body, "meta.totals.grandTotal"), 2_000)
      const headers = { ...cart.headers, prefer: "handling=strict" }
      const strict = yield* api("POST", `/api/carts/${cart.id}/items?include=gifts`, {
        headers,
        body: { entityId, quantity: 1 }
      })
      assert.strictEqual(strict.status, 422)
      assert.strictEqual(strict.at("error.details.issues.0.code"), "unknown_key")
      assert.strictEqual((yield* read(cart)).at("data.lineItems.0.quantity"), 2)
    }))
})
