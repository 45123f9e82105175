import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { allocateDiscounts, orderTotals } from "../../src/domain/checkout/Totals.ts"
import { CurrencyCode, exponentOf } from "../../src/domain/money/Currency.ts"
import type { Destination } from "../../src/domain/shipping/Destination.ts"
import {
  byRates,
  type RegionRate,
  type Taxable,
  taxByRules,
  taxOn,
  type TaxRules
} from "../../src/domain/tax/TaxRules.ts"

const address = (country: string, state?: string): Destination => ({
  line1: "1 Main St",
  city: "Town",
  postalCode: "1000",
  country,
  state
})

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

  it("takes the rate of a line's class, and of the default class for what names none or an unknown one", () =>
    assert.deepStrictEqual(taxByRules(rules({ classes }), goods(), onTop), {
      lineTaxes: [70, 190, 190],
      taxTotal: 450
    }))

  it("is nothing for what names no class where none is the default", () => {
    const [, reduced] = classes
    assert.deepStrictEqual(taxByRules(rules({ classes: reduced ? [reduced] : [] }), goods(), onTop)?.lineTaxes, [
      70,
      0,
      0
    ])
  })

  it("leaves shipping untaxed unless the deployment has the default class tax it", () => {
    const shipped = goods({ shippingTotal: 500 })
    assert.strictEqual(taxByRules(rules({ classes }), shipped, onTop)?.taxTotal, 450)
    const manner = { ...onTop, shippingByDefaultClass: true }
    assert.strictEqual(taxByRules(rules({ classes }), shipped, manner)?.taxTotal, 545)
  })

  it("goes before the rates of regions, which are not asked then", () =>
    assert.strictEqual(taxByRules(rules({ classes, rates: [rate(5000)] }), goods(), onTop)?.taxTotal, 450))

  it("rounds each line half up by itself", () => {
    const half = rules({ classes: [{ name: "half", rateBps: 5000, isDefault: true }] })
    assert.deepStrictEqual(taxByRules(half, order([1, 1]), onTop), { lineTaxes: [1, 1], taxTotal: 2 })
  })
})

describe("tax by regions", () => {
  it("is the contract's example: 8.25 % of 1000 + 500 is 124, rounded once", () =>
    assert.deepStrictEqual(taxByRules(rules({ rates: [rate(825)] }), order([1000, 500]), onTop), {
      lineTaxes: [83, 41],
      taxTotal: 124
    }))

  it("adds up all rates of the state, which beat those of the country, each rounded by itself", () => {
    const rates = [rate(1000), rate(600, { state: "CA" }), rate(125, { state: " ca" }), rate(9000, { state: "NY" })]
    assert.strictEqual(taxByRules(rules({ rates }), order([1010]), onTop)?.taxTotal, 61 + 13)
    assert.strictEqual(
      taxByRules(rules({ rates }), order([1010], { address: address("us", "TX") }), onTop)?.taxTotal,
      101
    )
    assert.strictEqual(taxByRules(rules({ rates }), order([1010], { address: address(" us ") }), onTop)?.taxTotal, 101)
  })

  it("has nothing to say about another country, or without an address", () => {
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
  it("is gross × rate / (1 + rate), half up, and the net is what is left", () => {
    assert.strictEqual(taxOn(1190, 1900, true), 190)
    assert.strictEqual(taxOn(999, 1900, true), 160)
    assert.strictEqual(taxOn(0, 1900, true), 0)
    assert.strictEqual(taxOn(Number.MAX_SAFE_INTEGER, 10_000, true), (Number.MAX_SAFE_INTEGER + 1) / 2)
  })
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const bps = between(0, 10_000)

/** Carts in currencies of 0, 2 and 3 decimals, of everyday prices in their major units; half of them cost nothing after discount. */
const anyOrder = Schema.Struct({
  currency: Schema.Literals(["JPY", "EUR", "KWD"]),
  lines: Schema.NonEmptyArray(
    Schema.Struct({
      quantity: between(1, 99),
      price: between(0, 100_000),
      taxClass: Schema.Literals(["a", "b", "none"])
    })
  ),
  discount: between(0, 100),
  shipping: between(0, 10_000),
  classes: Schema.Array(bps),
  rates: Schema.NonEmptyArray(Schema.Struct({ rateBps: bps, appliesToShipping: Schema.Boolean })),
  included: Schema.Boolean,
  shippingByDefaultClass: Schema.Boolean
})

const added = (amounts: ReadonlyArray<number>) => amounts.reduce((sum, amount) => sum + amount, 0)

/** What a cart of the above costs, with and without its tax. */
const priced = (cart: typeof anyOrder.Type) => {
  const { classes: [a, b], currency, included, rates, shippingByDefaultClass } = cart
  const unit = 10 ** exponentOf(Schema.decodeUnknownSync(CurrencyCode)(currency)) / 100
  const lines = cart.lines.map(({ price, quantity }, key) => ({
    key: String(key),
    quantity,
    unitPrice: Math.round(price * unit)
  }))
  const costs = lines.map(({ quantity, unitPrice }) => quantity * unitPrice)
  // Up to 50 % as drawn, and everything for free beyond.
  const percent = cart.discount > 50 ? 100 : cart.discount
  const discounts = [{ amount: Math.floor(added(costs) * percent / 100) }]
  const parts = allocateDiscounts(costs, discounts)
  const shippingTotal = Math.round(cart.shipping * unit)
  const taxable: Taxable = {
    currency,
    address: address("US"),
    lines: cart.lines.map(({ quantity, taxClass }, index) => ({
      amount: (costs[index] ?? 0) - (parts[index] ?? 0),
      quantity,
      taxClass
    })),
    shippingTotal
  }
  const named = [["a", a], ["b", b]] as const
  const classes = named.flatMap(([name, rateBps]) =>
    rateBps === undefined ? [] : [{ name, rateBps, isDefault: name === "a" }]
  )
  const tax = taxByRules(
    { classes, rates: rates.map((one) => ({ ...one, country: "US", state: null })) },
    taxable,
    { included, shippingByDefaultClass }
  ) ?? { lineTaxes: [], taxTotal: -1 }
  const totals = orderTotals({ currency, lines, discounts, shippingTotal, ...tax, taxIncluded: included })
  return { taxable, tax, totals: Result.getOrThrow(totals), byClasses: classes.length > 0 }
}

describe("five thousand generated orders", () => {
  it.prop("add up: lines equal the order, whichever rules and currency, with tax within prices or on top", {
    cart: anyOrder
  }, ({ cart }) => {
    const { byClasses, tax, taxable, totals } = priced(cart)
    const net = totals.subtotal - totals.discountTotal + totals.shippingTotal
    assert.strictEqual(totals.grandTotal, cart.included ? net : net + tax.taxTotal)
    assert.strictEqual(added(totals.lines.map((line) => line.taxAmount)), tax.taxTotal)
    assert.isAtLeast(tax.taxTotal, added(tax.lineTaxes))
    for (const [index, { amount }] of taxable.lines.entries()) {
      const own = tax.lineTaxes[index] ?? -1
      assert.isTrue(Number.isSafeInteger(own) && own >= 0)
      // Within a price there is never more tax than price; on top of it, all rates together say how much at most.
      const most = cart.included ? 1 : byClasses ? 1 : cart.rates.length
      assert.isAtMost(own, amount * most)
      if (amount === 0) assert.strictEqual(own, 0)
    }
    if (cart.included) assert.isAtMost(tax.taxTotal, totals.grandTotal)
  }, { arbitrary: { runs: 5_000 }, timeout: 60_000 })

  it.prop("are taxed to the unit like one line of the same amount, rate by rate", {
    amounts: Schema.NonEmptyArray(between(0, 1_000_000)),
    rateBps: bps,
    included: Schema.Boolean
  }, ({ amounts, included, rateBps }) => {
    const { lineTaxes, taxTotal } = byRates([rate(rateBps)], order(amounts), { included })
    return taxTotal === taxOn(added(amounts), rateBps, included) && added(lineTaxes) === taxTotal
  }, { arbitrary: { runs: 2_000 } })

  it.prop("whose prices contain their tax are made of net and tax: tax on the net is the tax again", {
    gross: between(0, 10_000_000),
    rateBps: bps
  }, ({ gross, rateBps }) => {
    const tax = taxOn(gross, rateBps, true)
    // Rounding the net up to the unit moves its tax by at most one unit at rates up to 100 %.
    return Math.abs(taxOn(gross - tax, rateBps, false) - tax) <= 1
  }, { arbitrary: { runs: 2_000 } })
})
