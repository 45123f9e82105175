import { Schema, Struct } from "effect"
import type { TaxClassId } from "../platform/ids/Id.ts"
import type { Destination } from "../shipping/ShippingZone.ts"
import { type ChargedRate, type Tax, taxAmounts } from "./TaxAmounts.ts"
import { TaxClass } from "./TaxClass.ts"
import { everywhere, precisionAt } from "./TaxPlace.ts"
import { TaxRate } from "./TaxRate.ts"

export interface TaxableLine {
  /** After discount, minor units. */
  readonly amount: number
  readonly quantity: number
  readonly taxClass: string | null
  readonly taxClassId: TaxClassId | null
}

export interface Taxable {
  readonly currency: string
  readonly address: Destination | null
  readonly lines: ReadonlyArray<TaxableLine>
  readonly shippingTotal: number
  /** The class of the shipping rate. */
  readonly shippingClassId?: TaxClassId | null
}

export const TaxRules = Schema.Struct({
  classes: Schema.Array(Schema.Struct(Struct.pick(TaxClass.fields, ["id", "slug", "name", "rate", "isDefault"]))),
  rates: Schema.Array(
    Schema.Struct(
      Struct.omit(TaxRate.fields, ["organizationId", "rateBps", "isActive", "metadata", "createdAt", "updatedAt"])
    )
  )
})
export type TaxRules = typeof TaxRules.Type
export type RuleOfClass = TaxRules["classes"][number]
export type RegionRate = TaxRules["rates"][number]

export interface TaxManner {
  readonly included: boolean
  /** Where no rate and no class says it: shipping is taxed like the default class. */
  readonly shippingByDefaultClass: boolean
  /** Id or slug of the class of shipping. */
  readonly shippingClass?: string | undefined
  readonly now: Date
}

/** A rate of an address, with how specific it is about it. */
interface RateHere {
  readonly precision: number
  readonly charged: ChargedRate
  readonly taxClassId: TaxClassId | null
  readonly appliesToShipping: boolean
}

const isInForce = ({ validFrom, validUntil }: RegionRate, now: Date): boolean =>
  (validFrom === null || validFrom <= now) && (validUntil === null || now < validUntil)

const ratesHere = ({ classes, rates }: TaxRules, { address }: Taxable, now: Date): ReadonlyArray<RateHere> =>
  rates.flatMap((one) => {
    const { appliesToShipping, compound, id, name, priority, rate, taxClassId } = one
    const isKnown = taxClassId === null || classes.some(({ id }) => id === taxClassId)
    const precision = isKnown && isInForce(one, now) ? precisionAt(one, address) : undefined
    const charged = { rateId: id, name, rate, compound, priority }
    return precision === undefined ? [] : [{ precision, charged, taxClassId, appliesToShipping }]
  })

const mostPrecise = (rates: ReadonlyArray<RateHere>): ReadonlyArray<RateHere> => {
  const most = Math.max(...rates.map(({ precision }) => precision))
  return rates.filter(({ precision }) => precision === most)
}

const charge = ({ name, rate }: Pick<RuleOfClass, "name" | "rate">): ChargedRate => ({
  rateId: null,
  name,
  rate,
  compound: false,
  priority: 0
})

/** Class and region, region, class, the rest: the first of them that has rates (contract-commerce §5). */
const ratesOf = (here: ReadonlyArray<RateHere>, one: RuleOfClass | undefined): ReadonlyArray<RateHere> => {
  const regional = here.filter(({ precision }) => precision > everywhere)
  const [ofClass, ofAll] = [
    (rates: ReadonlyArray<RateHere>) => rates.filter(({ taxClassId }) => one !== undefined && taxClassId === one.id),
    (rates: ReadonlyArray<RateHere>) => rates.filter(({ taxClassId }) => taxClassId === null)
  ]
  const own = one === undefined
    ? []
    : [{ precision: everywhere, charged: charge(one), taxClassId: one.id, appliesToShipping: true }]
  const levels = [ofClass(regional), ofAll(regional), ofClass(here), own, ofAll(here)]
  return mostPrecise(levels.find((rates) => rates.length > 0) ?? [])
}

const chargedBy = (rates: ReadonlyArray<RateHere>): ReadonlyArray<ChargedRate> => rates.map(({ charged }) => charged)

const classNamed = ({ classes }: TaxRules, sent: string): RuleOfClass | undefined => {
  const name = sent.toLowerCase()
  return classes.find(({ id, slug }) => id === name || slug === name)
}

/** The class of shipping: of its rate, else of the deployment, else the default class if the deployment says so. */
const shippingClassOf = (
  rules: TaxRules,
  { shippingClassId = null }: Taxable,
  { shippingByDefaultClass, shippingClass = "" }: TaxManner
): RuleOfClass | undefined =>
  rules.classes.find(({ id }) => id === shippingClassId) ?? classNamed(rules, shippingClass) ??
    (shippingByDefaultClass ? rules.classes.find(({ isDefault }) => isDefault) : undefined)

export const untaxed = ({ lines }: Pick<Taxable, "lines">): Tax => ({
  lineTaxes: lines.map(() => 0),
  taxTotal: 0,
  rates: []
})

/** Everything at one rate. */
export const byRate = (
  rate: string,
  { lines, shippingTotal }: Taxable,
  { included }: Pick<TaxManner, "included">
): Tax => {
  const rates = [charge({ name: "Tax", rate })]
  return taxAmounts(lines.map(({ amount }) => ({ amount, rates })), { amount: shippingTotal, rates }, { included })
}

/**
 * Tax by the rates and classes of the store. A class that is unknown or not active counts as none. Undefined if no rule
 * applies: the external service decides.
 */
export const taxByRules = (rules: TaxRules, taxable: Taxable, manner: TaxManner): Tax | undefined => {
  const here = ratesHere(rules, taxable, manner.now)
  if (rules.classes.length === 0 && here.length === 0) return undefined
  const usual = rules.classes.find(({ isDefault }) => isDefault)
  const known = new Map(rules.classes.map((one) => [one.id, ratesOf(here, one)]))
  const rest = ratesOf(here, undefined)
  const ratesFor = (id: TaxClassId | null | undefined) => (id && known.get(id)) || rest
  const lines = taxable.lines.map(({ amount, taxClass, taxClassId }) => {
    const id = taxClassId ?? (taxClass === null ? undefined : classNamed(rules, taxClass)?.id)
    return { amount, rates: chargedBy(ratesFor(id && known.has(id) ? id : usual?.id)) }
  })
  const shipping = ratesFor(shippingClassOf(rules, taxable, manner)?.id)
    .filter(({ appliesToShipping }) => appliesToShipping)
  return taxAmounts(lines, { amount: taxable.shippingTotal, rates: chargedBy(shipping) }, manner)
}
