import type { AnalyticsModel } from "../platform/modules/AnalyticsModel.ts"
import { costOf } from "./StockStatements.ts"

const isLow = "stock_levels.on_hand - stock_levels.reserved <= stock_levels.reorder_threshold"

const Inventory: AnalyticsModel = {
  name: "Inventory",
  table: "stock_levels",
  measures: {
    totalOnHand: { type: "sum", sql: "stock_levels.on_hand" },
    totalReserved: { type: "sum", sql: "stock_levels.reserved" },
    totalAvailable: { type: "sum", sql: "stock_levels.on_hand - stock_levels.reserved" },
    totalIncoming: { type: "sum", sql: "stock_levels.incoming" },
    totalInTransit: { type: "sum", sql: "stock_levels.in_transit" },
    // Stock without a known cost adds nothing to the value.
    inventoryValue: { type: "sum", sql: `stock_levels.on_hand * (${costOf("stock_levels")})`, decimals: 0 },
    lowStockCount: { type: "count", filter: isLow }
  },
  dimensions: {
    entityId: { sql: "stock_levels.entity_id", type: "string" },
    warehouseId: { sql: "stock_levels.warehouse_id", type: "string" },
    lastRestockedAt: { sql: "stock_levels.last_restocked_at", type: "time" }
  },
  segments: { lowStock: { sql: isLow } }
}

const cost = "stock_movements.quantity * stock_movements.unit_cost"

/** Movements by type and warehouse (contract-plugins §17.24). */
const StockMovements: AnalyticsModel = {
  name: "StockMovements",
  table: "stock_movements",
  measures: {
    count: { type: "count" },
    quantity: { type: "sum", sql: "stock_movements.quantity" },
    cost: { type: "sum", sql: cost, decimals: 0 },
    costOfGoodsSold: {
      type: "sum",
      sql: `-${cost}`,
      filter: "stock_movements.type in ('fulfillment', 'sale', 'return')",
      decimals: 0
    }
  },
  dimensions: {
    type: { sql: "stock_movements.type", type: "string" },
    entityId: { sql: "stock_movements.entity_id", type: "string" },
    variantId: { sql: "stock_movements.variant_id", type: "string" },
    warehouseId: { sql: "stock_movements.warehouse_id", type: "string" },
    referenceType: { sql: "stock_movements.reference_type", type: "string" },
    referenceId: { sql: "stock_movements.reference_id", type: "string" },
    performedAt: { sql: "stock_movements.performed_at", type: "time" }
  }
}

export const analyticsModels = (): ReadonlyArray<AnalyticsModel> => [Inventory, StockMovements]
