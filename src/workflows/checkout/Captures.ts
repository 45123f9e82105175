import { Context, Effect, Layer, Option, Schema } from "effect"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { CreateOrderRepo } from "../../domain/checkout/CreateOrderRepo.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { type Order, OrderNotFound, type StoredOrder } from "../../domain/orders/Order.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { type CapturedPart, type CaptureShare, captureShares, keyAt } from "../../domain/orders/Tender.ts"
import { CaptureRepo, type ClaimedCapture, type DueCapture } from "../../domain/payments/CaptureRepo.ts"
import { type PaymentAdapter, PaymentCaptureFailed, type PaymentRequest } from "../../domain/payments/PaymentAdapter.ts"
import { Actor, CurrentActor, requireAnyOf, systemActor } from "../../domain/platform/access/Actor.ts"
import { conflict } from "../../domain/platform/errors/ErrorKinds.ts"
import { OrderId, PaymentId } from "../../domain/platform/ids/Id.ts"
import { adapterOf, untilAnswered } from "../payments/ProviderCalls.ts"
import { cancelOrder, captureKey, isCaptured, tellFailure, voidPayments } from "./CheckoutPayment.ts"
import { passing } from "./CheckoutWorkflow.ts"

class CancelledMeanwhile extends conflict("CancelledMeanwhile", "The order was cancelled while it was captured.") {}

export const CaptureOutcome = Schema.Union([
  Schema.TaggedStruct("Captured", {}),
  Schema.TaggedStruct("Refused", { message: Schema.String }),
  Schema.TaggedStruct("Cancelled", {})
])

// A defect of the database or the process must run the execution again and not end it.
const annotations = Context.make(Workflow.CaptureDefects, false)

/**
 * Captures an authorized order (contract §4.4). One execution, with a separate idempotency key, per order and refusal:
 * a crash never captures twice. A refusal leaves the order authorized.
 */
export const CaptureOrder = Workflow.make("CaptureOrder", {
  payload: { orderId: OrderId, amount: Schema.Int, refusals: Schema.Int, actor: Actor },
  success: CaptureOutcome,
  idempotencyKey: ({ orderId, refusals }) => `${orderId}:${refusals}`,
  annotations
})

/**
 * Completes a checkout whose shopper had to confirm the payment (contract §3.7). One execution per order, with the
 * checkout's own capture key, so that only one of the two can capture.
 */
export const LateCapture = Workflow.make("LateCapture", {
  payload: {
    orderId: OrderId,
    organizationId: Schema.String,
    /** The payment that replaced the checkout's. */
    paymentId: Schema.optional(Schema.NullOr(PaymentId))
  },
  success: Schema.Literals(["captured", "cancelled", "nothing-to-capture"]),
  idempotencyKey: ({ orderId, paymentId }) => paymentId ?? orderId,
  annotations
})

const CaptureAnswer = Schema.Union([
  Schema.TaggedStruct("Captured", { amount: Schema.Int }),
  Schema.TaggedStruct("Refused", { message: Schema.String })
])

/** Undefined when the provider never answers. A capture of another amount is a refusal. */
const captureBy = (adapter: PaymentAdapter, request: PaymentRequest, intentId: string, key: string, call: string) =>
  untilAnswered(
    CaptureAnswer,
    adapter.capture(intentId, request.amount, key).pipe(
      Effect.map((intent) =>
        isCaptured(intent, request)
          ? { _tag: "Captured" as const, amount: intent.amountCaptured }
          : {
            _tag: "Refused" as const,
            message: `${intent.status}, ${intent.amountCaptured} of ${request.amount} taken`
          }
      ),
      Effect.catchTag("PaymentDeclined", ({ message }) => Effect.succeed({ _tag: "Refused" as const, message }))
    ),
    call
  )

const paymentRequestOf = (
  { cartId, order, paymentId }: StoredOrder,
  position: number,
  amount: number
): PaymentRequest => ({
  amount,
  currency: order.currency,
  orderId: order.id,
  customerId: order.customerId,
  paymentMethodToken: null,
  metadata: {
    orderId: order.id,
    organizationId: order.organizationId,
    checkoutId: paymentId ?? order.id,
    cartId: cartId ?? ""
  },
  idempotencyKey: keyAt(paymentId ?? order.id, position)
})

const askedFor = (stored: StoredOrder, shares: ReadonlyArray<CaptureShare>) =>
  Effect.forEach(shares, ({ payment, share }) =>
    Effect.map(adapterOf(payment.provider), (adapter) => ({
      adapter,
      payment,
      request: paymentRequestOf(stored, payment.position, share)
    })))

type Asked = Effect.Success<ReturnType<typeof askedFor>>

const voidAll = (asked: Asked) => voidPayments(asked, asked.map(({ payment }) => payment.intentId))

/**
 * Captures shares in order, until a provider refuses one or never answers. Skips captured payments. `attempt` makes the
 * keys of a new attempt.
 */
const captureShared = Effect.fnUntraced(function*(asked: Asked, attempt: number) {
  const captured: Array<CapturedPart> = []
  for (const { adapter, payment: { captured: before, intentId, position }, request } of asked) {
    if (before !== null || request.amount === 0) {
      captured.push({ position, captured: before ?? 0 })
      continue
    }
    const key = attempt === 0 ? captureKey(request) : `${captureKey(request)}-${attempt}`
    const answer = yield* captureBy(adapter, request, intentId, key, position === 0 ? "" : `${position}-`)
    if (answer === undefined) return { captured, refusal: "The payment provider never answered." }
    if (answer._tag === "Refused") return { captured, refusal: answer.message }
    captured.push({ position, captured: answer.amount })
  }
  return { captured, refusal: undefined }
})

const recordOf = (parts: ReadonlyArray<CapturedPart>) => ({
  total: parts.reduce((sum, { captured }) => sum + captured, 0),
  parts
})

const deliver = (order: Order) => Effect.flatMap(Fulfillments, (fulfillments) => fulfillments.deliver(order))

/** Confirms a captured order and fulfils its digital lines; repeating it changes nothing. */
export const conclude = Effect.fnUntraced(function*(order: Order) {
  if (order.status !== "pending") return yield* deliver(order)
  const request = { status: "confirmed", source: "payment", reason: "payment_captured" } as const
  const statuses = yield* OrderStatusRepo
  const confirmed = yield* (yield* Orders).changeStatus(order.id, request, statuses.transition).pipe(
    Effect.map((outcome) => outcome.order),
    Effect.catch((error) =>
      Effect.as(Effect.logWarning(`order ${order.id} is captured and not confirmed`, error), order)
    )
  )
  return yield* deliver(confirmed)
})

type Payload = Omit<typeof CaptureOrder.payloadSchema.Type, "actor">

const refused = Effect.fnUntraced(
  function*({ orderId, refusals }: Payload, message: string, captured: ReadonlyArray<CapturedPart> = []) {
    yield* Effect.logWarning(`the capture of order ${orderId} was refused: ${message}`)
    yield* (yield* CaptureRepo).release(orderId, refusals, captured)
    return { _tag: "Refused" as const, message }
  }
)

const captureOrder = Effect.fnUntraced(function*(payload: Payload) {
  const stored = yield* (yield* OrderRepo).find(payload.orderId)
  const intentId = stored?.order.paymentIntentId ?? null
  if (stored === undefined || intentId === null || stored.payments.length === 0) {
    return yield* refused(payload, "nothing to capture")
  }
  const { amountCaptured } = stored.order
  const asked = yield* askedFor(stored, captureShares(stored.payments, amountCaptured ?? payload.amount))
  const finish = Effect.fnUntraced(function*(order: Order) {
    yield* voidAll(asked.filter(({ request }) => request.amount === 0))
    yield* conclude(order)
    return { _tag: "Captured" as const }
  })
  if (amountCaptured !== null) return yield* finish(stored.order)
  const { captured, refusal } = yield* captureShared(asked, payload.refusals)
  // A provider captures a payment at most once, even with another key, so a later request can safely try again.
  if (refusal !== undefined) return yield* refused(payload, refusal, captured)
  const settled = yield* (yield* CreateOrderRepo).settle(
    payload.orderId,
    intentId,
    recordOf(captured),
    stored.paymentId
  )
  if (settled !== undefined) return yield* finish({ ...stored.order, ...settled })
  // The concurrent cancellation saw no captured amount to refund.
  yield* voidAll(asked)
  return { _tag: "Cancelled" as const }
})

// The claim has recorded the request's idempotency key (`workId`); the changes after it must not record it again.
export const captureOrderLayer = CaptureOrder.toLayer(({ actor: { executionId: _, ...actor }, ...payload }) =>
  Effect.provideService(captureOrder(payload), CurrentActor, actor)
)

const lateCapture = Effect.fnUntraced(function*(orderId: OrderId, paymentId: PaymentId | null) {
  const stored = yield* (yield* OrderRepo).find(orderId)
  if (stored === undefined || stored.payments.length === 0 || stored.order.paymentIntentId === null) {
    return "nothing-to-capture" as const
  }
  // Replacing a payment voids it.
  if (stored.paymentId !== paymentId || stored.paymentClaimId !== null) return "nothing-to-capture" as const
  const { order } = stored
  const asked = yield* askedFor(stored, captureShares(stored.payments, order.grandTotal))
  // A run that captured may have died before it delivered. A provider reports one payment, not the order's, or none.
  const confirms = asked.length > 1 || asked.every(({ adapter }) => adapter.verifyWebhook === undefined)
  const finish = confirms ? conclude : deliver
  if (order.amountCaptured !== null) return yield* Effect.as(finish(order), "captured" as const)
  const undoPayment = voidAll(asked)
  if (order.status === "cancelled") {
    // An earlier run may have died before it informed the plugins and voided the payments.
    yield* tellFailure(orderId)
    yield* undoPayment
    return "nothing-to-capture" as const
  }
  const { captured, refusal } = yield* captureShared(asked, 0)
  if (refusal === undefined) {
    yield* passing("captured")
    const record = recordOf(captured)
    const settled = yield* (yield* CreateOrderRepo).settle(orderId, stored.order.paymentIntentId, record, paymentId)
    yield* passing("settled")
    if (settled !== undefined) return yield* Effect.as(finish(order), "captured" as const)
    yield* undoPayment
    return "cancelled" as const
  }
  yield* Effect.logWarning(`order ${orderId} is cancelled: ${refusal}`)
  const paid = yield* Effect.catchTag(cancelOrder(orderId, undoPayment, undefined, paymentId), "RunLost", Effect.die)
  return paid === undefined ? "cancelled" as const : yield* Effect.as(deliver(paid), "captured" as const)
})

export const lateCaptureLayer = LateCapture.toLayer(({ orderId, organizationId, paymentId = null }) =>
  Effect.provideService(lateCapture(orderId, paymentId), CurrentActor, systemActor(organizationId))
)

const timeout = "5 seconds"

export const capturesPerRun = 100

/** Captures authorized orders (contract §4.4). */
export class Captures extends Context.Service<Captures>()("stoa/workflows/checkout/Captures", {
  make: Effect.gen(function*() {
    const captures = yield* CaptureRepo
    const orders = yield* OrderRepo
    const engine = yield* WorkflowEngine.WorkflowEngine

    /** Captures a claimed order and waits at most five seconds; undefined while the capture continues. */
    const finish = Effect.fn("Captures.finish")(function*(orderId: OrderId, claimed: ClaimedCapture) {
      const run = CaptureOrder.execute({ orderId, actor: yield* CurrentActor, ...claimed }).pipe(
        Effect.provideService(WorkflowEngine.WorkflowEngine, engine)
      )
      // The time-out ends the wait only; the execution continues.
      return Option.getOrUndefined(yield* Effect.timeoutOption(run, timeout))
    })

    /**
     * Captures the order once, in full or for `amount` minor units (needs `orders:update`), and confirms it. A slow
     * provider leaves the order as it is; the capture continues. 401, 403, 404, 409 or 422: nothing was captured.
     */
    const capture = Effect.fn("Captures.capture")(function*(orderId: OrderId, amount: number | undefined) {
      const actor = yield* CurrentActor
      yield* requireAnyOf(actor, ["orders:update"])
      const outcome = yield* finish(orderId, yield* captures.claim(orderId, amount))
      if (outcome?._tag === "Refused") {
        return yield* PaymentCaptureFailed.of(`Payment capture failed: ${outcome.message}`)
      }
      if (outcome?._tag === "Cancelled") return yield* new CancelledMeanwhile()
      return (yield* orders.find(orderId))?.order ?? (yield* new OrderNotFound())
    })

    const start = ({ amount, orderId, organizationId, refusals }: DueCapture) =>
      CaptureOrder.execute({ orderId, amount, refusals, actor: systemActor(organizationId) }, {
        discard: true,
        detached: true
      }).pipe(
        Effect.provideService(WorkflowEngine.WorkflowEngine, engine),
        // One failed start must not stop the others.
        Effect.catchCause((cause) => Effect.logWarning(`the capture of order ${orderId} could not be started`, cause))
      )

    /** Starts at most 100 claimed captures whose process died before it started them. */
    const startDue = Effect.gen(function*() {
      const due = yield* captures.takeDue(capturesPerRun)
      yield* Effect.forEach(due.filter(({ ended }) => !ended), start, { discard: true })
      return due.length
    }).pipe(Effect.withSpan("Captures.startDue"))

    return { capture, finish, startDue }
  })
}) {
  static readonly layer = Layer.effect(Captures, Captures.make)
}
