import { Schema } from "effect"
import { sellableFields } from "../catalog/Sellables.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { StorableObject, Text } from "../text/Storable.ts"
import { Amount, maybe, sentBounds } from "./Bounds.ts"

/**
 * A price in a file, amounts in minor units. Its target, currency, group, quantities and times together name it; amounts
 * and metadata are laid over those of the price there is. `customerGroup` is the name of a group.
 */
export const PriceRecord = Schema.Struct({
  ...sellableFields,
  currency: CurrencyCode,
  amount: Amount,
  compareAtAmount: maybe(Amount),
  customerGroup: maybe(Text),
  ...sentBounds,
  metadata: maybe(StorableObject)
}).annotate({ identifier: "PriceRecord" })
export type PriceRecord = typeof PriceRecord.Type
