import { procurement } from "../../src/plugins/procurement/index.ts"
import { production } from "../../src/plugins/production/index.ts"
import { uom } from "../../src/plugins/uom/index.ts"
import { warehouse } from "../../src/plugins/warehouse/index.ts"
import { asAdmin } from "../support/TestApp.ts"
import { uuid } from "./ManyRows.ts"
import { asked, last, one, pluginLists, rare } from "./PluginLists.ts"

const [home, away] = ["22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"]

const search = "a part of a text can be in any row"

const stock = "no counter knows which lots have units left"

const warehouses = [`warehouseId=${home}`, `warehouseId=${one}`]

pluginLists("lists of goods, of who sells them, where they are and how they are made", {
  plugins: [uom, warehouse, procurement(), production],
  before: [`insert into units_of_measure (id, organization_id, code, name, category)
    values ('${home}', 'org_default', 'other', 'Other', 'time')`],
  samples: {
    units_of_measure: { code: "sample", category: "weight" },
    uom_conversions: { toUnitId: home, factorDecimal: "1", factor: 10_000 },
    suppliers: { currency: "USD" },
    reorder_rules: { warehouseId: home },
    purchase_orders: { warehouseId: home, subtotal: 1, grandTotal: 1, currency: "USD" },
    purchase_order_items: { totalCost: 0 },
    goods_received_notes: { warehouseId: home },
    grn_items: { quantityReceived: 1, quantityAccepted: 1 },
    supplier_bills: { total: 1, status: "matched" },
    supplier_returns: { warehouseId: home, expectedCredit: 1 },
    warehouse_bins: { warehouseId: home },
    warehouse_lots: { warehouseId: home, quantity: 1, expiryDate: "2030-01-01" },
    stock_transfers: { fromWarehouseId: home, toWarehouseId: away },
    wastage_notes: { warehouseId: home },
    stock_reconciliations: { warehouseId: home },
    reconciliation_items: { systemQuantity: 1, physicalQuantity: 1, variance: 0 },
    production_bom_items: { quantity: "1" },
    production_orders: { warehouseId: home }
  },
  growing: {
    units_of_measure: { columns: rare("category", "time") },
    uom_conversions: {
      columns: { ...last("from_unit_id"), ...rare("to_unit_id", one, 1), ...last("entity_id", { turn: 2 }) }
    },
    suppliers: { columns: { ...rare("is_active", "false"), ...rare("currency", "EUR") } },
    supplier_items: {
      columns: {
        ...last("supplier_id"),
        ...last("entity_id"),
        ...last("variant_id"),
        ...rare("is_preferred", "true")
      }
    },
    reorder_rules: {
      columns: {
        ...last("entity_id"),
        ...rare("warehouse_id", one),
        ...last("supplier_id"),
        ...rare("is_active", "false"),
        variant_id: uuid
      }
    },
    purchase_orders: {
      columns: { ...rare("status", "partially_received"), ...last("supplier_id"), ...rare("warehouse_id", one) }
    },
    purchase_order_items: { columns: { po_id: uuid } },
    goods_received_notes: {
      columns: {
        ...rare("status", "rejected"),
        ...last("po_id"),
        ...last("supplier_id"),
        ...rare("warehouse_id", one)
      }
    },
    supplier_bills: {
      columns: { ...rare("status", "rejected"), ...last("po_id"), ...last("supplier_id") }
    },
    supplier_returns: {
      columns: {
        ...rare("status", "cancelled"),
        ...last("grn_id"),
        ...last("po_id"),
        ...last("supplier_id"),
        ...rare("warehouse_id", one)
      }
    },
    warehouse_bins: {
      columns: { ...rare("warehouse_id", one), ...rare("type", "cold"), ...rare("is_active", "false") }
    },
    warehouse_lots: {
      columns: {
        ...last("entity_id"),
        ...last("variant_id"),
        ...rare("warehouse_id", one),
        ...rare("is_blocked", "true"),
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
    stock_reconciliations: { columns: { ...rare("status", "cancelled"), ...rare("warehouse_id", one) } },
    production_boms: {
      columns: { ...last("entity_id"), ...rare("is_active", "false"), family_id: uuid }
    },
    production_orders: {
      columns: {
        ...rare("status", "cancelled"),
        ...last("bom_id"),
        ...last("entity_id"),
        ...rare("warehouse_id", one)
      }
    }
  },
  asks: () =>
    asked(asAdmin, {
      "/api/uom/units": ["category=weight", "category=time", "code=copy%201", "isBaseUnit=true", "isBaseUnit=false"],
      "/api/uom/conversions": [`fromUnitId=${one}`, `toUnitId=${one}`, `entityId=${one}`],
      "/api/procurement/suppliers": [
        "isActive=true",
        "isActive=false",
        "currency=USD",
        "currency=EUR",
        "code=copy%201"
      ],
      "/api/procurement/supplier-items": [
        `supplierId=${one}`,
        `entityId=${one}`,
        `variantId=${one}`,
        "isPreferred=false",
        "isPreferred=true"
      ],
      "/api/procurement/reorder-rules": [
        `entityId=${one}`,
        `supplierId=${one}`,
        "isActive=true",
        "isActive=false",
        ...warehouses
      ],
      "/api/procurement/purchase-orders": [
        "status=draft",
        "status=partially_received",
        `supplierId=${one}`,
        ...warehouses
      ],
      "/api/procurement/back-orders": [`supplierId=${one}`],
      "/api/procurement/grn": [
        "status=draft",
        "status=rejected",
        `poId=${one}`,
        `supplierId=${one}`,
        ...warehouses
      ],
      "/api/procurement/bills": ["status=matched", "status=rejected", `poId=${one}`, `supplierId=${one}`],
      "/api/procurement/returns": [
        "status=draft",
        "status=cancelled",
        `grnId=${one}`,
        `poId=${one}`,
        `supplierId=${one}`,
        ...warehouses
      ],
      "/api/warehouse/bins": ["type=general", "type=cold", "isActive=true", "isActive=false", ...warehouses],
      "/api/warehouse/lots": [
        `entityId=${one}`,
        `variantId=${one}`,
        "batchNumber=batch",
        "isBlocked=true",
        "isBlocked=false",
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
      "/api/warehouse/reconciliations": ["status=draft", "status=cancelled", ...warehouses],
      "/api/production/boms": [`entityId=${one}`, "isActive=true", "isActive=false"],
      "/api/production/orders": [
        "status=planned",
        "status=cancelled",
        `bomId=${one}`,
        `entityId=${one}`,
        ...warehouses
      ]
    }),
  totals: {
    "/api/warehouse/lots": stock,
    "/api/warehouse/lots?warehouseId": stock,
    "/api/warehouse/lots?isBlocked": stock,
    "/api/warehouse/lots?expiringBefore": stock
  },
  exceptions: {
    "/api/uom/units?code": "one row",
    "/api/uom/units?search": search,
    "/api/procurement/suppliers?code": "one row",
    "/api/procurement/suppliers?search": search,
    "/api/procurement/purchase-orders?search": search,
    "/api/procurement/grn?search": search,
    "/api/procurement/bills?search": search,
    "/api/procurement/returns?search": search,
    "/api/warehouse/lots/:id/orders": "the orders of one batch",
    "/api/warehouse/bins?search": search,
    "/api/warehouse/transfers?search": search,
    "/api/warehouse/wastage?search": search,
    "/api/warehouse/reconciliations?search": search,
    "/api/production/orders?search": search,
    "/api/production/suggestions": "one look at each bill of material"
  }
})
