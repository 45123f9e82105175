import { Context, Effect, Layer, Schema } from "effect"
import { CurrentActor, requireAnyOf } from "../access/Actor.ts"
import { NotFound } from "../errors/ApiErrors.ts"
import type { PageRequest } from "../paging/Paging.ts"
import type { RefundCap, RefundRequest } from "./Refund.ts"
import { calculateRefund } from "./RefundCalculation.ts"
import { RefundCalculationRepo } from "./RefundCalculationRepo.ts"
import { RefundRecordRepo } from "./RefundRecordRepo.ts"
import { RefundReversalRepo } from "./RefundReversalRepo.ts"
import { capOf, capturedShares, nextValue, type RefundableOrder } from "./RefundShares.ts"

/** Reason of a refund requested without one. */
const unexplained = "requested_by_store"

/** Refunds and returns as records (contract §4.3, §4.4). Money moves afterwards, by a durable step. */
export class Refunds extends Context.Service<Refunds>()("stoa/domain/payments/Refunds", {
  make: Effect.gen(function*() {
    const calculations = yield* RefundCalculationRepo
    const records = yield* RefundRecordRepo
    const reversals = yield* RefundReversalRepo

    const found = <A>(record: A | undefined, name: string) =>
      record === undefined ? Effect.fail(NotFound.of(`${name} not found.`)) : Effect.succeed(record)
    const permitted = Effect.flatMap(CurrentActor, (actor) => requireAnyOf(actor, ["orders:update"]))

    /** One refund; 404. */
    const get = Effect.fn("Refunds.get")(function*(refundId: string) {
      return yield* found(yield* records.find(refundId), "Refund")
    })

    return {
      get,
      /**
       * Writes a requested refund (needs `orders:update`). 404 unknown order, 409 nothing left to refund, 422 for more than
       * is left. Its money still has to be settled, unless it is `settled`.
       */
      request: Effect.fn("Refunds.request")(function*(orderId: string, request: RefundRequest) {
        yield* permitted
        const reason = request.reason ?? unexplained
        return yield* calculations.write(orderId, reason, (order) => calculateRefund(order, request))
      }),
      /** A page of an order's refunds, newest first; 404 for an unknown order. */
      ofOrder: Effect.fn("Refunds.ofOrder")(function*(orderId: string, page: PageRequest) {
        return yield* found(yield* records.ofOrder(orderId, page), "Order")
      }),
      /** What can still be given back, in all and of each line with units left; 404 for an unknown order. */
      cap: Effect.fn("Refunds.cap")(function*(orderId: string) {
        return { orderId, ...leftOf(yield* found(yield* records.refundable(orderId), "Order")) }
      }),
      /** Takes back a refund that the provider has not heard of (needs `orders:update`). 404; 409 when it is too late. */
      undo: Effect.fn("Refunds.undo")(function*(orderId: string, refundId: string) {
        yield* permitted
        yield* reversals.undo(orderId, refundId)
        return yield* Effect.catchIf(get(refundId), Schema.is(NotFound), (error) => Effect.die(error))
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Refunds, Refunds.make)
}

const leftOf = (order: RefundableOrder): Omit<RefundCap, "orderId"> => {
  const { captured, currency, lines, pending, refunded, refundedShipping } = order
  const shares = capturedShares(order)
  return {
    currency,
    captured,
    refunded,
    pending,
    cap: capOf(order),
    shipping: Math.max(0, shares.shipping - refundedShipping),
    lines: lines.filter(({ quantity, refundedQuantity }) => quantity > refundedQuantity).map((line) => ({
      lineItemId: line.id,
      quantity: line.quantity - line.refundedQuantity,
      amount: nextValue(line, shares.lines.get(line.id) ?? 0, line.quantity - line.refundedQuantity)
    }))
  }
}
