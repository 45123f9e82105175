import type { FlatShipping, WeightShipping } from "../settings/StoreSettings.ts"

/** What shipping is priced on. Amounts in minor units of the order's currency, weight in grams. */
export interface Shipment {
  readonly subtotalAfterDiscount: number
  readonly weightGrams: number
  /** Nothing of the order has to be carried anywhere. */
  readonly digitalOnly: boolean
  readonly freeByPromotion: boolean
}

/** Price of shipping by the deployment's configuration (contract §3.4). */
export const shippingPrice = (rule: FlatShipping | WeightShipping, shipment: Shipment): number => {
  if (shipment.freeByPromotion || shipment.digitalOnly) return 0
  const threshold = rule.freeShippingThreshold
  if (threshold !== undefined && shipment.subtotalAfterDiscount >= threshold) return 0
  if (rule.type === "flat") return rule.flatRate
  const bracket = [...rule.brackets].sort((a, b) => a.upToGrams - b.upToGrams)
    .find(({ upToGrams }) => shipment.weightGrams <= upToGrams)
  return bracket?.cost ?? rule.fallbackCost
}
