import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aProductInSizes, assertAddsUp, onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aGuestCart, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"
import { aTaxClass, aTaxedProduct, buying, lineTaxesOf, to, totalsOf, withoutRules } from "./TaxedShop.ts"

withApp("a checkout is taxed", (it) => {
  it.effect("taxes nothing where the store has no rules", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const { order } = yield* buying([yield* aTaxedProduct(1000)], to("NL"))
      assert.deepStrictEqual(totalsOf(order), { subtotal: 1000, tax: 0, included: false, total: 1000 })
    }))

  it.effect("taxes each line by the class of its variant, else its entity, else the default", () =>
    Effect.gen(function*() {
      yield* withoutRules
      yield* aTaxClass({ name: "standard", rateBps: 1900, isDefault: true })
      yield* aTaxClass({ name: "reduced", rateBps: 700 })
      yield* aTaxClass({ name: "books", rateBps: 0 })
      yield* aTaxClass({ name: "off", rateBps: 5000, isActive: false })
      const products = [
        yield* aTaxedProduct(1000, "reduced"),
        yield* aTaxedProduct(1000),
        yield* aTaxedProduct(1000, "books"),
        yield* aTaxedProduct(1000, "off")
      ]
      const { order } = yield* buying(products)
      assert.deepStrictEqual(lineTaxesOf(order), [70, 190, 0, 190])
      assert.deepStrictEqual(totalsOf(order), { subtotal: 4000, tax: 450, included: false, total: 4450 })
      assert.strictEqual(order.at("data.amountCaptured"), 4450)
      assertAddsUp(order)
      const sizes = yield* aProductInSizes()
      yield* api("PATCH", `/api/catalog/entities/${sizes.entityId}`, { as: asAdmin, body: { taxClass: "reduced" } })
      yield* onDatabase((sql) => sql`update variants set tax_class = 'books' where id = ${sizes.small}::uuid`)
      const cart = yield* aGuestCart()
      for (const variantId of [sizes.small, sizes.medium]) {
        const body = { entityId: sizes.entityId, variantId, quantity: 1 }
        yield* api("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body })
      }
      assert.deepStrictEqual(lineTaxesOf(yield* checkOut(cart)), [0, 70])
    }))
})
