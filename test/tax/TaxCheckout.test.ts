import { assert } from "@effect/vitest"
import { Context, Effect } from "effect"
import { Taxes } from "../../src/domain/tax/Taxes.ts"
import { aProductInSizes, assertAddsUp, onDatabase } from "../checkout/CheckoutFixtures.ts"
import { inStore } from "../checkout/NewOrder.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { eventually } from "../support/Eventually.ts"
import { aGuestCart, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, servicesBeside, withApp } from "../support/TestApp.ts"
import { aTaxClass, aTaxedProduct, aTaxRate, buying, lineTaxesOf, to, totalsOf, withoutRules } from "./TaxedShop.ts"

const taxable = {
  currency: "USD",
  address: { line1: "1 Main St", city: "Town", postalCode: "1000", country: "NL" },
  lines: [{ amount: 1000, quantity: 1, taxClass: null }],
  shippingTotal: 0
}

withApp("a checkout is taxed", (it) => {
  it.effect("not at all where the store has no rules, and remembers so: its next checkout sends no statement for it", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const { order } = yield* buying([yield* aTaxedProduct(1000)], to("NL"))
      assert.deepStrictEqual(totalsOf(order), { subtotal: 1000, tax: 0, included: false, total: 1000 })
      const { taxOf } = yield* Taxes
      const asked = Effect.map(statementsOf(inStore(Effect.orDie(taxOf(taxable)))), (sent) => sent.length)
      yield* eventually("nothing is asked any more", Effect.map(asked, (sent) => sent === 0))
      assert.strictEqual(yield* asked, 0)
    }))

  it.effect("by the class of each line: the variant's, else the entity's, else the default", () =>
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

  it.effect("by the country of its address, and by the state's rates where that has some", () =>
    Effect.gen(function*() {
      yield* withoutRules
      yield* aTaxRate({ name: "Federal", country: "US", rateBps: 1000 })
      yield* aTaxRate({ name: "State", country: "US", state: "CA", rateBps: 725 })
      yield* aTaxRate({ name: "County", country: "US", state: "CA", rateBps: 100 })
      const products = [yield* aTaxedProduct(1000), yield* aTaxedProduct(500)]
      const { order: inState } = yield* buying(products, to("us", "ca"))
      // 7.25 % of 1500 is 108.75 and 1 % is 15, each rounded by itself.
      assert.deepStrictEqual(totalsOf(inState), { subtotal: 1500, tax: 124, included: false, total: 1624 })
      assertAddsUp(inState)
      const { order: inCountry } = yield* buying(products, to("US", "TX"))
      assert.strictEqual(inCountry.at("data.taxTotal"), 150)
      const { order: abroad } = yield* buying(products, to("NL"))
      assert.strictEqual(abroad.at("data.taxTotal"), 0)
      const { order: unknown } = yield* buying(products)
      assert.strictEqual(unknown.at("data.taxTotal"), 0)
    }))

  it.effect("on what it costs after discount, and on nothing when all of it is free", () =>
    Effect.gen(function*() {
      yield* withoutRules
      yield* aTaxRate({ country: "NL", rateBps: 2100 })
      for (const [code, value] of [["TAXHALF", 50], ["TAXFREE", 100]] as const) {
        const body = { code, name: code, type: "percentage_off_order", value }
        yield* api("POST", "/api/promotions", { as: asAdmin, body })
      }
      const products = [yield* aTaxedProduct(999), yield* aTaxedProduct(1)]
      const half = yield* buying(products, { ...to("NL"), promotionCodes: ["TAXHALF"] })
      assert.deepStrictEqual(totalsOf(half.order), { subtotal: 1000, tax: 105, included: false, total: 605 })
      assertAddsUp(half.order)
      const free = yield* buying(products, { ...to("NL"), promotionCodes: ["TAXFREE"] })
      assert.deepStrictEqual(totalsOf(free.order), { subtotal: 1000, tax: 0, included: false, total: 0 })
    }))

  it.effect("by a changed rate at once, in every process", () =>
    Effect.gen(function*() {
      yield* withoutRules
      const rate = (yield* aTaxRate({ country: "NL", rateBps: 2100 })).text("data.id")
      const here = yield* Taxes
      const there = Context.get(yield* servicesBeside(), Taxes)
      const taxes = Effect.map(
        inStore(Effect.orDie(Effect.all([here.taxOf(taxable), there.taxOf(taxable)]))),
        (both) => both.map(({ taxTotal }) => taxTotal)
      )
      const remembers = Effect.map(
        statementsOf(inStore(Effect.orDie(there.taxOf(taxable)))),
        (sent) => sent.length === 0
      )
      yield* eventually("the other process remembers the rules", remembers)
      assert.deepStrictEqual(yield* taxes, [210, 210])
      yield* api("PATCH", `/api/tax/rates/${rate}`, { as: asAdmin, body: { rateBps: 900 } })
      const product = yield* aProduct()
      const { order } = yield* buying([product], to("NL"))
      assert.strictEqual(order.at("data.taxTotal"), 90)
      yield* eventually("both know", Effect.map(taxes, ([one, other]) => one === 90 && other === 90), 3_000)
      yield* api("DELETE", `/api/tax/rates/${rate}`, { as: asAdmin })
      yield* eventually("both know", Effect.map(taxes, ([one, other]) => one === 0 && other === 0), 3_000)
    }))
})
