import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"

/** Minor units: what one unit cost. */
const Cost = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
const Units = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))
const Time = Schema.Date.annotate({ format: "date-time" })

const fields = {
  id: Uuid,
  organizationId: Schema.String,
  entityId: Uuid,
  variantId: Schema.NullOr(Uuid),
  warehouseId: Uuid,
  quantityOnHand: Schema.Int,
  quantityReserved: Schema.Int,
  quantityIncoming: Schema.Int,
  available: Schema.Int.annotate({ description: "On hand minus reserved." }),
  unitCost: Schema.NullOr(Schema.Int).annotate({ description: "Cost of one unit in minor units." }),
  reorderThreshold: Schema.NullOr(Schema.Int),
  reorderQuantity: Schema.NullOr(Schema.Int),
  allowNegative: Schema.Boolean.annotate({
    description: "The level is below what is reserved because an adjustment was allowed to take it there."
  }),
  version: Schema.Int.annotate({ description: "Counts the changes to the stock of this variant, else entity." }),
  lastRestockedAt: Schema.NullOr(Time),
  updatedAt: Time
}

/** The stock of a variant (else an entity) in one warehouse, in units (spec 2, contract 6). */
export const StockLevel = Schema.Struct(fields).annotate({ identifier: "InventoryLevel" })
/** See the schema of the same name. */
export type StockLevel = typeof StockLevel.Type

/** The answer to an adjustment: the level after it, what was on hand before and after, and the recorded movement. */
export const AdjustedLevel = Schema.Struct({
  ...fields,
  before: Schema.Int,
  after: Schema.Int,
  delta: Schema.Int,
  movementId: Uuid
}).annotate({ identifier: "AdjustedInventoryLevel" })
/** See the schema of the same name. */
export type AdjustedLevel = typeof AdjustedLevel.Type

/**
 * Settings of an adjustment besides the quantity; absent keeps the stored value. `allowNegative` applies to this
 * adjustment only.
 */
export const levelSettings = {
  unitCost: Schema.optional(Schema.NullOr(Cost)),
  reorderThreshold: Schema.optional(Schema.NullOr(Units)),
  reorderQuantity: Schema.optional(Schema.NullOr(Units)),
  allowNegative: Schema.optional(Schema.Boolean.annotate({
    description: "This adjustment may end below zero or below what is reserved."
  }))
}
