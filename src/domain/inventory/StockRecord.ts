import { Schema } from "effect"
import { sellableFields } from "../catalog/Sellables.ts"
import { Text } from "../text/Storable.ts"
import { levelSettings } from "./StockLevel.ts"

/** Exported but ignored on import: reservations and purchases determine it. */
const unread = Schema.optional(Schema.NullOr(Schema.Int))

/**
 * A stock level in a file: `onHand` replaces the stored quantity. `warehouse` is a code; without one, the warehouse of
 * the import or the first active one is used.
 */
export const StockRecord = Schema.Struct({
  ...sellableFields,
  warehouse: Schema.optional(Schema.NullOr(Text)),
  onHand: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 })),
  reserved: unread,
  available: unread,
  unitCost: levelSettings.unitCost,
  reorderThreshold: levelSettings.reorderThreshold,
  reorderQuantity: levelSettings.reorderQuantity
}).annotate({ identifier: "StockRecord" })
export type StockRecord = typeof StockRecord.Type
