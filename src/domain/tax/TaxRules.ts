import { Schema, Struct } from "effect"
import { allocate, roundHalfUp } from "../platform/money/Money.ts"
import { comparable, type Destination } from "../shipping/ShippingZone.ts"
import { TaxClass } from "./TaxClass.ts"
import { TaxRate } from "./TaxRate.ts"

export interface TaxableLine {
  /** After discount, minor units. */
  readonly amount: number
  readonly quantity: number
  readonly taxClass: string | null
}

export interface Taxable {
  readonly currency: string
  readonly address: Destination | null
  readonly lines: ReadonlyArray<TaxableLine>
  readonly shippingTotal: number
}

export const TaxRules = Schema.Struct({
  classes: Schema.Array(Schema.Struct(Struct.pick(TaxClass.fields, ["name", "rateBps", "isDefault"]))),
  rates: Schema.Array(Schema.Struct(Struct.pick(TaxRate.fields, ["country", "state", "rateBps", "appliesToShipping"])))
})
export type TaxRules = typeof TaxRules.Type
export type RegionRate = TaxRules["rates"][number]

export interface TaxManner {
  readonly included: boolean
  /** With classes: shipping is taxed like the default class. Region rates specify whether they tax it. */
  readonly shippingByDefaultClass: boolean
}

/** Minor units. `taxTotal` is the lines' tax plus that of shipping. */
export interface Tax {
  readonly lineTaxes: ReadonlyArray<number>
  readonly taxTotal: number
}

const sum = (amounts: ReadonlyArray<number>): number => amounts.reduce((left, right) => left + right, 0)

/** Rounded half up, once; of an inclusive amount the net is what is left: net + tax is the price to the unit. */
export const taxOn = (amount: number, rateBps: number, included: boolean): number =>
  Number(roundHalfUp(BigInt(amount) * BigInt(rateBps), BigInt(included ? 10_000 + rateBps : 10_000)))

/**
 * Tax by classes (contract §3.5, 1). Each line is rounded separately. An unknown or inactive class counts as absent.
 */
const byClasses = ({ classes }: TaxRules, { lines, shippingTotal }: Taxable, manner: TaxManner): Tax => {
  const rates = new Map(classes.map(({ name, rateBps }) => [name, rateBps]))
  const usual = classes.find(({ isDefault }) => isDefault)?.rateBps ?? 0
  const rateOf = (name: string | null): number => name === null ? usual : rates.get(name) ?? usual
  const lineTaxes = lines.map(({ amount, taxClass }) => taxOn(amount, rateOf(taxClass), manner.included))
  const ofShipping = manner.shippingByDefaultClass ? taxOn(shippingTotal, usual, manner.included) : 0
  return { lineTaxes, taxTotal: sum(lineTaxes) + ofShipping }
}

const ratesAt = (rates: ReadonlyArray<RegionRate>, address: Destination): ReadonlyArray<RegionRate> => {
  const country = comparable(address.country)
  const inCountry = rates.filter((rate) => rate.country === country)
  const state = comparable(address.state ?? "")
  const ofState = inCountry.filter((rate) => rate.state !== null && comparable(rate.state) === state)
  return ofState.length > 0 ? ofState : inCountry.filter((rate) => rate.state === null)
}

/**
 * Rounds each rate half up once, over everything it taxes, and splits it over lines and shipping by the largest
 * remainder: the lines add up to the order.
 */
const added = (rates: ReadonlyArray<RegionRate>, amounts: ReadonlyArray<number>, shippingTotal: number): Tax => {
  const parts = rates.map(({ appliesToShipping, rateBps }) => {
    const taxed = [...amounts, appliesToShipping ? shippingTotal : 0]
    const tax = taxOn(sum(taxed), rateBps, false)
    return { tax, ofLines: allocate(tax, taxed) }
  })
  return {
    lineTaxes: amounts.map((_, index) => sum(parts.map(({ ofLines }) => ofLines[index] ?? 0))),
    taxTotal: sum(parts.map(({ tax }) => tax))
  }
}

/**
 * Rounds all rates together half up, once for goods and once for shipping, which may have fewer rates. Goods' tax is
 * split by the largest remainder; no line's tax exceeds its price.
 */
const contained = (rates: ReadonlyArray<RegionRate>, amounts: ReadonlyArray<number>, shippingTotal: number): Tax => {
  const rateOf = (some: ReadonlyArray<RegionRate>) => sum(some.map(({ rateBps }) => rateBps))
  const lineTaxes = allocate(taxOn(sum(amounts), rateOf(rates), true), amounts)
  const ofShipping = taxOn(shippingTotal, rateOf(rates.filter((rate) => rate.appliesToShipping)), true)
  return { lineTaxes, taxTotal: sum(lineTaxes) + ofShipping }
}

/** Tax by the rates of a region (contract §3.5, 2), which ignore classes. */
export const byRates = (
  rates: ReadonlyArray<RegionRate>,
  { lines, shippingTotal }: Taxable,
  { included }: Pick<TaxManner, "included">
): Tax => (included ? contained : added)(rates, lines.map(({ amount }) => amount), shippingTotal)

export const untaxed = ({ lines }: Taxable): Tax => ({ lineTaxes: lines.map(() => 0), taxTotal: 0 })

/**
 * Tax by classes if there are any, else by the rates of the address (contract §3.5). Undefined if neither applies: the
 * external service decides.
 */
export const taxByRules = (rules: TaxRules, taxable: Taxable, manner: TaxManner): Tax | undefined => {
  if (rules.classes.length > 0) return byClasses(rules, taxable, manner)
  const rates = taxable.address === null ? [] : ratesAt(rules.rates, taxable.address)
  return rates.length > 0 ? byRates(rates, taxable, manner) : undefined
}
