import { Context, Effect, Layer } from "effect"
import { calculateRefund } from "../../domain/payments/RefundCalculation.ts"
import { RefundCalculationRepo } from "../../domain/payments/RefundCalculationRepo.ts"
import { type Actor, CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { OrderId, ReturnId } from "../../domain/platform/ids/Id.ts"
import type { Return, ReturnRefund } from "../../domain/returns/Return.ts"
import { ReturnRepo } from "../../domain/returns/ReturnRepo.ts"
import { stepped } from "../../domain/returns/Returns.ts"
import { RefundSettlement } from "../payments/RefundSettlement.ts"

/** The return writes the record of the request's Idempotency-Key. */
export const withoutRecord = ({ executionId: _, ...actor }: Actor): Actor => actor

export const receivedUnits = ({ lines }: Return) =>
  lines.flatMap(({ lineItemId, receivedQuantity: quantity }) => quantity > 0 ? [{ lineItemId, quantity }] : [])

export const reasonOf = ({ number }: Return): string => `return ${number}`

/** `amount`, in minor units, is at most what the goods are worth; 0 refunds nothing. */
interface AgreedRefund extends ReturnRefund {
  readonly amount?: number | undefined
}

/** Money for goods that came back (contract-commerce §12). */
export class ReturnRefunds extends Context.Service<ReturnRefunds>()("stoa/workflows/orders/ReturnRefunds", {
  make: Effect.gen(function*() {
    const [returns, calculations, settlement] = yield* Effect.all([ReturnRepo, RefundCalculationRepo, RefundSettlement])

    const written = Effect.fnUntraced(function*(before: Return, { amount, givenOutside }: AgreedRefund) {
      const refunded = yield* stepped(before, "refund")
      if (amount === 0) return refunded
      const lines = receivedUnits(before)
      const { refundId } = yield* calculations.write(
        before.orderId,
        reasonOf(before),
        (order) => calculateRefund(order, { lines, amount }),
        { returnId: before.id, givenOutside }
      )
      return { ...refunded, refundId }
    }, Effect.updateService(CurrentActor, withoutRecord))

    /**
     * Writes the step and the refund of what was received, in one transaction or that of the caller. Settle the refund
     * after the commit; it settles by itself later. 404, 409; 422 for more than is left of the payment or it is worth.
     */
    const request = Effect.fn("ReturnRefunds.request")((orderId: OrderId, id: ReturnId, asked: AgreedRefund) =>
      returns.change(orderId, id, (before) => written(before, asked))
    )

    /** The same, and waits a moment for the money. */
    const refund = Effect.fn("ReturnRefunds.refund")(function*(orderId: OrderId, id: ReturnId, asked: ReturnRefund) {
      const { organizationId } = yield* CurrentActor
      const refunded = yield* request(orderId, id, asked)
      if (refunded.refundId !== null) yield* settlement.settle({ refundId: refunded.refundId, organizationId })
      return refunded
    })

    return { request, refund }
  })
}) {
  static readonly layer = Layer.effect(ReturnRefunds, ReturnRefunds.make)
}
