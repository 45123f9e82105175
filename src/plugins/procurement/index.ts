import { type Context, Effect, Layer } from "effect"
import { modelOf, PluginContext, pluginWith } from "stoa/plugin"
import { StockUnitUses, Units } from "../uom/index.ts"
import { Lots } from "../warehouse/index.ts"
import { receiptItems, receipts } from "./GoodsReceipt.ts"
import { goodsReceiptRoutes } from "./GoodsReceipts.ts"
import { orderMail } from "./OrderPapers.ts"
import { ProcurementSettings } from "./ProcurementOptions.ts"
import { orderItems, orders } from "./PurchaseOrder.ts"
import { purchaseOrderRoutes } from "./PurchaseOrderRoutes.ts"
import { openOrderOf } from "./PurchasingRepo.ts"
import { reorderRoutes, reorderRules, reorderTask } from "./Reordering.ts"
import { supplierItems, supplierRoutes, suppliers } from "./Supplier.ts"
import { billItems, billRoutes, bills } from "./SupplierBills.ts"
import { supplierReturnItems, supplierReturnRoutes, supplierReturns } from "./SupplierReturns.ts"

/** The compiler does not make one type of several tags by itself. */
const used: ReadonlyArray<Context.Key<Units | StockUnitUses | Lots, unknown>> = [Units, StockUnitUses, Lots]

/** Orders count in stock units, which therefore stay. */
const openOrders = Layer.effectDiscard(
  Effect.gen(function*() {
    const { db } = yield* PluginContext
    yield* StockUnitUses.use(({ add }) => add((entityId) => db.use(openOrderOf)(entityId)))
  })
)

/** Suppliers, orders to them and what they deliver (contract, plugins §5): `plugins: [uom, warehouse, procurement({ … })]`. */
export const procurement = pluginWith("procurement", ProcurementSettings, (settings) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  requires: ["uom", "warehouse"],
  uses: used,
  layer: openOrders,
  permissions: [
    { scope: "procurement:read", description: "See suppliers, purchase orders, goods receipts, bills and returns" },
    {
      scope: "procurement:create",
      description: "Draft, submit and send purchase orders, receive and return goods, and enter bills and credit notes"
    },
    {
      scope: "procurement:admin",
      description: "Write suppliers and reorder rules, approve orders, bills and returns, accept goods"
    }
  ],
  schema: () => ({
    suppliers,
    supplierItems,
    orders,
    orderItems,
    receipts,
    receiptItems,
    reorderRules,
    bills,
    billItems,
    supplierReturns,
    supplierReturnItems
  }),
  events: [
    "purchase_order.approved",
    "purchase_order.sent",
    "purchase_order.cancelled",
    "supplier_return.approved",
    "supplier_return.shipped",
    "supplier_return.credited",
    "supplier_return.cancelled"
  ],
  mailTemplates: [orderMail],
  routes: (context) => [
    ...supplierRoutes(context.config),
    ...purchaseOrderRoutes(settings, context.config),
    ...goodsReceiptRoutes(settings),
    ...billRoutes(settings),
    ...supplierReturnRoutes(settings),
    ...reorderRoutes(context)
  ],
  tasks: (context) => [reorderTask(context)],
  analyticsModels: () => [
    modelOf(orders, {
      name: "PurchaseOrders",
      sums: ["grandTotal"],
      dims: ["supplierId", "status", "warehouseId", "currency", "createdAt"]
    })
  ]
}))
