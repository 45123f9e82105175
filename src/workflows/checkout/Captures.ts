import { Context, Effect, Layer } from "effect"
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

/** How long a request waits for its capture before it answers without. */
const timeout = "5 seconds"

/** Most captures one sweep looks at. */
export const capturesPerRun = 100

/** Why nothing was captured: 401, 403, 404, 409 or 422. */
export type CaptureError = Unauthorized | Forbidden | NotFound | Conflict | ValidationFailed | PaymentCaptureFailed

/** Money of orders whose checkout only authorized it (contract §4.4). */
export class Captures extends Context.Service<Captures, {
  /**
   * Takes the whole or `amount` minor units of it, once (needs `orders:update`), and confirms the order. Waits a moment
   * for the provider; where that takes longer the order is answered as it is, and the capture ends by itself.
   */
  readonly capture: (orderId: string, amount: number | undefined) => Effect.Effect<Order, CaptureError, CurrentActor>
  /**
   * Starts captures that were claimed and have no end, in their turn and at most 100 a call: whoever claimed one may have
   * died before he started it. One that runs is not started twice. Gives how many were looked at; for the scheduler.
   */
  readonly sweep: Effect.Effect<number>
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
        // After the time limit only the waiting ends: the execution goes on by itself.
        const ended = yield* Effect.timeoutOption(run, timeout)
        const outcome = ended._tag === "Some" ? ended.value._tag : "Waiting"
        if (ended._tag === "Some" && ended.value._tag === "Refused") {
          return yield* PaymentCaptureFailed.of(`Payment capture failed: ${ended.value.message}`)
        }
        if (outcome === "TakenBack") return yield* Conflict.of("The order was cancelled while it was captured.")
        return (yield* orders.find(orderId))?.order ?? (yield* NotFound.of("Order not found."))
      })

      /** By the service itself: who asked for it is not there any more. */
      const goOn = ({ amount, orderId, organizationId, refusals }: DueCapture) =>
        CaptureOrder.execute({ orderId, amount, refusals, actor: systemActor(organizationId) }, { discard: true }).pipe(
          Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
          // One that cannot be started must not cost the others their turn.
          Effect.catchCause((cause) => Effect.logWarning(`the capture of order ${orderId} could not be started`, cause))
        )

      const sweep = Effect.gen(function*() {
        const due = yield* captures.takeDue(capturesPerRun)
        yield* Effect.forEach(due.filter(({ ended }) => !ended), goOn, { discard: true })
        return due.length
      }).pipe(Effect.withSpan("Captures.sweep"))

      return { capture, sweep }
    })
  )
}
