import { Schema } from "effect"
import { PostalAddress } from "../platform/addresses/PostalAddress.ts"
import { about } from "../platform/hints/Hints.ts"
import { EntityId, OrganizationId, StockLevelId, Uuid, VariantId, WarehouseId } from "../platform/ids/Id.ts"
import { Amount, MinorUnits } from "../platform/money/Money.ts"
import { maybe } from "../platform/text/Fields.ts"
import { StorableObject, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

export const maxUnits = 2_147_483_647

const Units = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxUnits }))
const Priority = Schema.Int.check(Schema.isBetween({ minimum: -2_147_483_648, maximum: 2_147_483_647 }))

const fields = {
  id: StockLevelId,
  organizationId: OrganizationId,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  warehouseId: WarehouseId,
  quantityOnHand: Schema.Int.pipe(about("Units in the warehouse.")),
  quantityReserved: Schema.Int.pipe(about("Units that orders and checkouts hold.")),
  quantityIncoming: Schema.Int.annotate({ description: "Ordered from suppliers and not received; never for sale." }),
  quantityInTransit: Schema.Int.annotate({ description: "On the way from another warehouse; never for sale." }),
  available: Schema.Int.annotate({ description: "On hand minus reserved." }),
  unitCost: Schema.NullOr(MinorUnits).annotate({ description: "Cost of one unit in minor units, rounded." }),
  averageCost: Schema.NullOr(Schema.String).annotate({
    description: "The same as a decimal text with up to ten decimals, as receipts averaged it."
  }),
  reorderThreshold: Schema.NullOr(Schema.Int).pipe(about("Units below which goods are to be ordered.")),
  reorderQuantity: Schema.NullOr(Schema.Int).pipe(about("Units to order then.")),
  allowNegative: Schema.Boolean.annotate({
    description: "The level is below what is reserved because an adjustment was allowed to take it there."
  }),
  version: Schema.Int.annotate({ description: "Counts the changes to the stock of this variant, else entity." }),
  lastRestockedAt: Schema.NullOr(Time),
  updatedAt: Time
}

/** The stock of a variant (else an entity) in one warehouse, in units (spec 2, contract 6). */
export const StockLevel = Schema.Struct(fields).annotate({ identifier: "InventoryLevel" })
export type StockLevel = typeof StockLevel.Type

export const emptyLevel = (
  place: Pick<StockLevel, "id" | "organizationId" | "entityId" | "variantId" | "warehouseId" | "updatedAt">
): StockLevel => ({
  ...place,
  quantityOnHand: 0,
  quantityReserved: 0,
  quantityIncoming: 0,
  quantityInTransit: 0,
  available: 0,
  unitCost: null,
  averageCost: null,
  reorderThreshold: null,
  reorderQuantity: null,
  allowNegative: false,
  version: 0,
  lastRestockedAt: null
})

export const withUnitCost = (level: StockLevel, unitCost: number | null = level.unitCost): StockLevel =>
  unitCost === level.unitCost ? level : { ...level, unitCost, averageCost: unitCost === null ? null : String(unitCost) }

/** Units that can be sold, by entity; null for goods that are not counted. */
export const AvailableStock = Schema.Record(Schema.String, Schema.NullOr(Schema.Int)).annotate({
  identifier: "AvailableStock"
})
export type AvailableStock = typeof AvailableStock.Type

export const AdjustedLevel = Schema.Struct({
  ...fields,
  before: Schema.Int.pipe(about("Units on hand before the adjustment.")),
  after: Schema.Int.pipe(about("Units on hand after the adjustment.")),
  delta: Schema.Int.pipe(about("Change of the units on hand; below zero: fewer.")),
  movementId: Uuid
}).annotate({ identifier: "AdjustedInventoryLevel" })

/** Absent keeps the stored value. `allowNegative` applies to this adjustment only. */
export const levelSettings = {
  unitCost: maybe(Amount),
  reorderThreshold: maybe(Units).pipe(about("Units below which goods are to be ordered.")),
  reorderQuantity: maybe(Units).pipe(about("Units to order then.")),
  allowNegative: Schema.optional(Schema.Boolean.annotate({
    description: "This adjustment may end below zero or below what is reserved."
  }))
}

/** A stock location (contract 6). Allocation uses active warehouses only, lowest `priority` first. */
export const Warehouse = Schema.Struct({
  id: WarehouseId,
  organizationId: OrganizationId,
  name: Schema.String,
  code: Schema.String.pipe(about("Short name, unique in the organization.")),
  address: Schema.NullOr(StorableObject),
  isActive: Schema.Boolean,
  priority: Schema.Int.pipe(about("Lower goes first.")),
  metadata: StorableObject
}).annotate({ identifier: "Warehouse" })

export const NewWarehouse = Schema.Struct({
  name: Text,
  code: Text.pipe(about("Short name, unique in the organization.")),
  address: maybe(PostalAddress),
  isActive: Schema.optional(Schema.Boolean),
  priority: Schema.optional(Priority).pipe(about("Lower goes first.")),
  metadata: Schema.optional(StorableObject)
}).annotate({ identifier: "NewWarehouse" })

export const defaultWarehouse: typeof NewWarehouse.Type = { name: "Default Warehouse", code: "DEFAULT" }

declare module "../platform/hooks/HookMap.ts" {
  interface AfterHooks {
    readonly "inventory.afterAdjust": { readonly result: StockLevel; readonly data: never }
  }
}
