import { Schema } from "effect"
import { sellableFields } from "../catalog/Sellables.ts"
import { Text } from "../text/Storable.ts"
import { levelSettings } from "./StockLevel.ts"

const Units = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))

/** Exported but ignored on import: reservations and purchases determine it. */
const toChange = Schema.optional(Schema.NullOr(Schema.Int))

/** Fields of a stock level besides its quantities. */
export const stockFields = {
  warehouse: Schema.optional(Schema.NullOr(Text)),
  onHand: Units,
  unitCost: levelSettings.unitCost,
  reorderThreshold: levelSettings.reorderThreshold,
  reorderQuantity: levelSettings.reorderQuantity,
  reserved: toChange,
  available: toChange
}

/**
 * A stock level in a file: `onHand` replaces the stored quantity. `warehouse` is a code; without one, the first active
 * warehouse is used. `reserved` and `available` are exported and ignored on import.
 */
export const StockRecord = Schema.Struct({ ...sellableFields, ...stockFields }).annotate({ identifier: "StockRecord" })
export type StockRecord = typeof StockRecord.Type
