import { assert, describe, it } from "@effect/vitest"
import { newId, type TaxClassId } from "../../src/domain/platform/ids/Id.ts"
import { allocate } from "../../src/domain/platform/money/Money.ts"
import type { Destination } from "../../src/domain/shipping/ShippingZone.ts"
import { percentOfBps } from "../../src/domain/tax/Percent.ts"
import { lineTaxShares, type Tax } from "../../src/domain/tax/TaxAmounts.ts"
import { isPostalForm } from "../../src/domain/tax/TaxPlace.ts"
import {
  type RegionRate,
  type RuleOfClass,
  type Taxable,
  taxByRules,
  type TaxManner,
  type TaxRules
} from "../../src/domain/tax/TaxRules.ts"
import { to } from "../shipping/Zones.ts"

const address = (country: string, state?: string, postalCode = "1000"): Destination => ({
  ...to(country),
  state,
  postalCode
})

const order = (amounts: ReadonlyArray<number>, also: Partial<Taxable> = {}): Taxable => ({
  currency: "USD",
  address: address("US", "CA"),
  lines: amounts.map((amount) => ({ amount, quantity: 1, taxClass: null, taxClassId: null })),
  shippingTotal: 0,
  ...also
})

const rate = (rateBps: number, also: Partial<RegionRate> = {}): RegionRate => ({
  id: newId(),
  name: "Tax",
  taxClassId: null,
  country: "US",
  state: null,
  postalCode: null,
  rate: percentOfBps(rateBps),
  validFrom: null,
  validUntil: null,
  compound: false,
  priority: 100,
  appliesToShipping: true,
  ...also
})

const aClass = (slug: string, rateBps: number, isDefault = false): RuleOfClass => ({
  id: newId(),
  name: slug,
  slug,
  rate: percentOfBps(rateBps),
  isDefault
})

const rules = (also: Partial<TaxRules>): TaxRules => ({ classes: [], rates: [], ...also })
const now = new Date("2026-07-01T00:00:00Z")
const onTop: TaxManner = { included: false, shippingByDefaultClass: false, now }
const within: TaxManner = { ...onTop, included: true }

const figures = (tax: Tax | undefined) =>
  tax === undefined ? undefined : { lineTaxes: tax.lineTaxes, taxTotal: tax.taxTotal }

const [standard, reduced] = [aClass("standard", 1900, true), aClass("reduced", 700)]
const classes = [standard, reduced]

const goods = (ids: ReadonlyArray<TaxClassId | null>, also: Partial<Taxable> = {}): Taxable => ({
  ...order([], also),
  lines: ids.map((taxClassId) => ({ amount: 1000, quantity: 1, taxClass: null, taxClassId }))
})

describe("tax by classes", () => {
  it("takes the rate of a line's class, and of the default class for no or an unknown one", () =>
    assert.deepStrictEqual(figures(taxByRules(rules({ classes }), goods([reduced.id, null, newId()]), onTop)), {
      lineTaxes: [70, 190, 190],
      taxTotal: 450
    }))

  it("taxes nothing without a class where none is the default", () => {
    const tax = taxByRules(rules({ classes: [reduced] }), goods([reduced.id, null]), onTop)
    assert.deepStrictEqual(tax?.lineTaxes, [70, 0])
  })

  it("taxes shipping by its class, else like the default class where the deployment says so", () => {
    const shipped = goods([null], { shippingTotal: 500 })
    const total = (taxable: Taxable, manner: Partial<TaxManner> = {}) =>
      taxByRules(rules({ classes }), taxable, { ...onTop, ...manner })?.taxTotal
    assert.strictEqual(total(shipped), 190)
    assert.strictEqual(total(shipped, { shippingByDefaultClass: true }), 190 + 95)
    assert.strictEqual(total(shipped, { shippingClass: "REDUCED" }), 190 + 35)
    assert.strictEqual(total({ ...shipped, shippingClassId: standard.id }, { shippingClass: "reduced" }), 190 + 95)
  })

  it("rounds the tax of a class once for the order: half a cent of each of two lines is one", () => {
    const half = rules({ classes: [aClass("half", 5000, true)] })
    assert.deepStrictEqual(figures(taxByRules(half, order([1, 1]), onTop)), { lineTaxes: [1, 0], taxTotal: 1 })
  })
})

describe("tax by class and region", () => {
  const rates = [
    rate(2000, { country: "AT" }),
    rate(1000, { country: "AT", taxClassId: reduced.id }),
    rate(500, { country: null, taxClassId: reduced.id })
  ]
  const taxes = (country: string, also: Partial<TaxRules> = {}) =>
    taxByRules(rules({ classes, rates, ...also }), goods([reduced.id, null], { address: address(country) }), onTop)
      ?.lineTaxes

  it("prefers class and region, then the region, then the class, then the default", () => {
    assert.deepStrictEqual(taxes("AT"), [100, 200])
    assert.deepStrictEqual(taxes("AT", { rates: rates.slice(0, 1) }), [200, 200])
    assert.deepStrictEqual(taxes("DE"), [50, 190])
    assert.deepStrictEqual(taxes("DE", { rates: [] }), [70, 190])
    assert.deepStrictEqual(taxes("DE", { classes: [], rates: [rate(300, { country: null })] }), [30, 30])
  })

  it("applies no rate of a class that is not active, so that a service may say the tax", () =>
    assert.isUndefined(taxByRules(rules({ rates: [rate(500, { taxClassId: newId() })] }), order([1000]), onTop)))

  it("prefers the postal code over the state and the state over the country", () => {
    const here = [rate(100), rate(200, { state: "CA" }), rate(300, { state: "CA", postalCode: "90*" })]
    const at = (place: Destination) => taxByRules(rules({ rates: here }), order([1000], { address: place }), onTop)
    assert.strictEqual(at(address("US", "CA", "9 0001"))?.taxTotal, 30)
    assert.strictEqual(at(address("US", "CA", "10000"))?.taxTotal, 20)
    assert.strictEqual(at(address("US", "NY", "90001"))?.taxTotal, 10)
  })

  it("prefers the narrower of two postal codes: a code, then what fixes more of it", () => {
    const here = [
      rate(100, { postalCode: "9*" }),
      rate(200, { postalCode: "90*" }),
      rate(300, { postalCode: "90000..90099" }),
      rate(400, { postalCode: "90001" })
    ]
    const at = (code: string) =>
      taxByRules(rules({ rates: here }), order([1000], { address: address("US", "", code) }), onTop)?.taxTotal
    assert.deepStrictEqual(["90001", "90002", "90100", "91000"].map(at), [40, 30, 20, 10])
  })

  it("reads a postal code as a code, a prefix or a range, without spaces and case", () => {
    const at = (postalCode: string, code: string) =>
      taxByRules(
        rules({ rates: [rate(1000, { postalCode })] }),
        order([1000], { address: address("US", "", code) }),
        onTop
      )
        ?.taxTotal
    assert.deepStrictEqual([at("ab1 2cd", "AB12CD"), at("AB12CD", "AB12CE")], [100, undefined])
    assert.deepStrictEqual([at("10000..19999", "19999"), at("10000..19999", "20000")], [100, undefined])
    assert.isUndefined(at("10000..19999", "100001"))
    assert.deepStrictEqual(["1*", "1..2", "A-1"].map(isPostalForm), [true, true, true])
    assert.deepStrictEqual(["*", "2..1", "1..10", "1*2", ""].map(isPostalForm), [false, false, false, false, false])
  })

  it("applies a rate from its beginning until before its end", () => {
    const at = (from: string | null, until: string | null) =>
      taxByRules(
        rules({
          rates: [
            rate(1000, {
              validFrom: from === null ? null : new Date(from),
              validUntil: until === null ? null : new Date(until)
            })
          ]
        }),
        order([1000]),
        onTop
      )?.taxTotal
    assert.deepStrictEqual([at("2026-07-01", null), at("2026-07-02", null)], [100, undefined])
    assert.deepStrictEqual([at(null, "2026-07-01"), at(null, "2026-07-02")], [undefined, 100])
  })
})

describe("tax by regions", () => {
  it("rounds a regional rate once: 8.25 % of 1000 + 500 is 124", () =>
    assert.deepStrictEqual(figures(taxByRules(rules({ rates: [rate(825)] }), order([1000, 500]), onTop)), {
      lineTaxes: [83, 41],
      taxTotal: 124
    }))

  it("computes 9.975 % exactly", () =>
    assert.strictEqual(taxByRules(rules({ rates: [rate(997.5)] }), order([200_000_00]), onTop)?.taxTotal, 19_950_00))

  it("adds up the rates of the state, else of the country, each rounded separately", () => {
    const rates = [rate(1000), rate(600, { state: "CA" }), rate(125, { state: " ca" }), rate(9000, { state: "NY" })]
    const places = [[address("US", "CA"), 61 + 13], [address("us", "TX"), 101], [address(" us "), 101]] as const
    for (const [place, tax] of places) {
      assert.strictEqual(taxByRules(rules({ rates }), order([1010], { address: place }), onTop)?.taxTotal, tax)
    }
  })

  it("puts a compound rate on the taxes before it, by priority", () => {
    const [gst, pst] = [rate(500, { priority: 1 }), rate(1000, { priority: 2, compound: true })]
    const tax = taxByRules(rules({ rates: [pst, gst] }), order([1000]), onTop)
    assert.deepStrictEqual(tax?.rates.map(({ amounts, bases }) => [bases[0], amounts[0]]), [[1000, 50], [1050, 105]])
    const inside = taxByRules(rules({ rates: [pst, gst] }), order([1155]), within)
    assert.deepStrictEqual(inside?.rates.map(({ amounts, bases }) => [bases[0], amounts[0]]), [[1000, 50], [1050, 105]])
  })

  it("puts a compound rate on those of a lower priority and on plain ones of the same, and on no later one", () => {
    const charged = (...sent: ReadonlyArray<RegionRate>) =>
      taxByRules(rules({ rates: sent }), order([1000]), onTop)?.rates.map(({ amounts }) => amounts[0])
    const compound = (rateBps: number, priority: number) => rate(rateBps, { priority, compound: true })
    assert.deepStrictEqual(charged(compound(1000, 3), compound(2000, 2), rate(500, { priority: 1 })), [50, 210, 126])
    assert.deepStrictEqual(charged(compound(1000, 1), rate(500, { priority: 1 })), [50, 105])
    assert.deepStrictEqual(charged(compound(1000, 1), rate(500, { priority: 2 })), [100, 50])
  })

  it("leaves a tax beyond all amounts to be refused", () => {
    const doubled = [rate(10_000, { priority: 1 }), rate(10_000, { priority: 2, compound: true })]
    const tax = taxByRules(rules({ rates: doubled }), order([Number.MAX_SAFE_INTEGER - 1]), onTop)
    assert.isFalse(Number.isSafeInteger(tax?.taxTotal))
  })

  it("has no tax for another country or without an address", () => {
    assert.isUndefined(taxByRules(rules({ rates: [rate(825)] }), order([1000], { address: address("NL") }), onTop))
    assert.isUndefined(taxByRules(rules({ rates: [rate(825)] }), order([1000], { address: null }), onTop))
  })

  it("taxes shipping where a rate says so", () => {
    const rates = [rate(1000), rate(500, { appliesToShipping: false })]
    assert.deepStrictEqual(figures(taxByRules(rules({ rates }), order([1000], { shippingTotal: 200 }), onTop)), {
      lineTaxes: [100 + 50],
      taxTotal: 120 + 50
    })
    assert.deepStrictEqual(figures(taxByRules(rules({ rates }), order([1150], { shippingTotal: 110 }), within)), {
      lineTaxes: [150],
      taxTotal: 150 + 10
    })
  })
})

describe("tax within prices", () => {
  const inside = (gross: number, rateBps: number) =>
    taxByRules(rules({ rates: [rate(rateBps)] }), order([gross]), within)?.taxTotal

  it("takes included tax as gross × rate / (1 + rate), rounded half up", () => {
    assert.deepStrictEqual([inside(1190, 1900), inside(999, 1900), inside(0, 1900)], [190, 160, 0])
    assert.strictEqual(inside(Number.MAX_SAFE_INTEGER, 10_000), (Number.MAX_SAFE_INTEGER + 1) / 2)
  })

  it("rounds goods and shipping apart: half a unit of each is two", () =>
    assert.strictEqual(
      taxByRules(rules({ rates: [rate(1000)] }), order([6], { shippingTotal: 6 }), within)?.taxTotal,
      2
    ))
})

describe("shares of tax", () => {
  it("have the shipping that they are on in their base, by what shipping's tax adds to each line", () => {
    const tax = taxByRules(rules({ rates: [rate(1000)] }), order([1000, 3000], { shippingTotal: 400 }), onTop)
    assert.isDefined(tax)
    assert.deepStrictEqual(lineTaxShares(tax, [110, 330]).flat().map(({ amount, base }) => [base, amount]), [
      [1100, 110],
      [3300, 330]
    ])
  })

  /** The same numbers in every run. */
  const numbers = (seed: number) => {
    let state = seed
    return (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor(state / 65_536) % below
    }
  }
  const sum = (amounts: ReadonlyArray<number>) => amounts.reduce((left, right) => left + right, 0)

  it("add up to the taxes of the order, by line and by rate, and included ones stay below the price", () => {
    for (let seed = 1; seed <= 2_000; seed++) {
      const next = numbers(seed)
      const some = [aClass("a", next(3_000_000) / 1_000, next(2) === 0), aClass("b", next(2_500))]
      const classOf = () => some[next(3)]?.id ?? null
      const rates = Array.from({ length: next(5) }, () =>
        rate(next(2_000_000) / 1_000, {
          taxClassId: next(3) === 0 ? classOf() : null,
          compound: next(2) === 0,
          priority: next(3),
          appliesToShipping: next(2) === 0
        }))
      const lines = Array.from({ length: 1 + next(5) }, () => ({
        amount: next(4) === 0 ? next(3) : next(90_000),
        quantity: 1,
        taxClass: null,
        taxClassId: classOf()
      }))
      const taxable = { ...order([]), lines, shippingTotal: next(2) * next(2_000), shippingClassId: classOf() }
      const included = next(2) === 0
      const tax = taxByRules(rules({ classes: some, rates }), taxable, { ...onTop, included })
      assert.isDefined(tax)
      const prices = lines.map(({ amount }) => amount)
      const spread = allocate(tax.taxTotal - sum(tax.lineTaxes), prices)
      const totals = tax.lineTaxes.map((amount, index) => amount + (spread[index] ?? 0))
      const shares = lineTaxShares(tax, totals)
      assert.deepStrictEqual(shares.map((ofLine) => sum(ofLine.map(({ amount }) => amount))), totals, `seed ${seed}`)
      assert.strictEqual(sum(shares.flat().map(({ amount }) => amount)), tax.taxTotal, `seed ${seed}`)
      assert.isTrue(shares.flat().every(({ amount, base }) => amount >= 0 && base >= 0), `seed ${seed}`)
      if (included) {
        assert.isTrue(tax.lineTaxes.every((amount, index) => amount <= (prices[index] ?? 0)), `seed ${seed}`)
      }
    }
  })
})
