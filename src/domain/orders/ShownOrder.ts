import { Schema } from "effect"
import { type Order, type OrderLine, orderTaxes, ShippingAddress, type StoredLine } from "./Order.ts"
import { allowedTransitions, type OrderStatus, sendable } from "./OrderStatus.ts"
import {
  exchangeMethod,
  type OrderPayment,
  type PaidOrder,
  type PaymentColumns,
  paymentsOf,
  type PaymentState,
  type Tender
} from "./Tender.ts"

/** A line with the units that fulfillments cover, came back with returns, or wait for stock; absent: none. */
export interface CoveredLine extends StoredLine {
  readonly covered?: number | undefined
  /** They wait for the refund of their return. */
  readonly returned?: number | undefined
  readonly backordered?: number | undefined
}

/** Units that an order waits for, by sellable. */
export type WaitingUnits = Readonly<Record<string, number>> | null

/** A stored order, without the fields that are derived from it. */
export interface UnshownOrder
  extends
    Omit<Order, "allowedTransitions" | "amountDue" | "billingAddress" | "lineItems" | "payment" | "taxes" | "tenders">
{
  readonly lineItems: ReadonlyArray<CoveredLine>
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

/** Counts units that are neither covered nor refunded (contract §5). */
export const openUnits = (
  { covered = 0, fulfillmentStatus, quantity, refundedQuantity }: Pick<
    CoveredLine,
    "covered" | "fulfillmentStatus" | "quantity" | "refundedQuantity"
  >
): number => fulfillmentStatus === "fulfilled" ? 0 : Math.max(0, quantity - refundedQuantity - covered)

/** Shares the units that wait among the open units of the lines; the last lines wait first. */
export const withWaiting = <
  Line extends Parameters<typeof openUnits>[0] & Pick<StoredLine, "entityId" | "variantId">
>(
  lines: ReadonlyArray<Line>,
  waiting: WaitingUnits
): ReadonlyArray<Line & { readonly backordered: number }> => {
  const left = new Map(Object.entries(waiting ?? {}))
  return lines.toReversed().map((line) => {
    const sellable = line.variantId ?? line.entityId
    const units = left.get(sellable) ?? 0
    const backordered = units === 0 ? 0 : Math.min(units, openUnits(line))
    left.set(sellable, units - backordered)
    return { ...line, backordered }
  }).toReversed()
}

const shownLine =
  ({ amountCaptured, grandTotal, status }: UnshownOrder) =>
  ({ backordered = 0, covered, returned = 0, ...line }: CoveredLine): OrderLine => ({
    ...line,
    backordered,
    fulfillable: sendable.includes(status) && (amountCaptured !== null || grandTotal === 0)
      ? openUnits({ ...line, covered }) - backordered
      : 0,
    refundable: amountCaptured === null ? 0 : Math.max(0, line.quantity - line.refundedQuantity - returned)
  })

const creditOf = (tenders: ReadonlyArray<Tender>) => tenders.reduce((sum, { amount }) => sum + amount, 0)

const paymentStatus = (
  { amountCaptured, grandTotal, refundedTotal, status }: UnshownOrder,
  tenders: ReadonlyArray<Tender>,
  { paymentClaimId = null, paymentId = null }: Partial<PaymentColumns>
): PaymentState["status"] => {
  if (amountCaptured !== null && refundedTotal > 0) {
    return refundedTotal < amountCaptured ? "partially_refunded" : "refunded"
  }
  if (amountCaptured !== null) return "paid"
  if (status === "cancelled") return "cancelled"
  if (paymentClaimId !== null) return "processing"
  if (tenders.some((tender) => tender.status === "pending")) return "requires_action"
  const isCovered = tenders.some(({ method }) => method !== exchangeMethod) || creditOf(tenders) === grandTotal
  if (isCovered) return "authorized"
  return paymentId === null ? "unpaid" : "failed"
}

const isAddress = Schema.is(ShippingAddress)
const addressIn = (value: unknown): Order["billingAddress"] => isAddress(value) ? value : null

const shownAs = (order: UnshownOrder, tenders: ReadonlyArray<Tender>, columns: Partial<PaymentColumns>): Order => ({
  ...order,
  billingAddress: addressIn(order.metadata["billingAddress"]),
  payment: {
    status: paymentStatus(order, tenders, columns),
    provider: tenders.at(-1)?.method ?? null,
    clientSecret: null,
    nextAction: null,
    expiresAt: order.status === "pending" && order.amountCaptured === null ? columns.paymentDueAt ?? null : null
  },
  taxes: orderTaxes(order.lineItems),
  tenders,
  amountDue: dueOf(order, tenders),
  allowedTransitions: allowedTransitions(order.status, order.lineItems.some((line) => line.refundedQuantity > 0)),
  lineItems: order.lineItems.map(shownLine(order))
})

/** Derives what an order shows from what it stores; every answer, event and read comes from here. */
export const shownOrder = (order: UnshownOrder, columns: PaymentColumns): Order => {
  // A free order has nothing to pay.
  const payments = paymentsOf(order, columns).filter(({ amount }) => amount > 0)
  return shownAs(
    order,
    payments.map((payment): Tender => ({
      method: payment.provider,
      label: payment.label,
      amount: payment.amount,
      captured: payment.captured ?? 0,
      refunded: payment.refunded,
      status: statusOf(payment, order.status, columns.awaitsShopper)
    })),
    columns
  )
}

/** Shows an order whose payments were captured a moment ago; nothing of it is sent yet. */
export const paidInFull = (order: Order): Order =>
  shownAs(
    order,
    order.tenders.map((tender): Tender => ({ ...tender, captured: tender.amount, status: "captured" })),
    {}
  )
