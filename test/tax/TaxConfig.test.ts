import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { scriptedTaxService } from "./TaxedShop.ts"

const { adapter } = scriptedTaxService()

type Tax = NonNullable<DeploymentConfig["tax"]>

const starting = (tax: Tax, environment = {}) =>
  Effect.provideService(readSettings({ tax }), ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment))

describe("what a deployment says of tax", () => {
  it.effect("refuses invalid settings of tax at the start", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [Tax, RegExp]> = [
        [{ timeoutMs: 0 }, /tax\.timeoutMs/],
        [{ timeoutMs: 60_001 }, /tax\.timeoutMs/],
        [{ fallbackRateBps: 10_001 }, /tax\.fallbackRateBps/],
        [{ fallbackRateBps: 0.5 }, /tax\.fallbackRateBps/],
        [{ onFailure: "fallback" }, /tax\.fallbackRateBps/],
        [JSON.parse("{\"onFailure\":\"shrug\"}"), /tax\.onFailure/],
        [{ adapter: { ...adapter, id: "" } }, /tax\.adapter\.id/]
      ]
      for (const [config, message] of wrong) {
        assert.match((yield* Effect.flip(starting(config))).message, message)
      }
      yield* starting({ adapter, fallbackRateBps: 1900, onFailure: "fallback", timeoutMs: 1 })
    }))

  it.effect("exempts businesses only with an address in the EU, and in production only with a service", () =>
    Effect.gen(function*() {
      const address = { line1: "Weg 1", city: "Berlin", postalCode: "10115", country: "DE" }
      const on = { exemptEuBusinesses: true, defaultFromAddress: address }
      const production = { NODE_ENV: "production", STOA_AUTH_SECRET: "0".repeat(64) }
      for (const place of [{}, { defaultFromAddress: { ...address, country: "CH" } }]) {
        const { message } = yield* Effect.flip(starting({ exemptEuBusinesses: true, ...place }))
        assert.match(message, /tax\.defaultFromAddress/)
      }
      assert.match((yield* Effect.flip(starting(on, production))).message, /tax\.vatNumberService/)
      assert.strictEqual((yield* starting(on)).taxes.vatNumbers?.id, "test")
      const vatNumberService = { id: "register", isRegistered: () => Promise.resolve(true) }
      const own = yield* starting({ ...on, vatNumberService })
      assert.strictEqual(own.taxes.vatNumbers, vatNumberService)
    }))

  it.effect("applies a setting to all organizations or to single ones", () =>
    Effect.gen(function*() {
      const { pricesIncludeTax } = (yield* starting({
        pricesIncludeTax: true,
        organizations: { net: { pricesIncludeTax: false }, silent: {} }
      })).taxes
      assert.deepStrictEqual(["net", "silent", "any"].map(pricesIncludeTax), [false, true, true])
      assert.isFalse((yield* starting({})).taxes.pricesIncludeTax("any"))
      const { shippingClass } = (yield* starting({
        shippingClassId: "standard",
        organizations: { own: { shippingClassId: "reduced" }, silent: {} }
      })).taxes
      assert.deepStrictEqual(["own", "silent", "any"].map(shippingClass), ["reduced", "standard", "standard"])
      assert.isUndefined((yield* starting({})).taxes.shippingClass("any"))
    }))

  it.effect("refuses checkouts without an answer, unless a flat rate is configured", () =>
    Effect.gen(function*() {
      const rateOf = (tax: Tax) => Effect.map(starting({ adapter, ...tax }), ({ taxes }) => taxes.fallbackRateBps)
      assert.isUndefined(yield* rateOf({}))
      assert.strictEqual(yield* rateOf({ fallbackRateBps: 1900 }), 1900)
      assert.isUndefined(yield* rateOf({ fallbackRateBps: 1900, onFailure: "refuse" }))
    }))
})
