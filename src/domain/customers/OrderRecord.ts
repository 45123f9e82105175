import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Time } from "../pricing/Bounds.ts"

const Amount = Schema.Int
const text = Schema.NullOr(Schema.String)

/** A note about a customer's order as the customer sees it, without its author. */
export const WrittenNote = Schema.Struct({
  id: Uuid,
  orderId: Uuid,
  visibility: Schema.String,
  text: Schema.String,
  createdAt: Time
}).annotate({ identifier: "WrittenNote" })

/** A refund, paid or pending; minor units of the order's currency. */
export const GivenBack = Schema.Struct({
  id: Uuid,
  orderId: Uuid,
  amount: Amount,
  reason: Schema.String,
  status: Schema.String,
  createdAt: Time
}).annotate({ identifier: "GivenBack" })

/** A shipment or handover, and its tracking data. */
export const HandedOver = Schema.Struct({
  id: Uuid,
  orderId: Uuid,
  type: Schema.String,
  status: Schema.String,
  carrier: text,
  trackingNumber: text,
  trackingUrl: text,
  details: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
  createdAt: Time
}).annotate({ identifier: "HandedOver" })

/** An invoice as issued; `number` is its number in the organization. */
export const IssuedDocument = Schema.Struct({
  orderId: Uuid,
  number: Schema.Int,
  issuedAt: Time,
  content: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "IssuedDocument" })

/** Records that belong to a customer's orders, each kind newest first. */
export const OrderRecords = Schema.Struct({
  notes: Schema.Array(WrittenNote),
  refunds: Schema.Array(GivenBack),
  fulfillments: Schema.Array(HandedOver),
  invoices: Schema.Array(IssuedDocument)
})
export type OrderRecords = typeof OrderRecords.Type
