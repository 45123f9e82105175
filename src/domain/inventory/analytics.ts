import type { AnalyticsModel } from "../analytics/AnalyticsModel.ts"

/** A threshold is set, and what can be sold is at or below it (contract §6). */
const isLow = "stock_levels.on_hand - stock_levels.reserved <= stock_levels.reorder_threshold"

/** Stock by product and warehouse (spec §4 Analytics). */
const Inventory: AnalyticsModel = {
  name: "Inventory",
  table: "stock_levels",
  measures: {
    totalOnHand: { type: "sum", sql: "stock_levels.on_hand" },
    totalReserved: { type: "sum", sql: "stock_levels.reserved" },
    totalAvailable: { type: "sum", sql: "stock_levels.on_hand - stock_levels.reserved" },
    // Stock without a known cost adds nothing to the value.
    inventoryValue: { type: "sum", sql: "stock_levels.on_hand::numeric * stock_levels.unit_cost" },
    lowStockCount: { type: "count", filter: isLow }
  },
  dimensions: {
    entityId: { sql: "stock_levels.entity_id", type: "string" },
    warehouseId: { sql: "stock_levels.warehouse_id", type: "string" },
    lastRestockedAt: { sql: "stock_levels.last_restocked_at", type: "time" }
  },
  segments: { lowStock: { sql: isLow } }
}

export const analyticsModels = (): ReadonlyArray<AnalyticsModel> => [Inventory]
