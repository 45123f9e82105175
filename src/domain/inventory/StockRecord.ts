import { Schema } from "effect"
import { sellableFields } from "../catalog/Sellables.ts"
import { Text } from "../text/Storable.ts"
import { levelSettings } from "./StockLevel.ts"

const Units = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))

/** What is told and never taken: it comes of reservations and purchases. */
const toChange = Schema.optional(Schema.NullOr(Schema.Int))

/** What a level says beside what lies there. */
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
 * How much of something lies in a warehouse, as files carry it: `onHand` takes the place of what there was. `warehouse` is
 * its code; without one it is the first active one. `reserved` and `available` are told in exports and not read.
 */
export const StockRecord = Schema.Struct({ ...sellableFields, ...stockFields }).annotate({ identifier: "StockRecord" })
export type StockRecord = typeof StockRecord.Type
