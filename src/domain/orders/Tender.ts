import { Schema } from "effect"
import { Amount } from "../platform/money/Money.ts"
import { orderedJsonOf, Table } from "../platform/records/Table.ts"
import type { OrderStatus } from "./OrderStatus.ts"

/**
 * pending: the shopper has to confirm it. authorized: set aside, and not captured. voided: released without being paid.
 */
export const TenderStatus = Schema.Literals(["pending", "authorized", "captured", "voided"])

/**
 * A payment towards an order, in the order given (contract, plugins §17.3). Minor units; `captured` and `refunded` are
 * parts of `amount`.
 */
export const Tender = Schema.Struct({
  method: Schema.String.annotate({
    description: "The payment provider, for example `stripe` or `gift-card`.",
    examples: ["gift-card"]
  }),
  label: Schema.String.annotate({
    description: "What the shopper knows it by; the method where it has no name.",
    examples: ["Gift card ending in 7K2M"]
  }),
  amount: Amount,
  captured: Amount,
  refunded: Amount,
  status: TenderStatus
}).annotate({ identifier: "Tender" })
export type Tender = typeof Tender.Type

/** `captured` is null before the capture. */
export const OrderPayment = Schema.Struct({
  position: Schema.Int,
  provider: Schema.String,
  label: Schema.String,
  intentId: Schema.String,
  /** A gift card or another balance of the shop: refunds go to other payments first. */
  isStoredValue: Schema.Boolean,
  amount: Amount,
  captured: Schema.NullOr(Amount),
  refunded: Amount,
  needsShopper: Schema.Boolean
})
export type OrderPayment = typeof OrderPayment.Type

export const orderTenders = new Table("order_tenders", OrderPayment)

export const storedPayments = `(select json_agg(${orderTenders.json("t", orderedJsonOf)} order by t.position)
  from order_tenders t where t.order_id = o.id)`

/** The first payment has the key of the order itself. */
export const keyAt = (key: string, position: number): string => position === 0 ? key : `${key}:${position}`

/** 0: the payment is voided. Minor units. */
export interface CaptureShare {
  readonly payment: OrderPayment
  readonly share: number
}

/**
 * Splits an amount to capture over the payments in their order. Captured parts stay: the provider refused a later
 * payment, and the capture is tried again.
 */
export const captureShares = (payments: ReadonlyArray<OrderPayment>, amount: number): ReadonlyArray<CaptureShare> => {
  let left = amount - payments.reduce((sum, { captured }) => sum + (captured ?? 0), 0)
  return payments.map((payment) => {
    if (payment.captured !== null) return { payment, share: payment.captured }
    const share = Math.min(payment.amount, Math.max(0, left))
    left -= share
    return { payment, share }
  })
}

export interface CapturedPart {
  readonly position: number
  readonly captured: number
}

export interface PaidOrder {
  readonly status: OrderStatus
  readonly grandTotal: number
  readonly amountCaptured: number | null
  readonly refundedTotal: number
  readonly paymentIntentId: string | null
  readonly paymentMethodId: string | null
}

export interface PaymentColumns {
  readonly paymentProvider: string | null
  readonly awaitsShopper: boolean
  /** Several payments, or stored value; null for a single payment, whose columns are those of the order. */
  readonly storedPayments: ReadonlyArray<OrderPayment> | null
}

export const paymentsOf = (
  { amountCaptured, grandTotal, paymentIntentId, paymentMethodId, refundedTotal }: PaidOrder,
  { awaitsShopper, paymentProvider, storedPayments }: PaymentColumns
): ReadonlyArray<OrderPayment> => {
  if (storedPayments !== null) return storedPayments
  if (paymentIntentId === null && amountCaptured === null) return []
  // Imported orders have no provider.
  const provider = paymentProvider ?? paymentMethodId ?? "external"
  return [{
    position: 0,
    provider,
    label: provider,
    intentId: paymentIntentId ?? "",
    isStoredValue: false,
    amount: grandTotal,
    captured: amountCaptured,
    refunded: refundedTotal,
    needsShopper: awaitsShopper
  }]
}

const statusOf = ({ captured, needsShopper }: OrderPayment, status: OrderStatus, awaitsShopper: boolean) => {
  if (captured !== null && captured > 0) return "captured"
  if (captured === 0 || status === "cancelled") return "voided"
  return needsShopper && awaitsShopper ? "pending" : "authorized"
}

const dueOf = ({ grandTotal, status }: PaidOrder, tenders: ReadonlyArray<Tender>): number => {
  if (status === "cancelled" || status === "refunded") return 0
  const paid = tenders.map(({ amount, captured, status }) =>
    status === "captured" ? captured : status === "authorized" ? amount : 0
  )
  return Math.max(0, grandTotal - paid.reduce((sum, one) => sum + one, 0))
}

export const withTenders = <A extends PaidOrder>(order: A, columns: PaymentColumns) => {
  // A free order has nothing to pay.
  const payments = paymentsOf(order, columns).filter(({ amount }) => amount > 0)
  const tenders = payments.map((payment): Tender => ({
    method: payment.provider,
    label: payment.label,
    amount: payment.amount,
    captured: payment.captured ?? 0,
    refunded: payment.refunded,
    status: statusOf(payment, order.status, columns.awaitsShopper)
  }))
  return { ...order, tenders, amountDue: dueOf(order, tenders) }
}

export const paidInFull = <A extends { readonly tenders: ReadonlyArray<Tender>; readonly amountDue: number }>(
  order: A
): A => ({
  ...order,
  tenders: order.tenders.map((tender): Tender => ({ ...tender, captured: tender.amount, status: "captured" })),
  amountDue: 0
})

export const noPayment: PaymentColumns = { paymentProvider: null, awaitsShopper: false, storedPayments: null }
