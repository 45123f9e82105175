import { assert, it as plain } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { CacheInvalidation } from "../../src/domain/platform/access/CacheInvalidation.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { ShippingSettings } from "../../src/domain/shipping/RateAdapter.ts"
import { ShippingPrices } from "../../src/domain/shipping/ShippingPrices.ts"
import { ShippingRates } from "../../src/domain/shipping/ShippingRate.ts"
import { shippingRecordsLayer, ShippingRuleCache, ShippingRuleRepo } from "../../src/domain/shipping/ShippingRepo.ts"
import { ShippingZones } from "../../src/domain/shipping/ShippingZone.ts"
import { TaxSettings } from "../../src/domain/tax/TaxAdapter.ts"
import { TaxClasses } from "../../src/domain/tax/TaxClass.ts"
import { Taxes } from "../../src/domain/tax/Taxes.ts"
import { TaxRates } from "../../src/domain/tax/TaxRate.ts"
import { taxRecordsLayer, TaxRuleCache, TaxRuleRepo } from "../../src/domain/tax/TaxRepo.ts"
import { inStore } from "../checkout/NewOrder.ts"
import { recording, statementsOf } from "../pricing/Statements.ts"
import { aRate, aZone, to } from "../shipping/Zones.ts"
import { eventually } from "../support/Eventually.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, servicesBeside, withApp } from "../support/TestApp.ts"
import { aTaxRate } from "./TaxedShop.ts"

/** One process without notifications: the test itself invalidates its caches. */
const services = Layer.mergeAll(
  Layer.mergeAll(Taxes.layer, taxRecordsLayer),
  Layer.mergeAll(ShippingPrices.layer, shippingRecordsLayer)
).pipe(
  Layer.provide(Layer.merge(TaxRuleCache.layer, ShippingRuleCache.layer)),
  Layer.provide(Layer.mergeAll(TaxRuleRepo.layer, TaxSettings.layerOf())),
  Layer.provide(Layer.mergeAll(ShippingRuleRepo.layer, ShippingSettings.layerOf({}))),
  Layer.provideMerge(CacheInvalidation.layer),
  Layer.provide(recording),
  Layer.provideMerge(TestDatabase)
)

const address = to("NL")
const goods = [{ amount: 1_000, quantity: 1, taxClass: null, taxClassId: null }]
const taxOf = ({ taxOf }: Taxes["Service"]) =>
  Effect.map(taxOf({ currency: "USD", address, lines: goods, shippingTotal: 0 }), ({ taxTotal }) => taxTotal)

const order = { currency: "USD", address, subtotalAfterDiscount: 1_000, weightGrams: 0 }
const shippingOf = ({ priceOf }: ShippingPrices["Service"]) =>
  Effect.match(priceOf({ ...order, shipsNothing: false, freeByPromotion: false }), {
    onFailure: () => "refused",
    onSuccess: ({ total }) => total
  })

/** The order's tax and shipping, and how many statements each of them took. */
const asked = Effect.gen(function*() {
  const [tax, shipping] = [taxOf(yield* Taxes), shippingOf(yield* ShippingPrices)]
  const [ofTax, ofShipping] = [(yield* statementsOf(tax)).length, (yield* statementsOf(shipping)).length]
  return { tax: [yield* tax, ofTax], shipping: [yield* shipping, ofShipping] }
}).pipe(inStore, Effect.orDie)

const costs = (tax: Array<number>, shipping: Array<number | string>) => ({ tax, shipping })

plain.layer(services, { excludeTestServices: true })("the rules of tax and shipping in a process", (it) => {
  it.effect("reads the rules for each order while the process receives no notifications", () =>
    Effect.gen(function*() {
      yield* (yield* CacheInvalidation).listen(false)
      yield* asked
      assert.deepStrictEqual(yield* asked, costs([0, 1], [0, 1]))
    }))

  it.effect("reads the rules once for all shipping rates that an order can have", () =>
    Effect.gen(function*() {
      yield* (yield* CacheInvalidation).listen(false)
      const { taxesOf } = yield* Taxes
      const choices = [1, 2, 3].map((shippingTotal) => ({ currency: "USD", address, lines: goods, shippingTotal }))
      assert.lengthOf(yield* statementsOf(taxesOf(choices, false)), 1)
    }).pipe(inStore, Effect.orDie))

  it.effect("caches the rules, and reads them again after each change of the process", () =>
    Effect.gen(function*() {
      const [rates, classes] = [yield* TaxRates, yield* TaxClasses]
      const [zones, prices] = [yield* ShippingZones, yield* ShippingRates]
      yield* (yield* CacheInvalidation).listen(true)
      yield* asked
      assert.deepStrictEqual(yield* asked, costs([0, 0], [0, 0]))
      const rate = yield* inStore(rates.create({ name: "VAT", country: "NL", rateBps: 2_100 }))
      assert.deepStrictEqual(yield* asked, costs([210, 1], [0, 0]))
      yield* inStore(rates.change(rate.id, { rateBps: 900 }))
      assert.deepStrictEqual(yield* asked, costs([90, 1], [0, 0]))
      yield* inStore(rates.remove(rate.id))
      assert.deepStrictEqual(yield* asked, costs([0, 1], [0, 0]))
      const made = yield* inStore(classes.create({ name: "standard", rateBps: 500, isDefault: true }))
      assert.deepStrictEqual(yield* asked, costs([50, 1], [0, 0]))
      yield* inStore(classes.change(made.id, { rateBps: 600 }))
      assert.deepStrictEqual(yield* asked, costs([60, 1], [0, 0]))
      yield* inStore(classes.remove(made.id))
      assert.deepStrictEqual(yield* asked, costs([0, 1], [0, 0]))
      const zone = yield* inStore(zones.create({ name: "Z", countries: ["NL"] }))
      assert.deepStrictEqual(yield* asked, costs([0, 0], ["refused", 1]))
      const price = yield* inStore(
        prices.create({ zoneId: zone.id, name: "R", currency: CurrencyCode.make("USD"), amount: 5 })
      )
      assert.deepStrictEqual(yield* asked, costs([0, 0], [5, 1]))
      yield* inStore(prices.change(price.id, { amount: 6 }))
      assert.deepStrictEqual(yield* asked, costs([0, 0], [6, 1]))
      yield* inStore(zones.change(zone.id, { isActive: false }))
      assert.deepStrictEqual(yield* asked, costs([0, 0], [0, 1]))
      yield* inStore(prices.remove(price.id))
      yield* inStore(zones.remove(zone.id))
      assert.deepStrictEqual(yield* asked, costs([0, 0], [0, 1]))
    }))

  it.effect("keeps the rules cached when those of another organization change", () =>
    Effect.gen(function*() {
      const { forget, listen } = yield* CacheInvalidation
      yield* listen(true)
      yield* asked
      for (const key of ["tax:org_other", "shipping:org_other"]) yield* forget(key)
      assert.deepStrictEqual(yield* asked, costs([0, 0], [0, 0]))
      for (const key of ["tax:org_default", "shipping:org_default"]) yield* forget(key)
      assert.deepStrictEqual(yield* asked, costs([0, 1], [0, 1]))
    }))
})

withApp("two processes of a deployment", (it) => {
  it.effect("uses a changed rule at once in two processes, with its answer in the one that changed it", () =>
    Effect.gen(function*() {
      const beside = yield* servicesBeside()
      const here = inStore(Effect.orDie(Effect.all([taxOf(yield* Taxes), shippingOf(yield* ShippingPrices)])))
      const there = inStore(
        Effect.orDie(Effect.all([taxOf(Context.get(beside, Taxes)), shippingOf(Context.get(beside, ShippingPrices))]))
      )
      const cached = Effect.map(statementsOf(there), ({ length }) => length === 0)
      yield* eventually("the other process to cache the rules", cached)
      /** The change is known here with its answer, and a moment later there. */
      const both = Effect.fnUntraced(function*(tax: number, shipping: number | string) {
        assert.deepStrictEqual(yield* here, [tax, shipping])
        const same = Effect.map(there, (seen) => seen[0] === tax && seen[1] === shipping)
        yield* eventually(`the other process to know ${tax} and ${shipping}`, same)
      })
      const change = (path: string, body: object) => api("PATCH", path, { as: asAdmin, body })
      const remove = (path: string) => api("DELETE", path, { as: asAdmin })
      const tax = `/api/tax/rates/${(yield* aTaxRate({ country: "NL", rateBps: 2_100 })).text("data.id")}`
      yield* both(210, 0)
      const zoneId = yield* aZone(["NL"])
      yield* both(210, "refused")
      const [zone, rate] = [`/api/shipping/zones/${zoneId}`, `/api/shipping/rates/${yield* aRate(zoneId, 300)}`]
      yield* both(210, 300)
      for (let amount = 1; amount <= 5; amount++) {
        yield* change(rate, { amount })
        yield* change(tax, { rateBps: amount * 100 })
        assert.deepStrictEqual(yield* here, [amount * 10, amount])
        const cheaper = `/api/shipping/rates/${yield* aRate(zoneId, 0)}`
        assert.deepStrictEqual(yield* here, [amount * 10, 0])
        yield* remove(cheaper)
        yield* change(zone, { isActive: false })
        assert.deepStrictEqual(yield* here, [amount * 10, 0])
        yield* change(zone, { isActive: true })
        yield* both(amount * 10, amount)
      }
      const paid = yield* checkOut(yield* aCartWith(yield* aProduct()), { shippingAddress: address })
      assert.deepStrictEqual([paid.at("data.taxTotal"), paid.at("data.shippingTotal")], [50, 5])
      yield* remove(tax)
      yield* remove(rate)
      yield* both(0, "refused")
      yield* remove(zone)
      yield* both(0, 0)
    }))
})
