import { Context, Effect, Layer, Option } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { CurrentActor, requireAnyOf, systemActor } from "../../domain/access/Actor.ts"
import {
  Conflict,
  type Forbidden,
  NotFound,
  type Unauthorized,
  type ValidationFailed
} from "../../domain/errors/ApiErrors.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { CaptureRepo, type DueCapture } from "../../domain/payments/CaptureRepo.ts"
import { PaymentCaptureFailed } from "../../domain/payments/PaymentErrors.ts"
import { CaptureOrder } from "./CaptureOrder.ts"

/** How long a request waits for its capture. */
const timeout = "5 seconds"

/** Maximum number of captures per run of the scheduled job. */
export const capturesPerRun = 100

/** Reasons why nothing was captured: 401, 403, 404, 409 or 422. */
export type CaptureError = Unauthorized | Forbidden | NotFound | Conflict | ValidationFailed | PaymentCaptureFailed

/** Captures orders that their checkout only authorized (contract §4.4). */
export class Captures extends Context.Service<Captures, {
  /**
   * Captures the order once, in full or for `amount` minor units (needs `orders:update`), and confirms it. If the
   * provider takes longer than a few seconds, gives the order as it is; the capture continues.
   */
  readonly capture: (orderId: string, amount: number | undefined) => Effect.Effect<Order, CaptureError, CurrentActor>
  /**
   * Scheduled job: starts claimed captures whose process died before it started them. Gives the number of captures it
   * looked at, at most 100. A running capture is not started twice.
   */
  readonly startDue: Effect.Effect<number>
}>()("stoa/workflows/checkout/Captures") {
  static readonly layer = Layer.effect(
    Captures,
    Effect.gen(function*() {
      const captures = yield* CaptureRepo
      const orders = yield* OrderRepo
      const engine = yield* WorkflowEngine.WorkflowEngine

      const capture: Captures["Service"]["capture"] = Effect.fn("Captures.capture")(function*(orderId, amount) {
        const actor = yield* CurrentActor
        yield* requireAnyOf(actor, ["orders:update"])
        const claimed = yield* captures.claim(orderId, amount)
        const run = CaptureOrder.execute({ orderId, actor, ...claimed }).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
        )
        // The time-out ends the wait only; the execution continues.
        const outcome = Option.getOrUndefined(yield* Effect.timeoutOption(run, timeout))
        if (outcome?._tag === "Refused") {
          return yield* PaymentCaptureFailed.of(`Payment capture failed: ${outcome.message}`)
        }
        if (outcome?._tag === "Cancelled") return yield* Conflict.of("The order was cancelled while it was captured.")
        return (yield* orders.find(orderId))?.order ?? (yield* NotFound.of("Order not found."))
      })

      const start = ({ amount, orderId, organizationId, refusals }: DueCapture) =>
        CaptureOrder.execute({ orderId, amount, refusals, actor: systemActor(organizationId) }, { discard: true }).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
          // One failed start must not stop the others.
          Effect.catchCause((cause) => Effect.logWarning(`the capture of order ${orderId} could not be started`, cause))
        )

      const startDue = Effect.gen(function*() {
        const due = yield* captures.takeDue(capturesPerRun)
        yield* Effect.forEach(due.filter(({ ended }) => !ended), start, { discard: true })
        return due.length
      }).pipe(Effect.withSpan("Captures.startDue"))

      return { capture, startDue }
    })
  )
}
