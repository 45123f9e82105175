import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { profileIdOf } from "../customers/CustomerFixtures.ts"
import { aRate, aZone, noZones, to } from "../shipping/Zones.ts"
import { checkOut, type GuestCart, putInto } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, at, live, testAppLayer } from "../support/TestApp.ts"
import { aTaxClass, aTaxedProduct, aTaxRate, scriptedTaxService, withoutRules } from "./TaxedShop.ts"

const exemption = { reason: "Public school" }

/** A cart to Austria with one product of 1190, of a customer who is exempt or not. */
const aCart = Effect.fnUntraced(function*(taxExemption: object | null, choices: object = {}) {
  const as = asCustomer(newId())
  const id = yield* profileIdOf(as)
  yield* api("PATCH", `/api/customers/${id}`, { as: asAdmin, body: { taxExemption } })
  const body = { currency: "USD", shippingAddress: to("AT"), ...choices }
  const made = yield* api("POST", "/api/carts", { as, body })
  const cart: GuestCart = { id: made.text("data.id"), headers: { "x-cart-secret": made.text("data.secret") } }
  yield* putInto(cart, yield* aTaxedProduct(1190))
  return cart
})

const amountsIn = (answer: Answer, path: string) =>
  new Map(answer.list(path).map((rate) => [String(at(rate, "id")), Number(at(rate, "amount"))]))

/** Amounts of the offered rates, once both routes agree with what quotes charge, and the dearest with a checkout. */
const shownFor = Effect.fnUntraced(function*(cart: GuestCart) {
  const shown = amountsIn(
    yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }),
    "data.totals.shippingRates"
  )
  const body = { cartId: cart.id, shippingAddress: to("AT") }
  const offered = yield* api("POST", "/api/shipping/quotes", { headers: cart.headers, body })
  assert.deepStrictEqual(amountsIn(offered, "data.rates"), shown)
  for (const [shippingRateId, amount] of shown) {
    const tried = yield* api("POST", `/api/carts/${cart.id}/quote`, { headers: cart.headers, body: { shippingRateId } })
    assert.strictEqual(tried.at("data.totals.shippingTotal"), amount)
  }
  const [shippingRateId, amount] = [...shown].at(-1) ?? []
  const order = yield* checkOut(cart, { shippingRateId })
  assert.strictEqual(order.at("data.shippingTotal"), amount)
  return [...shown.values()]
})

const ratesOf = Effect.fnUntraced(function*(taxClassId: string | null) {
  const zone = yield* aZone(["AT"])
  yield* aRate(zone, 595)
  yield* aRate(zone, 1100, { taxClassId })
  yield* aRate(zone, 1500, { freeShippingThreshold: 1 })
})

const nothingYet = Effect.andThen(noZones, withoutRules)

/** Goods at 19 %; the first rate is taxed like them, the second at 10 %, the third is free. */
const aShop = Effect.gen(function*() {
  yield* nothingYet
  yield* aTaxClass({ name: "standard", rateBps: 1900, isDefault: true })
  yield* ratesOf((yield* aTaxClass({ name: "post", rateBps: 1000 })).text("data.id"))
})

const service = scriptedTaxService()

const gross = {
  pricesIncludeTax: true,
  shippingByDefaultClass: true,
  exemptEuBusinesses: true,
  defaultFromAddress: to("DE"),
  vatNumberService: { id: "register", isRegistered: () => Promise.resolve(true) },
  adapter: service.adapter
}

layer(testAppLayer({ tax: gross }), live)("shipping rates of a store whose prices contain the tax", (it) => {
  it.effect("shows the rates with tax to buyers who pay it", () =>
    Effect.gen(function*() {
      yield* aShop
      assert.deepStrictEqual(yield* shownFor(yield* aCart(null)), [595, 1100, 0])
    }))

  it.effect("shows the rates to exempt buyers without the tax of each rate's class", () =>
    Effect.gen(function*() {
      yield* aShop
      assert.deepStrictEqual(yield* shownFor(yield* aCart(exemption)), [500, 1000, 0])
    }))

  it.effect("shows the rates without tax to a business whose VAT number is in the cart's billing address", () =>
    Effect.gen(function*() {
      yield* aShop
      const cart = yield* aCart(null, { billingAddress: { ...to("AT"), vatNumber: "ATU12345678" } })
      assert.deepStrictEqual(yield* shownFor(cart), [500, 1000, 0])
    }))

  it.effect("shows the rates that the promotion of the cart makes free as free", () =>
    Effect.gen(function*() {
      yield* aShop
      const code = `CODE${newId().replaceAll("-", "")}`
      const body = { code, name: code, type: "free_shipping", value: 0 }
      yield* api("POST", "/api/promotions", { as: asAdmin, body })
      assert.deepStrictEqual(yield* shownFor(yield* aCart(exemption, { promotionCodes: [code] })), [0, 0, 0])
    }))

  it.effect("asks the tax service for the tax of each rate that an exempt buyer can choose", () =>
    Effect.gen(function*() {
      yield* nothingYet
      yield* ratesOf(null)
      service.answers(({ lines, shippingTotal }) =>
        Promise.resolve({ lineTaxes: lines.map(() => 190), shippingTax: Math.round(shippingTotal / 5) })
      )
      assert.deepStrictEqual(yield* shownFor(yield* aCart(exemption)), [476, 880, 0])
      assert.deepStrictEqual(yield* shownFor(yield* aCart(null)), [595, 1100, 0])
    }))
})

layer(testAppLayer(), live)("shipping rates of a store that adds the tax to its prices", (it) => {
  it.effect("shows the same rates to buyers who pay tax and to exempt ones", () =>
    Effect.gen(function*() {
      yield* aShop
      yield* aTaxRate({ country: "AT", appliesToShipping: true })
      assert.deepStrictEqual(yield* shownFor(yield* aCart(null)), [595, 1100, 0])
      assert.deepStrictEqual(yield* shownFor(yield* aCart(exemption)), [595, 1100, 0])
    }))
})
