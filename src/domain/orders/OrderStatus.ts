import { Context, type Effect, Result, Schema } from "effect"
import type { StockDemand } from "../inventory/StockRules.ts"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { InvalidTransition } from "../platform/errors/ApiErrors.ts"
import type { OrderId } from "../platform/ids/Id.ts"

/** An order starts in the first state (specification 3, contract 4.1). */
export const OrderStatus = Schema.Literals([
  "pending",
  "confirmed",
  "processing",
  "partially_fulfilled",
  "fulfilled",
  "cancelled",
  "refunded"
])
export type OrderStatus = typeof OrderStatus.Type

export const TransitionSource = Schema.Literals(["request", "fulfillment", "payment"])
export type TransitionSource = typeof TransitionSource.Type

export interface Transition {
  readonly from: OrderStatus
  readonly to: OrderStatus
  readonly by: ReadonlyArray<TransitionSource>
}

/**
 * Every permitted change (specification 3, contract 4.1). partially_fulfilled becomes fulfilled only when fulfillments
 * cover every line. cancelled and refunded are final. The provider's events confirm a pending order, cancel or refund
 * one (contract 11).
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

/** Happens in the transaction of a transition, or durably after it for money and tax (contract 4.2). */
export type TransitionEffect =
  | "releaseReservations" // of lines that are not fulfilled
  | "releaseUsage" // of promotions; the cart of an order that was never paid goes back too
  | "deductStock" // on hand and reservation of lines that are not fulfilled
  | "markLinesFulfilled"
  | "returnPayment" // refund what was captured and not yet refunded; cancel an authorization never captured
  | "voidTax" // where a tax adapter taxed the order: the job `tax/void`
  | "stampFulfilledAt"
  | "stampCancelledAt"

export const effectsOf: { readonly [S in OrderStatus]: ReadonlyArray<TransitionEffect> } = {
  pending: [],
  confirmed: [],
  processing: [],
  partially_fulfilled: [],
  fulfilled: ["deductStock", "markLinesFulfilled", "stampFulfilledAt"],
  cancelled: ["releaseReservations", "releaseUsage", "returnPayment", "voidTax", "stampCancelledAt"],
  refunded: ["returnPayment", "voidTax"]
}

/** Refused (422) while a line has refunded units (contract 4.2). */
export const refusedWithRefundedUnits: ReadonlyArray<OrderStatus> = ["fulfilled"]

/** A fulfilled order has open units after one of its shipments was cancelled. */
export const sendable: ReadonlyArray<OrderStatus> = ["confirmed", "processing", "partially_fulfilled", "fulfilled"]

/** Lists the statuses that a request can set. */
export const allowedTransitions = (status: OrderStatus, hasRefundedUnits: boolean): ReadonlyArray<OrderStatus> =>
  transitions.flatMap(({ by, from, to }) =>
    from === status && by.includes("request") && !(hasRefundedUnits && refusedWithRefundedUnits.includes(to))
      ? [to]
      : []
  )

export class UndoCreateOrder extends Context.Service<UndoCreateOrder, {
  /**
   * Returns the promotion usage, and the cart if nothing was captured (contract §3.6). Call it in the transaction that
   * cancels the order. Repeating it changes nothing.
   */
  readonly undo: (orderId: OrderId) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/orders/UndoCreateOrder") {}

/** Fulfillments of a status change. Joins the caller's transaction, which must have locked the order. */
export class Handover extends Context.Service<Handover, {
  /**
   * Writes one fulfillment of all open units when staff mark an order fulfilled (contract §4.2). The caller takes the
   * stock. 422 while units wait for stock.
   */
  readonly rest: (orderId: OrderId) => Effect.Effect<void, InvalidTransition, CurrentActor>
  /** Fulfilled units that are still in stock: those of digital goods with stock. */
  readonly unshelved: (orderId: OrderId) => Effect.Effect<ReadonlyArray<StockDemand>, never, CurrentActor>
}>()("stoa/domain/orders/Handover") {}
