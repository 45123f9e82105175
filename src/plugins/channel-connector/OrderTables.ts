import { Schema } from "effect"
import {
  amount,
  idOf,
  integerBetween,
  json,
  jsonOf,
  list,
  longText,
  machine,
  oneOf,
  OrderId,
  OrderLineId,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { stores } from "./StoreTables.ts"

/** Orders and the stores that ship lines of them, one row for each store of an order. The change log has their history. */
export const orderExports = table("channel_order_exports", {
  storeId: uuid.references(stores),
  orderId: idOf(OrderId),
  state: oneOf(["pending", "exported", "confirmed", "failed", "abandoned"]).default("pending")
    .about("State: the store is asked (`exported`), has the order (`confirmed`), or will not get it (`abandoned`)."),
  failureKind: oneOf(["definitive", "transient"]).nullable
    .about("Kind of the failure: `transient` ones are tried again, `definitive` ones only by staff."),
  failedAt: timestamp.nullable,
  lastError: longText.nullable.about("Reason of the failure, or what staff has to know."),
  attempts: integerBetween(0, 1_000_000).default(0).about("Times that the store was asked."),
  remoteOrderId: text.nullable,
  /** For staff. */
  remoteUrl: longText.nullable,
  shipments: list(text).default([]).about("Shipments of the store that the order has as fulfillments."),
  /** When the store had sent or cancelled all of it. */
  endedAt: timestamp.nullable,
  /** Name, e-mail address and shipping address, as they were sent. */
  customerData: json.nullable
}, {
  personal: {
    of: "orderId",
    onErase: ["customerData", "lastError"],
    keeps: ["remoteOrderId", "remoteUrl", "shipments"]
  },
  atMost: { unbounded: "Orders write them, not those who receive them." },
  unique: [{ columns: ["storeId", "orderId"] }],
  indexes: [
    { columns: ["orderId"] },
    { columns: ["storeId", "remoteOrderId"] },
    { columns: ["storeId", "orderId"], where: "state in ('exported', 'confirmed')" },
    { columns: ["storeId", "id"], where: "state = 'confirmed' and ended_at is null" }
  ]
})
export type OrderExport = RowOf<typeof orderExports>

/** How an export moves (contract, plugins §13.2). */
export const orderExport = machine(orderExports, {
  noun: "export",
  column: "state",
  moves: {
    send: { from: ["pending", "exported", "failed"], to: "exported" },
    retry: { from: ["failed"], to: "exported" },
    confirm: { from: ["exported"], to: "confirmed" },
    fail: { from: ["exported"], to: "failed", stamp: "failedAt" },
    abandon: { from: ["pending", "exported", "failed", "confirmed"], to: "abandoned" },
    reap: { from: ["failed"], to: "abandoned" }
  }
})

/** Units of lines of an order. */
const RefundedUnits = Schema.Array(Schema.Struct({ lineItemId: OrderLineId, quantity: Schema.Int }))

/** Refunds of a store, each once: what they give back of the order, and whether that was done. */
export const refundRequests = table("channel_refund_requests", {
  storeId: uuid.references(stores),
  orderId: idOf(OrderId),
  remoteRefundId: text,
  amount,
  /** Without lines the amount alone is given back. */
  lines: jsonOf(RefundedUnits, 100_000),
  /** Minor units of `amount` that are shipping. */
  shipping: amount.default(0),
  state: oneOf(["requested", "approved", "executing", "executed", "rejected"]).default("requested")
    .about("State: staff decides (`requested`), or the payment provider is asked (`executing`)."),
  approvedBy: text.nullable.about("User or key that decided."),
  lastError: longText.nullable.about("Why staff decides, or why it was not executed."),
  /** The refund of the order. */
  refundId: uuid.nullable
}, {
  personal: { of: "orderId", exempt: "Amounts, ids and sentences of the service." },
  atMost: { unbounded: "Stores make them, not those who receive the money." },
  unique: [{ columns: ["storeId", "remoteRefundId"] }],
  indexes: [{ columns: ["orderId"] }]
})
export type RefundRequest = RowOf<typeof refundRequests>

/** How a refund of a store moves (contract-tills-channels, amendment 52). */
export const refundRequest = machine(refundRequests, {
  noun: "refund request",
  column: "state",
  moves: {
    approve: { from: ["requested"], to: "approved", by: "approvedBy" },
    reject: { from: ["requested"], to: "rejected", by: "approvedBy" },
    execute: { from: ["approved"], to: "executing" },
    finish: { from: ["executing"], to: "executed" },
    fail: { from: ["approved", "executing"], to: "requested" }
  }
})
