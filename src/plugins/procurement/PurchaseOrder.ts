import {
  amount,
  childOf,
  decimal,
  document,
  EntityId,
  idOf,
  integer,
  integerBetween,
  json,
  longText,
  machine,
  numbers,
  oneOf,
  type RowOf,
  table,
  text,
  timestamp,
  uuid,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { units } from "../uom/index.ts"
import { maxCost, maxQuantity, suppliers } from "./Supplier.ts"

/** Orders to suppliers (contract, plugins §5). Amounts are minor units of `currency`. */
export const orders = table("purchase_orders", {
  poNumber: text.unique().about("Number on the order."),
  supplierId: uuid.references(suppliers, "restrict"),
  status: oneOf(["draft", "pending_approval", "approved", "sent", "partially_received", "received", "cancelled"])
    .default("draft").about("Step of the order. partially_received: some goods came, and the rest is still expected."),
  warehouseId: idOf(WarehouseId),
  requestedBy: text.about("User who made it."),
  changedBy: text.nullable.about("User who changed the draft last."),
  approvedBy: text.nullable.about("User who approved it."),
  approvedAt: timestamp.nullable,
  sentAt: timestamp.nullable,
  expectedDelivery: timestamp.nullable.about("When the goods should come."),
  currency: text,
  exchangeRate: decimal(20, 10).default("1").about("Minor units of the store's currency for one of the order's."),
  subtotal: amount,
  taxTotal: amount.default(0),
  grandTotal: amount.about("Goods with tax."),
  freight: integerBetween(0, maxCost).money().default(0).about(
    "Cost of transport beside the order, spread over its goods by their worth."
  ),
  duty: integerBetween(0, maxCost).money().default(0).about("Customs, spread over the goods."),
  supplierReference: text.nullable.about("Number of the order at the supplier."),
  notes: longText.nullable,
  backOrderOf: uuid.nullable.about("Id of the order whose missing goods it orders again."),
  metadata: json.default({})
}, {
  checks: {
    totals: "grand_total = subtotal + tax_total and grand_total <= 9007199254740991",
    rate: "exchange_rate > 0"
  }
})
export type PurchaseOrder = RowOf<typeof orders>

export const orderItems = childOf(orders, "poId", "purchase_order_items", {
  poId: uuid.references(orders),
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  itemName: text.about("Name of the product."),
  supplierSku: text.nullable.about("Article number of the supplier."),
  /** Unit of the quantities and of the cost; null: stock units. */
  uomId: uuid.references(units, "restrict").nullable,
  quantityOrdered: integerBetween(1, maxQuantity).about("Ordered units."),
  quantityReceived: integer.default(0).about("Units that came."),
  stockQuantity: integerBetween(1, 2_147_483_647).about("Ordered units in the stock unit."),
  stockArrived: integer.default(0).about("Units that are no longer incoming, in the stock unit."),
  unitCost: integerBetween(0, maxCost).money().about("Cost of one unit."),
  totalCost: amount,
  notes: text.nullable
}, {
  indexes: [{ columns: ["entityId"] }],
  checks: {
    cost: "total_cost = unit_cost::int8 * quantity_ordered",
    received: "quantity_received >= 0",
    arrived: "stock_arrived between 0 and stock_quantity"
  }
})
export type OrderItem = RowOf<typeof orderItems>

export const purchaseOrders = document({
  head: orders,
  lines: orderItems,
  number: { poNumber: numbers({ kind: "PO" }) }
})

/** `receive` is what goods receipts do; they may also lead to `received`. */
export const purchaseOrder = machine(orders, {
  noun: "purchase order",
  moves: {
    submit: { from: ["draft"], to: "pending_approval" },
    approve: {
      from: ["pending_approval"],
      to: "approved",
      stamp: "approvedAt",
      by: "approvedBy",
      emits: "purchase_order.approved"
    },
    send: { from: ["approved"], to: "sent", stamp: "sentAt", emits: "purchase_order.sent" },
    cancel: {
      from: ["draft", "pending_approval", "approved", "sent"],
      to: "cancelled",
      emits: "purchase_order.cancelled"
    },
    edit: { from: ["draft"], to: "draft" },
    receive: { from: ["approved", "sent", "partially_received"], to: "partially_received" },
    close: { from: ["partially_received"], to: "received" }
  }
})

/** The state of an order by what has been received of its lines. */
export const statusOf = (
  { sentAt }: PurchaseOrder,
  items: ReadonlyArray<Pick<OrderItem, "quantityOrdered" | "quantityReceived">>
): PurchaseOrder["status"] =>
  items.every((one) => one.quantityReceived >= one.quantityOrdered)
    ? "received"
    : items.some((one) => one.quantityReceived > 0)
    ? "partially_received"
    : sentAt === null
    ? "approved"
    : "sent"

/** What is still to come in stock units, as a posting takes it: `sign` 1 when it is ordered, -1 when it will not come. */
export const incomingOf = ({ warehouseId }: PurchaseOrder, items: ReadonlyArray<OrderItem>, sign: 1 | -1) =>
  items.filter((one) => one.stockArrived < one.stockQuantity).map((one) => ({
    entityId: one.entityId,
    variantId: one.variantId,
    warehouseId,
    incoming: sign * (one.stockQuantity - one.stockArrived)
  }))
