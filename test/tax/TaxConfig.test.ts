import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { type TaxConfig, taxOptionsOf } from "../../src/layers/config/TaxConfig.ts"
import { scriptedTaxService } from "./TaxedShop.ts"

const { adapter } = scriptedTaxService()

const starting = (tax: TaxConfig) =>
  Effect.provideService(readSettings({ tax }), ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({}))

describe("what a deployment says of tax", () => {
  it.effect("is refused at the start when it cannot be", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [TaxConfig, RegExp]> = [
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

  it("decides for all organizations, and for single ones", () => {
    const { pricesIncludeTax } = taxOptionsOf({
      pricesIncludeTax: true,
      organizations: { net: { pricesIncludeTax: false }, silent: {} }
    })
    assert.deepStrictEqual(["net", "silent", "any"].map(pricesIncludeTax), [false, true, true])
    assert.isFalse(taxOptionsOf().pricesIncludeTax("any"))
  })

  it("refuses checkouts without an answer, unless it names a flat rate that is to be taken", () => {
    assert.isUndefined(taxOptionsOf({ adapter }).fallbackRateBps)
    assert.strictEqual(taxOptionsOf({ adapter, fallbackRateBps: 1900 }).fallbackRateBps, 1900)
    assert.isUndefined(taxOptionsOf({ adapter, fallbackRateBps: 1900, onFailure: "refuse" }).fallbackRateBps)
  })
})
