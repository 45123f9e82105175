import { Context, Effect, Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import type { PendingRefund } from "../../domain/payments/Refund.ts"
import { RefundRepo } from "../../domain/payments/RefundRepo.ts"
import { SettleRefund } from "./SettleRefund.ts"

/** How long a request waits for its refund before it answers without. */
const timeout = "5 seconds"

/** Maximum number of refunds one run of the scheduled job starts. */
export const refundsPerRun = 100

/** Starts the durable settling of refunds; what it does is in `SettleRefund`. */
export class RefundSettlement extends Context.Service<RefundSettlement>()("stoa/workflows/payments/RefundSettlement", {
  make: Effect.gen(function*() {
    const engine = yield* WorkflowEngine.WorkflowEngine
    const refunds = yield* RefundRepo

    /** Starts it and does not wait. */
    const start = (refund: PendingRefund) =>
      SettleRefund.execute(refund, { discard: true }).pipe(
        Effect.asVoid,
        Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
      )

    /** The time limit ends only the waiting and its fiber; the execution continues. */
    /** Starts it, and waits at most five seconds for its end. True when it has ended, well or not. */
    const settle = Effect.fn("RefundSettlement.settle")(function*(refund: PendingRefund) {
      const run = Effect.provideService(SettleRefund.execute(refund), WorkflowEngine.WorkflowEngine, engine)
      const ended = yield* Effect.timeoutOption(Effect.exit(run), timeout)
      return ended._tag === "Some"
    })

    /**
     * Scheduled job: starts due refunds that were not started, or whose start failed, at most 100 per call. Returns the
     * count.
     */
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
