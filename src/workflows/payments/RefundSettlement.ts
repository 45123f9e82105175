import { Context, Effect, Layer, Schema } from "effect"
import { WorkflowEngine } from "effect/workflow"
import type { PendingRefund, RefundRequest } from "../../domain/payments/Refund.ts"
import { RefundRepo } from "../../domain/payments/RefundRepo.ts"
import { RefundReversalRepo } from "../../domain/payments/RefundReversalRepo.ts"
import { CompensationFailures, Refunds } from "../../domain/payments/Refunds.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import { NotFound } from "../../domain/platform/errors/ApiErrors.ts"
import type { CompensationFailureId, OrderId } from "../../domain/platform/ids/Id.ts"
import { SettleRefund } from "./SettleRefund.ts"

const timeout = "5 seconds"

export const refundsPerRun = 100

/** Starts the durable settling of refunds (`SettleRefund`). */
export class RefundSettlement extends Context.Service<RefundSettlement>()("stoa/workflows/payments/RefundSettlement", {
  make: Effect.gen(function*() {
    const engine = yield* WorkflowEngine.WorkflowEngine
    const refunds = yield* RefundRepo

    const start = (refund: PendingRefund) =>
      SettleRefund.execute(refund, { discard: true, detached: true }).pipe(
        Effect.asVoid,
        Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
      )

    /** Waits at most five seconds. True when it has ended, well or not. */
    const settle = Effect.fn("RefundSettlement.settle")(function*(refund: PendingRefund) {
      const run = Effect.provideService(SettleRefund.execute(refund), WorkflowEngine.WorkflowEngine, engine)
      const ended = yield* Effect.timeoutOption(Effect.exit(run), timeout)
      return ended._tag === "Some"
    })

    /** Starts at most 100 due refunds that were not started, or whose start failed. */
    const startDue = Effect.gen(function*() {
      const abandoned = yield* refunds.takeDue(refundsPerRun)
      // A refund that cannot be started must not block the others.
      const safely = (refund: PendingRefund) =>
        Effect.catchCause(
          start(refund),
          (cause) => Effect.logWarning(`refund ${refund.refundId} could not be started`, cause)
        )
      yield* Effect.forEach(abandoned, safely, { discard: true })
      return abandoned.length
    }).pipe(Effect.withSpan("RefundSettlement.startDue"))

    return { settle, start, startDue }
  })
}) {
  static readonly layer = Layer.effect(RefundSettlement, RefundSettlement.make)
}

/** Requested refunds, including their money (contract §4.3, §4.4). */
export class RefundRequests extends Context.Service<RefundRequests>()("stoa/workflows/payments/RefundRequests", {
  make: Effect.gen(function*() {
    const refunds = yield* Refunds
    const reversals = yield* RefundReversalRepo
    const failures = yield* CompensationFailures
    const settlement = yield* RefundSettlement

    /**
     * Writes the refund and waits briefly for its provider; else it is pending and settles in the background. Errors as
     * of `Refunds.request`.
     */
    const refund = Effect.fn("RefundRequests.refund")(function*(orderId: OrderId, request: RefundRequest) {
      const { organizationId } = yield* CurrentActor
      const { refundId, settled } = yield* refunds.request(orderId, request)
      if (!settled) yield* settlement.settle({ refundId, organizationId })
      return yield* Effect.catchIf(refunds.get(refundId), Schema.is(NotFound), Effect.die)
    })

    /** Retries a failed refund at the provider, and returns the failure afterwards. 404, 409. */
    const retry = Effect.fn("RefundRequests.retry")(function*(failureId: CompensationFailureId) {
      yield* settlement.settle(yield* reversals.retry(failureId))
      return yield* failures.get(failureId)
    })

    return { refund, retry }
  })
}) {
  static readonly layer = Layer.effect(RefundRequests, RefundRequests.make)
}
