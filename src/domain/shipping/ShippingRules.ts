import { Schema, Struct } from "effect"
import { comparable, stateKey } from "../platform/addresses/CountryFormats.ts"
import type { TaxClassId } from "../platform/ids/Id.ts"
import { ShippingRate } from "./ShippingRate.ts"
import { type Destination, ShippingZone } from "./ShippingZone.ts"

/** Amounts in minor units of `currency`, weight in grams. */
export interface Shipment {
  readonly currency: string
  readonly address: Destination | null
  readonly subtotalAfterDiscount: number
  readonly weightGrams: number
  readonly shipsNothing: boolean
  readonly freeByPromotion: boolean
  readonly rateId?: string | null | undefined
}

export const ShippingRuleSet = Schema.Struct({
  zones: Schema.Array(Schema.Struct(Struct.pick(ShippingZone.fields, ["id", "countries", "states"]))),
  rates: Schema.Array(
    Schema.Struct(
      Struct.omit(ShippingRate.fields, ["organizationId", "isActive", "metadata", "createdAt", "updatedAt"])
    )
  )
})
export type ShippingRuleSet = typeof ShippingRuleSet.Type

/** In minor units. Id and name are null if there is no choice. */
export interface ShippingOption {
  readonly id: string | null
  readonly name: string | null
  readonly amount: number
  readonly taxClassId?: TaxClassId | null
  readonly estimate?: string | null | undefined
}

/** A rate as a shopper sees it. */
export const shownOption = ({ amount, estimate = null, id, name }: ShippingOption) => ({ id, name, amount, estimate })

type Zone = ShippingRuleSet["zones"][number]
type Rate = ShippingRuleSet["rates"][number]

const serves = ({ countries, states }: Zone, { country, state }: Destination): boolean =>
  (countries.includes("*") || countries.includes(comparable(country))) &&
  (states === null || states.some((one) => stateKey(country, one) === stateKey(country, state ?? "")))

const within = (value: number, least: number | null, most: number | null): boolean =>
  (least === null || value >= least) && (most === null || value <= most)

const fits = (rate: Rate, { currency, subtotalAfterDiscount, weightGrams }: Shipment): boolean =>
  rate.currency === currency && within(subtotalAfterDiscount, rate.minSubtotal, rate.maxSubtotal) &&
  within(weightGrams, rate.minWeightGrams, rate.maxWeightGrams)

const isFree = (threshold: number | null | undefined, { freeByPromotion, subtotalAfterDiscount }: Shipment): boolean =>
  freeByPromotion || (threshold !== null && threshold !== undefined && subtotalAfterDiscount >= threshold)

export type Unserved = "no zone" | "no rate"

/**
 * The matching rates of the first zone, by priority, that serves the address and has any (contract §3.4). Sorted by
 * amount before free shipping: the first is the default.
 */
export const fittingRates = (
  { rates, zones }: ShippingRuleSet,
  shipment: Shipment,
  address: Destination
): ReadonlyArray<ShippingOption> | Unserved => {
  const serving = zones.filter((zone) => serves(zone, address))
  for (const zone of serving) {
    const fitting = rates.filter((rate) => rate.zoneId === zone.id && fits(rate, shipment))
    if (fitting.length === 0) continue
    return fitting.map((rate) => ({
      id: rate.id,
      name: rate.name,
      amount: isFree(rate.freeShippingThreshold, shipment) ? 0 : rate.amount,
      taxClassId: rate.taxClassId,
      estimate: rate.estimate
    }))
  }
  return serving.length === 0 ? "no zone" : "no rate"
}

/** Amounts in minor units of the cart's currency (contract §3.4). */
export interface FlatShipping {
  readonly type: "flat"
  readonly flatRate: number
  readonly freeShippingThreshold?: number | undefined
}

/** Shipping by total weight: the first bracket that holds the weight, else the fallback (contract §3.4). */
export interface WeightShipping {
  readonly type: "weight_based"
  readonly brackets: ReadonlyArray<{ readonly upToGrams: number; readonly cost: number }>
  readonly fallbackCost: number
  readonly freeShippingThreshold?: number | undefined
}

export const configuredPrice = (rule: FlatShipping | WeightShipping, shipment: Shipment): number => {
  if (shipment.shipsNothing || isFree(rule.freeShippingThreshold, shipment)) return 0
  if (rule.type === "flat") return rule.flatRate
  const bracket = [...rule.brackets].sort((a, b) => a.upToGrams - b.upToGrams)
    .find(({ upToGrams }) => shipment.weightGrams <= upToGrams)
  return bracket?.cost ?? rule.fallbackCost
}
