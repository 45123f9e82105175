import { Schema } from "effect"
import { sellableFields } from "../catalog/Sellables.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { StorableObject, Text } from "../text/Storable.ts"
import { Amount, maybe, sentBounds } from "./Bounds.ts"

/** Fields of a price besides its target. */
export const priceFields = {
  currency: CurrencyCode,
  amount: Amount,
  compareAtAmount: maybe(Amount),
  customerGroup: maybe(Text),
  ...sentBounds,
  metadata: maybe(StorableObject)
}

/**
 * A price as files carry it, amounts in minor units. What it is for, currency, group, quantities and times together name
 * it; amounts and metadata are laid over those of the price there is. `customerGroup` is the name of a group.
 */
export const PriceRecord = Schema.Struct({ ...sellableFields, ...priceFields }).annotate({ identifier: "PriceRecord" })
export type PriceRecord = typeof PriceRecord.Type
