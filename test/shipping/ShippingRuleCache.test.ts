import { assert, describe, it as plain } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { CacheInvalidation } from "../../src/domain/access/CacheInvalidation.ts"
import { CurrencyCode } from "../../src/domain/money/Currency.ts"
import { ShippingPrices } from "../../src/domain/shipping/ShippingPrices.ts"
import { shippingRateRepoLayer } from "../../src/domain/shipping/ShippingRateRepo.ts"
import { ShippingRates } from "../../src/domain/shipping/ShippingRates.ts"
import { ShippingRuleCache, shippingRuleRepoLayer } from "../../src/domain/shipping/ShippingRuleRepo.ts"
import { ShippingSettings } from "../../src/domain/shipping/ShippingSettings.ts"
import { shippingZoneRepoLayer } from "../../src/domain/shipping/ShippingZoneRepo.ts"
import { ShippingZones } from "../../src/domain/shipping/ShippingZones.ts"
import { recording, statementsOf } from "../pricing/Statements.ts"
import { eventually } from "../support/Eventually.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, appBeside, asAdmin, withApp } from "../support/TestApp.ts"
import { aRate, aZone, offered, to } from "./Zones.ts"

const prices = ShippingPrices.layer.pipe(
  Layer.provide(ShippingRuleCache.layer),
  Layer.provide(Layer.merge(shippingRuleRepoLayer, ShippingSettings.layerOf({}))),
  Layer.provideMerge(CacheInvalidation.layer),
  Layer.provide(recording),
  Layer.provideMerge(TestDatabase)
)

const shipment = {
  currency: "USD",
  address: to("US"),
  subtotalAfterDiscount: 1_000,
  weightGrams: 0,
  digitalOnly: false,
  freeByPromotion: false
}

plain.layer(prices, { excludeTestServices: true })("the rules of shipping", (it) => {
  it.effect("are read once, and a checkout sends no statement for them after that", () =>
    Effect.gen(function*() {
      const caches = yield* CacheInvalidation
      const { priceOf } = yield* ShippingPrices
      const asked = Effect.provideService(priceOf(shipment), CurrentActor, systemActor("org_default"))
      const count = Effect.map(statementsOf(asked), (sent) => sent.length)
      assert.strictEqual(yield* count, 1)
      assert.strictEqual(yield* count, 1, "nothing is remembered by a process that hears of no changes")
      yield* caches.listen(true)
      assert.deepStrictEqual([yield* count, yield* count, yield* count], [1, 0, 0])
      yield* caches.forget("shipping:org_other")
      assert.strictEqual(yield* count, 0, "another store's change is none here")
      yield* caches.forget("shipping:org_default")
      assert.deepStrictEqual([yield* count, yield* count], [1, 0])
    }))
})

const usd = CurrencyCode.make("USD")

let forgotten = 0
const remembered = Layer.mock(ShippingRuleCache, { forget: Effect.sync(() => void forgotten++) })

const keeping = Layer.merge(ShippingZones.layer, ShippingRates.layer).pipe(
  Layer.provide(Layer.mergeAll(remembered, shippingZoneRepoLayer, shippingRateRepoLayer)),
  Layer.provideMerge(TestDatabase)
)

plain.layer(keeping, { excludeTestServices: true })("the rules of shipping", (it) => {
  it.effect("are forgotten by whoever changed them before he says so", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into organizations (id, name, slug) values ('org_default', 'D', 'd') on conflict do nothing`
      const [zones, rates] = [yield* ShippingZones, yield* ShippingRates]
      const zone = yield* zones.create({ name: "Z", countries: ["US"] })
      const rate = yield* rates.create({ zoneId: zone.id, name: "R", currency: usd, amount: 1 })
      const changes = [
        zones.create({ name: "Y", countries: ["US"] }),
        zones.change(zone.id, { priority: 1 }),
        rates.create({ zoneId: zone.id, name: "Q", currency: usd, amount: 1 }),
        rates.change(rate.id, { amount: 2 }),
        rates.remove(rate.id)
      ]
      for (const [index, change] of changes.entries()) {
        const before = forgotten
        yield* change
        assert.strictEqual(forgotten, before + 1, `change ${index}`)
      }
      const before = forgotten
      const last = yield* zones.create({ name: "X", countries: ["US"] })
      yield* zones.remove(last.id)
      assert.strictEqual(forgotten, before + 2)
    }).pipe(Effect.provideService(CurrentActor, systemActor("org_default"))))
})

describe("two processes of a deployment", () => {
  withApp((it) => {
    it.effect("both charge a changed rate as soon as it is changed", () =>
      Effect.gen(function*() {
        const beside = yield* appBeside()
        const entityId = yield* aProduct()
        const zone = yield* aZone(["US"])
        const rate = yield* aRate(zone, 300)
        const cart = yield* aCartWith(entityId)
        const body = { cartId: cart.id, shippingAddress: to("US") }
        const quotes = "/api/shipping/quotes"
        const there = Effect.map(beside.api("POST", quotes, { body, headers: cart.headers }), offered)
        yield* eventually("the other process to know the rate", Effect.map(there, ([amount]) => amount === 300))
        for (const amount of [301, 302, 303]) {
          yield* api("PATCH", `/api/shipping/rates/${rate}`, { as: asAdmin, body: { amount } })
          assert.deepStrictEqual(
            offered(yield* api("POST", quotes, { body, headers: cart.headers })),
            [amount],
            "who made the change knows it with the answer"
          )
          yield* eventually("the other process to hear of it", Effect.map(there, ([seen]) => seen === amount), 2_000)
        }
        const here = Effect.map(
          api("POST", quotes, { body, headers: cart.headers }),
          (answer) => answer.status === 200 ? offered(answer) : answer.status
        )
        const others = `/api/shipping/zones/${yield* aZone(["FR"])}`
        for (let amount = 1; amount <= 5; amount++) {
          const cheaper = `/api/shipping/rates/${yield* aRate(zone, amount)}`
          assert.deepStrictEqual(yield* here, [amount, 303])
          yield* api("DELETE", cheaper, { as: asAdmin })
          assert.deepStrictEqual(yield* here, [303])
          yield* api("PATCH", `/api/shipping/zones/${zone}`, { as: asAdmin, body: { isActive: false } })
          assert.deepStrictEqual(yield* here, 422, "another zone is there, and this one is not any more")
          yield* api("PATCH", `/api/shipping/zones/${zone}`, { as: asAdmin, body: { isActive: true } })
          assert.deepStrictEqual(yield* here, [303])
        }
        yield* api("PATCH", `/api/shipping/zones/${zone}`, { as: asAdmin, body: { isActive: false } })
        yield* api("DELETE", others, { as: asAdmin })
        for (let round = 1; round <= 5; round++) {
          assert.deepStrictEqual(yield* here, [0], "no zones any more")
          const only = `/api/shipping/zones/${yield* aZone(["FR"])}`
          assert.deepStrictEqual(yield* here, 422)
          yield* api("DELETE", only, { as: asAdmin })
        }
        yield* api("PATCH", `/api/shipping/zones/${zone}`, { as: asAdmin, body: { isActive: true } })
        yield* beside.api("PATCH", `/api/shipping/zones/${zone}`, { as: asAdmin, body: { isActive: false } })
        yield* eventually(
          "the checkout to hear of it",
          Effect.map(
            api("POST", quotes, { body, headers: cart.headers }),
            (answer) => offered(answer)[0] === 0
          ),
          2_000
        )
        assert.strictEqual((yield* checkOut(cart, { shippingAddress: to("US") })).at("data.shippingTotal"), 0)
      }))
  })
})
