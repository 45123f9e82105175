import { assert, describe, it } from "@effect/vitest"
import type { Destination } from "../../src/domain/shipping/ShippingZone.ts"
import { type RegionRate, type Taxable, taxByRules, taxOn, type TaxRules } from "../../src/domain/tax/TaxRules.ts"
import { to } from "../shipping/Zones.ts"

const address = (country: string, state?: string): Destination => ({ ...to(country), state })

const order = (amounts: ReadonlyArray<number>, also: Partial<Taxable> = {}): Taxable => ({
  currency: "USD",
  address: address("US", "CA"),
  lines: amounts.map((amount) => ({ amount, quantity: 1, taxClass: null })),
  shippingTotal: 0,
  ...also
})

const rate = (rateBps: number, also: Partial<RegionRate> = {}): RegionRate => ({
  country: "US",
  state: null,
  rateBps,
  appliesToShipping: true,
  ...also
})

const rules = (also: Partial<TaxRules>): TaxRules => ({ classes: [], rates: [], ...also })
const onTop = { included: false, shippingByDefaultClass: false }
const within = { included: true, shippingByDefaultClass: false }

describe("tax by classes", () => {
  const classes = [
    { name: "standard", rateBps: 1900, isDefault: true },
    { name: "reduced", rateBps: 700, isDefault: false }
  ]
  const goods = (also: Partial<Taxable> = {}): Taxable => ({
    ...order([], also),
    lines: [
      { amount: 1000, quantity: 1, taxClass: "reduced" },
      { amount: 1000, quantity: 1, taxClass: null },
      { amount: 1000, quantity: 1, taxClass: "forgotten" }
    ]
  })

  it("takes the rate of a line's class, and of the default class for no or an unknown one", () =>
    assert.deepStrictEqual(taxByRules(rules({ classes }), goods(), onTop), {
      lineTaxes: [70, 190, 190],
      taxTotal: 450
    }))

  it("taxes nothing without a class where none is the default", () => {
    const [, reduced] = classes
    const tax = taxByRules(rules({ classes: reduced ? [reduced] : [] }), goods(), onTop)
    assert.deepStrictEqual(tax?.lineTaxes, [70, 0, 0])
  })

  it("leaves shipping untaxed unless the deployment has the default class tax it", () => {
    const shipped = goods({ shippingTotal: 500 })
    assert.strictEqual(taxByRules(rules({ classes }), shipped, onTop)?.taxTotal, 450)
    const manner = { ...onTop, shippingByDefaultClass: true }
    assert.strictEqual(taxByRules(rules({ classes }), shipped, manner)?.taxTotal, 545)
  })

  it("prefers classes over the rates of regions", () =>
    assert.strictEqual(taxByRules(rules({ classes, rates: [rate(5000)] }), goods(), onTop)?.taxTotal, 450))

  it("rounds each line of a class half up separately", () => {
    const half = rules({ classes: [{ name: "half", rateBps: 5000, isDefault: true }] })
    assert.deepStrictEqual(taxByRules(half, order([1, 1]), onTop), { lineTaxes: [1, 1], taxTotal: 2 })
  })
})

describe("tax by regions", () => {
  it("rounds a regional rate once: 8.25 % of 1000 + 500 is 124", () =>
    assert.deepStrictEqual(taxByRules(rules({ rates: [rate(825)] }), order([1000, 500]), onTop), {
      lineTaxes: [83, 41],
      taxTotal: 124
    }))

  it("adds up the rates of the state, else of the country, each rounded separately", () => {
    const rates = [rate(1000), rate(600, { state: "CA" }), rate(125, { state: " ca" }), rate(9000, { state: "NY" })]
    const places = [[address("US", "CA"), 61 + 13], [address("us", "TX"), 101], [address(" us "), 101]] as const
    for (const [place, tax] of places) {
      assert.strictEqual(taxByRules(rules({ rates }), order([1010], { address: place }), onTop)?.taxTotal, tax)
    }
  })

  it("has no tax for another country or without an address", () => {
    assert.isUndefined(taxByRules(rules({ rates: [rate(825)] }), order([1000], { address: address("NL") }), onTop))
    assert.isUndefined(taxByRules(rules({ rates: [rate(825)] }), order([1000], { address: null }), onTop))
  })

  it("taxes shipping where a rate says so", () => {
    const rates = [rate(1000), rate(500, { appliesToShipping: false })]
    assert.deepStrictEqual(taxByRules(rules({ rates }), order([1000], { shippingTotal: 200 }), onTop), {
      lineTaxes: [100 + 50],
      taxTotal: 120 + 50
    })
    assert.deepStrictEqual(taxByRules(rules({ rates }), order([1150], { shippingTotal: 110 }), within), {
      lineTaxes: [150],
      taxTotal: 150 + 10
    })
  })
})

describe("tax within prices", () => {
  it("takes included tax as gross × rate / (1 + rate), rounded half up", () => {
    assert.strictEqual(taxOn(1190, 1900, true), 190)
    assert.strictEqual(taxOn(999, 1900, true), 160)
    assert.strictEqual(taxOn(0, 1900, true), 0)
    assert.strictEqual(taxOn(Number.MAX_SAFE_INTEGER, 10_000, true), (Number.MAX_SAFE_INTEGER + 1) / 2)
  })
})
