import { Context, Effect, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { absentAdapter } from "../payments/AbsentAdapter.ts"
import { untilAnswered } from "../payments/UntilAnswered.ts"
import { cancelOrder } from "./Compensation.ts"
import { passing } from "./FaultPoint.ts"
import { askCapture, CaptureAnswer, paymentRequestOf } from "./OrderPayment.ts"
import { captureKey, voidPayment } from "./PaymentStep.ts"

/**
 * The second half of a checkout whose shopper had to confirm the payment (contract §3.7): takes the money once the
 * provider says that it can be taken, and settles the order, or takes the order back. One execution per order, under the
 * same key as a capture by the checkout itself, so that the two can only ever be one.
 */
export const LateCapture = Workflow.make("LateCapture", {
  payload: { orderId: Uuid, organizationId: Schema.String },
  success: Schema.Literals(["captured", "cancelled", "nothing-to-capture"]),
  idempotencyKey: ({ orderId }) => orderId,
  // What dies here is the database or the process, not the capture: the execution runs again.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

/** The order is paid: what of it is digital is handed over, also when the run that paid it died before it could. */
const delivered = (order: Order) =>
  Effect.as(Effect.flatMap(Fulfillments, (fulfillments) => fulfillments.deliver(order)), "captured" as const)

const run = Effect.fnUntraced(function*(orderId: string) {
  const stored = yield* (yield* OrderRepo).find(orderId)
  if (stored === undefined || stored.paymentProvider === null || stored.order.paymentIntentId === null) {
    return "nothing-to-capture" as const
  }
  const { cartId, order, paymentProvider } = stored
  const { paymentIntentId: intentId } = stored.order
  if (order.amountCaptured !== null) return yield* delivered(order)
  if (order.status === "cancelled") return "nothing-to-capture" as const
  const adapter = (yield* PaymentAdapters).byProvider(paymentProvider) ?? absentAdapter(paymentProvider)
  const request = paymentRequestOf(stored)
  const undoPayment = voidPayment(adapter, request, intentId)
  const answer = yield* untilAnswered(
    CaptureAnswer,
    askCapture(adapter, request, intentId, captureKey(request))
  )
  if (answer?._tag === "Taken") {
    yield* passing("captured")
    const settled = yield* (yield* CreateOrderRepo).settle(orderId, intentId, answer.amount)
    yield* passing("settled")
    if (settled !== undefined) return yield* delivered(order)
    // Cancelled meanwhile: whoever did it saw no money to give back.
    yield* undoPayment
    return "cancelled" as const
  }
  yield* Effect.logWarning(`order ${orderId} is taken back: ${answer?.message ?? "its provider never answered"}`)
  const paid = yield* cancelOrder({ orderId, cartId }, undoPayment)
  return paid === undefined ? "cancelled" as const : yield* delivered(paid)
})

export const lateCaptureLayer = LateCapture.toLayer(({ orderId, organizationId }) =>
  Effect.provideService(run(orderId), CurrentActor, systemActor(organizationId))
)
