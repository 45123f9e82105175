import { Context, Effect, Layer, Schema } from "effect"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { NotFound } from "../../domain/errors/ApiErrors.ts"
import { CompensationFailures } from "../../domain/payments/CompensationFailures.ts"
import type { RefundRequest } from "../../domain/payments/Refund.ts"
import { RefundRetryRepo } from "../../domain/payments/RefundRetryRepo.ts"
import { Refunds } from "../../domain/payments/Refunds.ts"
import { RefundSettlement } from "./RefundSettlement.ts"

/** Requested refunds, including their money (contract §4.3, §4.4). */
export class RefundRequests extends Context.Service<RefundRequests>()("stoa/workflows/payments/RefundRequests", {
  make: Effect.gen(function*() {
    const refunds = yield* Refunds
    const retries = yield* RefundRetryRepo
    const failures = yield* CompensationFailures
    const settlement = yield* RefundSettlement

    /**
     * Writes the refund and waits briefly for its provider, so that the response can show the result; otherwise it is
     * pending and settles in the background. Errors as of `Refunds.request`.
     */
    const refund = Effect.fn("RefundRequests.refund")(function*(orderId: string, request: RefundRequest) {
      const { organizationId } = yield* CurrentActor
      const { refundId, settled } = yield* refunds.request(orderId, request)
      if (!settled) yield* settlement.settle({ refundId, organizationId })
      return yield* Effect.catchIf(refunds.get(refundId), Schema.is(NotFound), (error) => Effect.die(error))
    })

    /** Retries a failed refund at the provider, and returns the failure afterwards. 404, 409. */
    const retry = Effect.fn("RefundRequests.retry")(function*(failureId: string) {
      yield* settlement.settle(yield* retries.retry(failureId))
      return yield* failures.get(failureId)
    })

    return { refund, retry }
  })
}) {
  static readonly layer = Layer.effect(RefundRequests, RefundRequests.make)
}
