import { Schema } from "effect"
import { OrderId, OrderLineId, RefundId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"

const StoredRefundLine = Schema.Struct({
  organizationId: Schema.String,
  refundId: RefundId,
  orderLineId: OrderLineId,
  quantity: Schema.Int,
  amount: Amount,
  value: Amount,
  restock: Schema.Boolean,
  restocked: Schema.Int
})

export const refundLines = new Table("refund_lines", StoredRefundLine)

const StoredRefundTender = Schema.Struct({
  organizationId: Schema.String,
  refundId: RefundId,
  position: Schema.Int,
  amount: Amount,
  reference: Schema.NullOr(Schema.String),
  completedAt: Schema.NullOr(Time)
})

export const refundTenders = new Table("refund_tenders", StoredRefundTender, { unset: ["reference", "completedAt"] })

const PaymentEvent = Schema.Struct({
  organizationId: Schema.String,
  provider: Schema.String,
  eventId: Schema.String,
  type: Schema.String,
  orderId: Schema.NullOr(OrderId),
  amount: Schema.NullOr(Amount),
  receivedAt: Time
})

export const paymentEvents = new Table("payment_events", PaymentEvent, { unset: ["receivedAt"] })
