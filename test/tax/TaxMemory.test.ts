import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { CacheInvalidation } from "../../src/domain/access/CacheInvalidation.ts"
import { TaxClasses } from "../../src/domain/tax/TaxClasses.ts"
import { taxClassRepoLayer } from "../../src/domain/tax/TaxClassRepo.ts"
import { Taxes } from "../../src/domain/tax/Taxes.ts"
import { taxRateRepoLayer } from "../../src/domain/tax/TaxRateRepo.ts"
import { TaxRates } from "../../src/domain/tax/TaxRates.ts"
import { TaxRuleCache, taxRuleRepoLayer } from "../../src/domain/tax/TaxRuleRepo.ts"
import { TaxSettings } from "../../src/domain/tax/TaxSettings.ts"
import { inStore } from "../checkout/NewOrder.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { to } from "./TaxedShop.ts"

/** One process that hears no notifications: whoever tests its memory tells it of changes. */
const process = Layer.mergeAll(Taxes.layer, TaxRates.layer, TaxClasses.layer).pipe(
  Layer.provide(TaxRuleCache.layer),
  Layer.provide(Layer.mergeAll(taxClassRepoLayer, taxRateRepoLayer, taxRuleRepoLayer, TaxSettings.layerOf())),
  Layer.provideMerge(CacheInvalidation.layer),
  Layer.provideMerge(TestDatabase)
)

const taxable = {
  currency: "USD",
  address: to("NL").shippingAddress,
  lines: [{ amount: 1000, quantity: 1, taxClass: null }],
  shippingTotal: 0
}

/** The tax of the above, and how many statements it took. */
const asked = Effect.gen(function*() {
  const { taxOf } = yield* Taxes
  const sent = yield* statementsOf(taxOf(taxable))
  return { tax: (yield* taxOf(taxable)).taxTotal, statements: sent.length }
}).pipe(inStore)

it.layer(process, { excludeTestServices: true })("what a process remembers of an organization's rules", (it) => {
  it.effect("is nothing while it hears of no changes", () =>
    Effect.gen(function*() {
      yield* (yield* CacheInvalidation).listen(false)
      yield* asked
      assert.strictEqual((yield* asked).statements, 1)
    }))

  it.effect("costs no statement, and is out of date by no change of its own", () =>
    Effect.gen(function*() {
      const [rates, classes] = [yield* TaxRates, yield* TaxClasses]
      yield* (yield* CacheInvalidation).listen(true)
      yield* asked
      assert.deepStrictEqual(yield* asked, { tax: 0, statements: 0 })
      const rate = yield* inStore(rates.create({ name: "VAT", country: "NL", rateBps: 2100 }))
      assert.deepStrictEqual(yield* asked, { tax: 210, statements: 1 })
      yield* inStore(rates.change(rate.id, { rateBps: 900 }))
      assert.deepStrictEqual(yield* asked, { tax: 90, statements: 1 })
      const made = yield* inStore(classes.create({ name: "standard", rateBps: 500, isDefault: true }))
      assert.deepStrictEqual(yield* asked, { tax: 50, statements: 1 })
      yield* inStore(classes.change(made.id, { rateBps: 600 }))
      assert.deepStrictEqual(yield* asked, { tax: 60, statements: 1 })
      yield* inStore(classes.remove(made.id))
      assert.deepStrictEqual(yield* asked, { tax: 90, statements: 1 })
      yield* inStore(rates.remove(rate.id))
      assert.deepStrictEqual(yield* asked, { tax: 0, statements: 1 })
    }))

  it.effect("stays when another organization's change", () =>
    Effect.gen(function*() {
      const caches = yield* CacheInvalidation
      yield* caches.listen(true)
      yield* asked
      yield* caches.forget("tax:org_other")
      assert.strictEqual((yield* asked).statements, 0)
      yield* caches.forget("tax:org_default")
      assert.strictEqual((yield* asked).statements, 1)
    }))
})
