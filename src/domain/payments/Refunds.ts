import { Context, Effect, Layer, Schema } from "effect"
import { OrderNotFound } from "../orders/Order.ts"
import { CurrentActor, requireAnyOf } from "../platform/access/Actor.ts"
import { NotFound } from "../platform/errors/ApiErrors.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import type { CompensationFailureId, OrderId, RefundId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { CompensationFailureRepo } from "./CompensationFailureRepo.ts"
import { type RefundCap, RefundNotFound, type RefundRequest } from "./Refund.ts"
import {
  calculateRefund,
  capOf,
  capturedShares,
  nextValue,
  type RefundableOrder,
  refundableUnits
} from "./RefundCalculation.ts"
import { RefundCalculationRepo } from "./RefundCalculationRepo.ts"
import { RefundRepo } from "./RefundRepo.ts"
import { FailureNotFound, RefundReversalRepo } from "./RefundReversalRepo.ts"

const unexplained = "requested_by_store"

/** Refunds and returns as records (contract §4.3, §4.4). A durable step moves the money afterwards. */
export class Refunds extends Context.Service<Refunds>()("stoa/domain/payments/Refunds", {
  make: Effect.gen(function*() {
    const calculations = yield* RefundCalculationRepo
    const refunds = yield* RefundRepo
    const reversals = yield* RefundReversalRepo

    const permitted = Effect.flatMap(CurrentActor, (actor) => requireAnyOf(actor, ["orders:update"]))

    const get = Effect.fn("Refunds.get")(function*(refundId: RefundId) {
      return (yield* refunds.record(refundId)) ?? (yield* new RefundNotFound())
    })

    return {
      get,
      /**
       * Writes a requested refund (needs `orders:update`). 404 unknown order, 409 nothing left to refund, 422 for more
       * than is left. Its money still has to be settled, unless it is `settled`.
       */
      request: Effect.fn("Refunds.request")(function*(orderId: OrderId, request: RefundRequest) {
        yield* permitted
        const reason = request.reason ?? unexplained
        return yield* calculations.write(orderId, reason, (order) => calculateRefund(order, request), request)
      }),
      /** Calculates a refund as `request` would write it now. Errors as of `request`. */
      preview: Effect.fn("Refunds.preview")(function*(orderId: OrderId, request: RefundRequest) {
        yield* permitted
        const order = (yield* refunds.refundable(orderId)) ?? (yield* new OrderNotFound())
        return yield* Effect.fromResult(calculateRefund(order, request))
      }),
      /** The newest first; 404 for an unknown order. */
      ofOrder: Effect.fn("Refunds.ofOrder")(function*(orderId: OrderId, page: PageRequest) {
        return (yield* refunds.ofOrder(orderId, page)) ?? (yield* new OrderNotFound())
      }),
      /** Reads what can still be refunded, in total and of each line; 404 for an unknown order. */
      cap: Effect.fn("Refunds.cap")(function*(orderId: OrderId) {
        return { orderId, ...leftOf((yield* refunds.refundable(orderId)) ?? (yield* new OrderNotFound())) }
      }),
      /** Undoes a refund that the provider has not received (needs `orders:update`). 404; 409 when it is too late. */
      undo: Effect.fn("Refunds.undo")(function*(orderId: OrderId, refundId: RefundId) {
        yield* permitted
        yield* reversals.undo(orderId, refundId)
        return yield* Effect.catchIf(get(refundId), Schema.is(NotFound), Effect.die)
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
    lines: lines.flatMap((line) => {
      const quantity = refundableUnits(line)
      return quantity > 0
        ? [{ lineItemId: line.id, quantity, amount: nextValue(line, shares.lines.get(line.id) ?? 0, quantity) }]
        : []
    })
  }
}

export class FailureNotOpen extends conflict(
  "FailureNotOpen",
  (status: string) => `The failure is ${status}: only an open one can be resolved.`
) {}

/** Steps about money that failed for good, for the operator (contract §3.8; `compensation:admin`). */
export class CompensationFailures
  extends Context.Service<CompensationFailures>()("stoa/domain/payments/CompensationFailures", {
    make: Effect.gen(function*() {
      const repo = yield* CompensationFailureRepo
      const get = Effect.fn("CompensationFailures.get")(function*(id: CompensationFailureId) {
        return (yield* repo.find(id)) ?? (yield* new FailureNotFound())
      })
      /** Records that an operator settled the failure elsewhere. 404; 409 if it is not open. */
      const resolve = Effect.fn("CompensationFailures.resolve")(
        function*(id: CompensationFailureId, note: string | null) {
          const done = yield* repo.resolve(id, note)
          const failure = yield* get(id)
          return done ? failure : yield* new FailureNotOpen(failure.status)
        }
      )
      return { list: repo.list, get, resolve }
    })
  })
{
  static readonly layer = Layer.effect(CompensationFailures, CompensationFailures.make)
}
