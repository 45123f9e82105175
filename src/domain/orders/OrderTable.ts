import { Schema, Struct } from "effect"
import { CartId, OrderId, OrderMessageId, PaymentId, Uuid } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { Order } from "./Order.ts"
import { OrderStatus } from "./OrderStatus.ts"

const derived = [
  "allowedTransitions",
  "amountDue",
  "billingAddress",
  "customer",
  "email",
  "importedAt",
  "isDraft",
  "lineItems",
  "payment",
  "taxes",
  "tenders"
] as const

export const storedOrder = Struct.omit(Order.fields, derived)

const OrderRow = Schema.Struct({
  ...storedOrder,
  isDraft: Schema.Boolean,
  importedAt: Schema.NullOr(Time),
  email: Schema.NullOr(Schema.String),
  cartId: Schema.NullOr(CartId),
  cartSecretHash: Schema.NullOr(Schema.String),
  taxProvider: Schema.NullOr(Schema.String),
  paymentProvider: Schema.NullOr(Schema.String),
  paymentDueAt: Schema.NullOr(Time),
  paymentId: Schema.NullOr(PaymentId),
  paymentClaimId: Schema.NullOr(PaymentId),
  refundedShipping: Amount,
  captureAmount: Schema.NullOr(Amount),
  captureRefusals: Schema.Int,
  captureDueAt: Schema.NullOr(Time),
  revision: Schema.Int,
  requestHash: Schema.NullOr(Schema.String)
})

const bigints = [
  "subtotal",
  "taxTotal",
  "shippingTotal",
  "discountTotal",
  "grandTotal",
  "amountCaptured",
  "refundedTotal"
]

export const orders = new Table("orders", OrderRow, {
  casts: Object.fromEntries(bigints.map((field) => [field, "float8"])),
  unset: [
    "captureAmount",
    "captureDueAt",
    "captureRefusals",
    "paymentClaimId",
    "paymentDueAt",
    "paymentId",
    "refundedShipping",
    "requestHash",
    "revision"
  ]
})

export const StatusChange = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  orderId: OrderId,
  fromStatus: OrderStatus,
  toStatus: OrderStatus,
  reason: Schema.NullOr(Schema.String),
  changedBy: Schema.NullOr(Schema.String),
  changedAt: Time
})

export const orderHistory = new Table("order_status_history", StatusChange, { unset: ["changedAt"] })

export const MailOutcome = Schema.Literals(["queued", "sent", "failed", "skipped"])

const OrderMail = Schema.Struct({
  id: OrderMessageId,
  organizationId: Schema.String,
  orderId: OrderId,
  template: Schema.String,
  outcome: MailOutcome,
  failure: Schema.NullOr(Schema.String),
  subject: Schema.NullOr(Schema.String),
  sentAt: Schema.NullOr(Time),
  resentFrom: Schema.NullOr(OrderMessageId),
  /** The encrypted mail (`QueuedMails.ts`); null for mails of an earlier version. */
  content: Schema.NullOr(Schema.Struct({ keyId: Schema.String, encrypted: Schema.String })),
  at: Time
})

export const orderMails = new Table("order_mails", OrderMail, { unset: ["at"] })
