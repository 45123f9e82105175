import { Context, Effect, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { Actor, CurrentActor } from "../../domain/access/Actor.ts"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import type { Order } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { CaptureRepo } from "../../domain/payments/CaptureRepo.ts"
import { PaymentAdapters, type PaymentRequest } from "../../domain/payments/PaymentAdapter.ts"
import { absentAdapter } from "../payments/AbsentAdapter.ts"
import { untilAnswered } from "../payments/UntilAnswered.ts"
import { askCapture, CaptureAnswer, paymentRequestOf } from "./OrderPayment.ts"
import { captureKey, voidPayment } from "./PaymentStep.ts"

/** How a capture ended. */
export const CaptureOutcome = Schema.Union([
  Schema.TaggedStruct("Captured", {}),
  Schema.TaggedStruct("Refused", { message: Schema.String }),
  /** Cancelled while it was captured: the money went back. */
  Schema.TaggedStruct("TakenBack", {})
])

/**
 * The capture of an order that its checkout only authorized (contract §4.4): one execution per order and refusal, each
 * with a key of its own, so that a crash asks again and takes nothing twice. A refusal leaves the order authorized: whether
 * to try again or to cancel it is the operator's to say.
 */
export const CaptureOrder = Workflow.make("CaptureOrder", {
  payload: { orderId: Uuid, amount: Schema.Int, refusals: Schema.Int, actor: Actor },
  success: CaptureOutcome,
  idempotencyKey: ({ orderId, refusals }) => `${orderId}:${refusals}`,
  // What dies here is the database or the process, not the capture: the execution runs again.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

type Payload = Omit<typeof CaptureOrder.payloadSchema.Type, "actor">

const keyOf = (request: PaymentRequest, refusals: number): string =>
  refusals === 0 ? captureKey(request) : `${captureKey(request)}-${refusals}`

/** The order is paid: it is confirmed, and what of it is digital is handed over; repeating it is harmless. */
const conclude = Effect.fnUntraced(function*(order: Order) {
  if (order.status === "pending") {
    const request = { status: "confirmed", source: "payment", reason: "payment_captured" } as const
    const statuses = yield* OrderStatusRepo
    yield* (yield* Orders).changeStatus(order.id, request, statuses.transition).pipe(
      Effect.catch((error) => Effect.logWarning(`order ${order.id} is captured and not confirmed`, error))
    )
  }
  yield* (yield* Fulfillments).deliver(order)
  return { _tag: "Captured" as const }
})

const refused = Effect.fnUntraced(function*({ orderId, refusals }: Payload, message: string) {
  yield* Effect.logWarning(`the capture of order ${orderId} was refused: ${message}`)
  yield* (yield* CaptureRepo).release(orderId, refusals)
  return { _tag: "Refused" as const, message }
})

const run = Effect.fnUntraced(function*(payload: Payload) {
  const stored = yield* (yield* OrderRepo).find(payload.orderId)
  const intentId = stored?.order.paymentIntentId ?? null
  const provider = stored?.paymentProvider ?? null
  if (stored === undefined || intentId === null || provider === null) {
    return yield* refused(payload, "nothing to capture")
  }
  if (stored.order.amountCaptured !== null) return yield* conclude(stored.order)
  const adapter = (yield* PaymentAdapters).byProvider(provider) ?? absentAdapter(provider)
  const request = paymentRequestOf(stored, payload.amount)
  const answer = yield* untilAnswered(
    CaptureAnswer,
    askCapture(adapter, request, intentId, keyOf(request, payload.refusals))
  )
  // A payment is captured once at its provider, whatever the key: one that stayed silent may be asked anew.
  if (answer === undefined) return yield* refused(payload, "The payment provider never answered.")
  if (answer._tag === "Refused") return yield* refused(payload, answer.message)
  const settled = yield* (yield* CreateOrderRepo).settle(payload.orderId, intentId, answer.amount)
  if (settled !== undefined) return yield* conclude({ ...stored.order, ...settled })
  // Cancelled meanwhile: whoever did it saw no money to give back.
  yield* voidPayment(adapter, request, intentId)
  return { _tag: "TakenBack" as const }
})

// The claim bears the mark of the request that asked for it; what follows is changed for it, and would bear it again.
export const captureOrderLayer = CaptureOrder.toLayer(({ actor: { workId: _, ...actor }, ...payload }) =>
  Effect.provideService(run(payload), CurrentActor, actor)
)
