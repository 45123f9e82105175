import type { StockLevel } from "./StockLevel.ts"

/** A row of stock_levels with the version of its sellable, from the driver. */
export interface LevelRow {
  readonly id: string
  readonly organization_id: string
  readonly entity_id: string
  readonly variant_id: string | null
  readonly warehouse_id: string
  readonly on_hand: number
  readonly reserved: number
  readonly incoming: number
  readonly unit_cost: bigint | null
  readonly reorder_threshold: number | null
  readonly reorder_quantity: number | null
  readonly allow_negative: boolean
  readonly version: bigint
  readonly last_restocked_at: Date | null
  readonly updated_at: Date
}

/** The level of a row as a domain object. */
export const toLevel = (row: LevelRow): StockLevel => ({
  id: row.id,
  organizationId: row.organization_id,
  entityId: row.entity_id,
  variantId: row.variant_id,
  warehouseId: row.warehouse_id,
  quantityOnHand: row.on_hand,
  quantityReserved: row.reserved,
  quantityIncoming: row.incoming,
  available: row.on_hand - row.reserved,
  unitCost: row.unit_cost === null ? null : Number(row.unit_cost),
  reorderThreshold: row.reorder_threshold,
  reorderQuantity: row.reorder_quantity,
  allowNegative: row.allow_negative,
  version: Number(row.version),
  lastRestockedAt: row.last_restocked_at,
  updatedAt: row.updated_at
})
