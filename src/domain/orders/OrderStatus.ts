import { Context, type Effect, Result, Schema } from "effect"
import type { StockDemand } from "../inventory/StockRules.ts"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { InvalidTransition } from "../platform/errors/ApiErrors.ts"
import type { OrderId } from "../platform/ids/Id.ts"

/** The states of an order; the first is the one it is placed in (specification 3, contract 4.1). */
export const OrderStatus = Schema.Literals([
  "pending",
  "confirmed",
  "processing",
  "partially_fulfilled",
  "fulfilled",
  "cancelled",
  "refunded"
])
/** See the schema of the same name. */
export type OrderStatus = typeof OrderStatus.Type

/**
 * Origin of a change of status: a person or client (`PATCH /orders/:id/status`), the order's fulfillments, or the
 * payment provider's events.
 */
export const TransitionSource = Schema.Literals(["request", "fulfillment", "payment"])
/** See the schema of the same name. */
export type TransitionSource = typeof TransitionSource.Type

/** A permitted change and its permitted sources. */
export interface Transition {
  readonly from: OrderStatus
  readonly to: OrderStatus
  readonly by: ReadonlyArray<TransitionSource>
}

/**
 * Every permitted change (specification 3 to the letter, contract 4.1). partially_fulfilled becomes fulfilled only
 * when fulfillments cover every line, never by request. cancelled and refunded are final. The provider's events
 * confirm a pending order, cancel it when its payment failed, and mark one refunded (contract 11).
 */
export const transitions: ReadonlyArray<Transition> = [
  { from: "pending", to: "confirmed", by: ["request", "payment"] },
  { from: "pending", to: "cancelled", by: ["request", "payment"] },
  { from: "confirmed", to: "processing", by: ["request", "fulfillment"] },
  { from: "confirmed", to: "cancelled", by: ["request"] },
  { from: "processing", to: "partially_fulfilled", by: ["request", "fulfillment"] },
  { from: "processing", to: "fulfilled", by: ["request", "fulfillment"] },
  { from: "processing", to: "cancelled", by: ["request"] },
  { from: "partially_fulfilled", to: "fulfilled", by: ["fulfillment"] },
  { from: "partially_fulfilled", to: "refunded", by: ["request", "payment"] },
  { from: "partially_fulfilled", to: "cancelled", by: ["request"] },
  { from: "fulfilled", to: "refunded", by: ["request", "payment"] }
]

/** Whether a change of status is permitted; `to` may be anything a client sent. Refused: 422 INVALID_TRANSITION. */
export const transition = (
  from: OrderStatus,
  to: string,
  by: TransitionSource
): Result.Result<OrderStatus, InvalidTransition> => {
  const permitted = transitions.find((entry) => entry.from === from && entry.to === to && entry.by.includes(by))
  return permitted === undefined
    ? Result.fail(InvalidTransition.of(`An order cannot go from ${from} to ${to}.`))
    : Result.succeed(permitted.to)
}

/** What has to happen in the transaction of a transition, or durably after it for money and tax (contract 4.2). */
export type TransitionEffect =
  | "releaseReservations" // of lines that are not fulfilled
  | "releaseUsage" // of promotions; the cart of an order that was never paid goes back too
  | "deductStock" // on hand and reservation of lines that are not fulfilled
  | "markLinesFulfilled"
  | "returnPayment" // refund what was captured and not yet refunded; cancel an authorization never captured
  | "voidTax" // where a tax adapter taxed the order: the job `tax/void` (domain/tax/TaxNotices.ts)
  | "stampFulfilledAt"
  | "stampCancelledAt"

/** The effects of reaching a status. partially_fulfilled changes only what the fulfillments themselves record. */
export const effectsOf: { readonly [S in OrderStatus]: ReadonlyArray<TransitionEffect> } = {
  pending: [],
  confirmed: [],
  processing: [],
  partially_fulfilled: [],
  fulfilled: ["deductStock", "markLinesFulfilled", "stampFulfilledAt"],
  cancelled: ["releaseReservations", "releaseUsage", "returnPayment", "voidTax", "stampCancelledAt"],
  refunded: ["returnPayment", "voidTax"]
}

/** The statuses that are refused (422) while a line of the order has refunded units (contract 4.2). */
export const refusedWithRefundedUnits: ReadonlyArray<OrderStatus> = ["fulfilled"]

/** Returns what a cancelled order consumed besides stock and money, for the module that cancels it. */
export class UndoCreateOrder extends Context.Service<UndoCreateOrder, {
  /**
   * Returns the promotion usage, and releases the cart if nothing was captured (contract §3.6). Call it in the
   * transaction that cancels the order. Repeating it changes nothing.
   */
  readonly undo: (orderId: OrderId) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/orders/UndoCreateOrder") {}

/**
 * Fulfillments of a status change, for the module that changes the status. Joins the caller's transaction, which must
 * have locked the order. Each method sends at most two statements, for any number of lines.
 */
export class Handover extends Context.Service<Handover, {
  /**
   * Writes one fulfillment of all open units when staff mark an order fulfilled, so that its fulfillments cover every
   * unit (contract §4.2). Nothing when no unit is open. The caller takes the stock.
   */
  readonly rest: (orderId: OrderId) => Effect.Effect<void, never, CurrentActor>
  /** Fulfilled units that are still in stock: those of digital goods with stock. */
  readonly unshelved: (orderId: OrderId) => Effect.Effect<ReadonlyArray<StockDemand>, never, CurrentActor>
}>()("stoa/domain/orders/Handover") {}
