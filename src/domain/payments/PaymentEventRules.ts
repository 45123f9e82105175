import type { Order, StoredOrder } from "../orders/Order.ts"
import type { StatusRequest } from "../orders/Orders.ts"
import { transition } from "../orders/OrderStatus.ts"
import type { OrderPayment } from "../orders/Tender.ts"
import type { PaymentAdapter, PaymentEvent } from "./PaymentAdapter.ts"

export interface VerifiedEvent {
  readonly adapter: PaymentAdapter
  readonly event: PaymentEvent
}

export const isRefundEvent = ({ event }: VerifiedEvent): boolean => event.type === "charge.refunded"

/** The shopper has confirmed a payment that waited for it: it can be captured now (contract §3.7). */
export const isCapturableEvent = ({ event }: VerifiedEvent): boolean =>
  event.type === "payment_intent.amount_capturable_updated"

export const isMoneyEvent = (verified: VerifiedEvent): boolean =>
  verified.event.type === "payment_intent.succeeded" || isCapturableEvent(verified)

/** A bank has taken money back or refused a refund: a person has to decide. */
export const needsAPerson = ({ event }: VerifiedEvent): boolean =>
  event.type.startsWith("charge.dispute.") || event.type === "refund.failed"

export const paymentIn = (
  { adapter, event }: VerifiedEvent,
  { order, paymentClaimId, payments }: StoredOrder
): OrderPayment | undefined =>
  // The payment that another one replaces is being voided.
  paymentClaimId === null &&
    (event.currency === null || event.currency.toUpperCase() === order.currency.toUpperCase())
    ? payments.find(({ intentId, provider }) => intentId === event.intentId && provider === adapter.providerId)
    : undefined

export interface OrderEvent extends VerifiedEvent {
  readonly stored: StoredOrder
  readonly payment: OrderPayment
}

export const isShared = ({ stored }: OrderEvent): boolean => stored.payments.length > 1

export const requestOf = ({ adapter, event }: VerifiedEvent): StatusRequest | undefined => {
  const reason = `${adapter.providerId}_webhook_${event.type.replaceAll(".", "_")}`
  switch (event.type) {
    case "payment_intent.succeeded":
      return { status: "confirmed", source: "payment", reason }
    case "payment_intent.payment_failed":
      return { status: "cancelled", source: "payment", reason, unpaid: true }
    case "payment_intent.canceled":
      return { status: "cancelled", source: "payment", reason, unpaid: true, authorizationEnded: true }
    case "charge.refunded":
      return { status: "refunded", source: "payment", reason }
    default:
      return undefined
  }
}

/**
 * A late report of a failed attempt does not cancel a paid order: orders stay pending after a paid checkout, so the
 * status alone is not enough.
 */
export const comesTooLate = (request: StatusRequest, { amountCaptured, status }: Order): boolean =>
  transition(status, request.status, request.source)._tag === "Failure" ||
  request.unpaid === true && amountCaptured !== null

/** An event of another amount than was captured or is due confirms nothing. */
export const paysAnotherAmount = ({ event, payment: { amount, captured } }: OrderEvent): boolean =>
  event.type === "payment_intent.succeeded" && event.amount !== null && event.amount !== (captured ?? amount)

/** Minor units: from the event, else what is recorded, else what is due. */
export const capturedBy = ({ event, payment: { amount, captured } }: OrderEvent): number | undefined =>
  event.type === "payment_intent.succeeded" ? event.amount ?? captured ?? amount : undefined

export const canBeCaptured = (of: OrderEvent): boolean =>
  of.stored.order.amountCaptured === null && of.stored.order.status !== "cancelled" &&
  (isCapturableEvent(of) || isShared(of) && of.event.type === "payment_intent.succeeded")
