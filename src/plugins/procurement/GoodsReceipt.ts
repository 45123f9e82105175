import {
  childOf,
  date,
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
  table,
  text,
  timestamp,
  uuid,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { decided } from "./Documents.ts"
import { orderItems, orders } from "./PurchaseOrder.ts"
import { maxCost, maxQuantity, suppliers } from "./Supplier.ts"

/** Goods received notes: what came of an order (contract, plugins §5). */
export const receipts = table("goods_received_notes", {
  grnNumber: text.unique(),
  poId: uuid.references(orders, "restrict"),
  supplierId: uuid.references(suppliers, "restrict"),
  warehouseId: idOf(WarehouseId),
  receivedBy: text.about("User who took the goods."),
  status: oneOf(["draft", "inspecting", "accepted", "accepted_with_discrepancy", "rejected"]).default("draft").about(
    "Acceptance brings the goods into stock. accepted_with_discrepancy: a part was refused or is missing."
  ),
  receivedAt: timestamp.defaultNow.forPeople,
  decidedBy: text.nullable.about("User who accepted or rejected them."),
  decidedAt: timestamp.nullable,
  notes: longText.nullable,
  metadata: json.default({})
})

const quantity = integerBetween(0, 2 * maxQuantity)

/** Quantities and cost are in the unit of the order's line; `stock…` are stock units. */
export const receiptItems = childOf(receipts, "grnId", "grn_items", {
  grnId: uuid.references(receipts),
  poItemId: uuid.references(orderItems, "restrict"),
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  quantityOrdered: integer.about("Units of the purchase order."),
  quantityReceived: quantity.about("Units that came."),
  quantityAccepted: quantity.about("Units that are kept."),
  quantityRejected: quantity.default(0).about("Units that are refused."),
  quantityReturned: quantity.default(0).about("Accepted units in returns that are not cancelled."),
  rejectionReason: text.nullable.about("Why units are refused."),
  batchNumber: text.nullable.about("Batch of the goods."),
  expiryDate: date.nullable.about("Last day on which the goods are good."),
  unitCost: integerBetween(0, maxCost).money().about("Cost of one unit."),
  stockReceived: integer.about("Units that came, in the stock unit."),
  stockAccepted: integer.about("Units that are kept, in the stock unit.")
}, {
  indexes: [{ columns: ["poItemId"] }],
  checks: {
    adds_up: "quantity_received = quantity_accepted + quantity_rejected",
    returned: "quantity_returned <= quantity_accepted"
  }
})

export const goodsReceipts = document({
  head: receipts,
  lines: receiptItems,
  number: { grnNumber: numbers({ kind: "GRN" }) }
})

const open = ["draft", "inspecting"] as const

export const goodsReceipt = machine(receipts, {
  noun: "goods receipt",
  moves: {
    inspect: { from: ["draft"], to: "inspecting" },
    accept: { from: open, to: "accepted", ...decided },
    acceptWithDiscrepancy: { from: open, to: "accepted_with_discrepancy", ...decided },
    reject: { from: open, to: "rejected", ...decided }
  }
})
