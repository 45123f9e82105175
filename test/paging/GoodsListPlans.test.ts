import { uom } from "../../src/plugins/uom/index.ts"
import { warehouse } from "../../src/plugins/warehouse/index.ts"
import { asAdmin } from "../support/TestApp.ts"
import { asked, last, one, pluginLists, rare } from "./PluginLists.ts"

const [home, away] = ["22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"]

const search = "a part of a text can be in any row"

const stock = "no counter knows which lots have units left"

const warehouses = [`warehouseId=${home}`, `warehouseId=${one}`]

pluginLists("lists of goods, their units and where they are", {
  plugins: [uom, warehouse],
  before: [`insert into units_of_measure (id, organization_id, code, name, category)
    values ('${home}', 'org_default', 'other', 'Other', 'time')`],
  samples: {
    units_of_measure: { code: "sample", category: "weight" },
    uom_conversions: { toUnitId: home, factorDecimal: "1", factor: 10_000 },
    warehouse_bins: { warehouseId: home },
    warehouse_lots: { warehouseId: home, quantity: 1, expiryDate: "2030-01-01" },
    stock_transfers: { fromWarehouseId: home, toWarehouseId: away },
    wastage_notes: { warehouseId: home },
    stock_reconciliations: { warehouseId: home },
    reconciliation_items: { systemQuantity: 1, physicalQuantity: 1, variance: 0 }
  },
  growing: {
    units_of_measure: { columns: rare("category", "time") },
    uom_conversions: {
      columns: { ...last("from_unit_id"), ...rare("to_unit_id", one, 1), ...last("entity_id", { turn: 2 }) }
    },
    warehouse_bins: {
      columns: { ...rare("warehouse_id", one), ...rare("type", "cold"), ...rare("is_active", "false") }
    },
    warehouse_lots: {
      columns: {
        ...last("entity_id"),
        ...last("variant_id"),
        ...rare("warehouse_id", one),
        ...last("batch_number", { value: "batch", others: "'batch ' || n" }),
        expiry_date: "t.expiry_date + n"
      }
    },
    stock_transfers: {
      columns: {
        ...rare("type", "return"),
        ...rare("status", "cancelled"),
        ...rare("from_warehouse_id", one),
        ...rare("to_warehouse_id", one, 1)
      }
    },
    wastage_notes: {
      columns: { ...rare("type", "theft"), ...rare("status", "cancelled"), ...rare("warehouse_id", one) }
    },
    stock_reconciliations: { columns: { ...rare("status", "cancelled"), ...rare("warehouse_id", one) } }
  },
  asks: () =>
    asked(asAdmin, {
      "/api/uom/units": ["category=weight", "category=time", "code=copy%201"],
      "/api/uom/conversions": [`fromUnitId=${one}`, `toUnitId=${one}`, `entityId=${one}`],
      "/api/warehouse/bins": ["type=general", "type=cold", "isActive=true", "isActive=false", ...warehouses],
      "/api/warehouse/lots": [
        `entityId=${one}`,
        `variantId=${one}`,
        "batchNumber=batch",
        "expiringBefore=2080-01-01",
        ...warehouses
      ],
      "/api/warehouse/transfers": [
        "status=draft",
        "status=cancelled",
        "type=requisition",
        "type=return",
        `fromWarehouseId=${home}`,
        `fromWarehouseId=${one}`,
        `toWarehouseId=${away}`,
        `toWarehouseId=${one}`
      ],
      "/api/warehouse/wastage": ["status=draft", "status=cancelled", "type=spoilage", "type=theft", ...warehouses],
      "/api/warehouse/reconciliations": ["status=draft", "status=cancelled", ...warehouses]
    }),
  totals: {
    "/api/warehouse/lots": stock,
    "/api/warehouse/lots?warehouseId": stock,
    "/api/warehouse/lots?expiringBefore": stock
  },
  exceptions: {
    "/api/uom/units?code": "one row",
    "/api/uom/units?search": search,
    "/api/warehouse/bins?search": search,
    "/api/warehouse/transfers?search": search,
    "/api/warehouse/wastage?search": search,
    "/api/warehouse/reconciliations?search": search
  }
})
