import { Effect, Schema } from "effect"
import type { PaymentId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { orderedJsonOf, Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import type { OrderStatus } from "./OrderStatus.ts"

export const TenderStatus = Schema.Literals(["pending", "authorized", "captured", "voided"]).annotate({
  description:
    "pending: the shopper has to confirm it. authorized: set aside, not captured. voided: released without being paid."
})

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
    description: "Name for shoppers; the method where it has none.",
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

/** Pays with goods that came back: its intent is the refund of their return (contract-commerce §12). */
export const exchangeMethod = "exchange"

export const orderTenders = new Table("order_tenders", OrderPayment)

export const PaymentStatus = Schema.Literals([
  "unpaid",
  "requires_action",
  "processing",
  "authorized",
  "paid",
  "partially_refunded",
  "refunded",
  "failed",
  "cancelled"
]).annotate({
  description: "requires_action: the shopper has to confirm the payment. `failed`: it was refused, and the order can " +
    "be paid another way. `processing`: that is under way. `authorized`: set aside, and not captured.",
  examples: ["requires_action"]
})

export const NextAction = Schema.Struct({
  type: Schema.Literals(["confirm", "redirect"]).annotate({
    description: "confirm: give `clientSecret` to the provider's library. `redirect`: send the shopper to `url`."
  }),
  url: Schema.NullOr(Schema.String).annotate({ description: "The page of the bank; null for `confirm`." })
}).annotate({ identifier: "PaymentAction", examples: [{ type: "confirm", url: null }] })

/** How an order is paid, over all its tenders. */
export const PaymentState = Schema.Struct({
  status: PaymentStatus,
  provider: Schema.NullOr(Schema.String).annotate({
    description: "Provider of the last payment; null without one.",
    examples: ["stripe"]
  }),
  clientSecret: Schema.NullOr(Schema.String).annotate({
    description: "For the order's holder only, while the status is `requires_action`.",
    examples: ["pi_3Qx_secret_9fK"]
  }),
  nextAction: Schema.NullOr(NextAction).annotate({ description: "For the order's holder only, as `clientSecret`." }),
  expiresAt: Schema.NullOr(Time).annotate({ description: "The order is cancelled then unless it is paid." })
}).annotate({ identifier: "PaymentState" }).pipe(
  Schema.withDecodingDefaultKey(
    Effect.succeed({ status: "unpaid" as const, provider: null, clientSecret: null, nextAction: null, expiresAt: null })
  )
)
export type PaymentState = typeof PaymentState.Type

export const storedPayments = `(select json_agg(${orderTenders.json("t", orderedJsonOf)} order by t.position)
  from order_tenders t where t.order_id = o.id)`

/** The first payment has the key itself: the order's id, or the id of the payment that replaced the checkout's. */
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
  /** An unpaid order is cancelled then. */
  readonly paymentDueAt?: Date | null
  /** `paymentId` has replaced the checkout's payment; `paymentClaimId` is under way. */
  readonly paymentId?: PaymentId | null
  readonly paymentClaimId?: PaymentId | null
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

export const noPayment: PaymentColumns = { paymentProvider: null, awaitsShopper: false, storedPayments: null }
