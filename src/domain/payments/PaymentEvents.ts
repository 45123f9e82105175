import { Context, Effect, Layer, Option, Result, Schema } from "effect"
import { Fulfillments } from "../fulfillment/Fulfillments.ts"
import { Orders, type StatusRequest } from "../orders/Orders.ts"
import { CurrentActor, systemActor } from "../platform/access/Actor.ts"
import { Conflict, InvalidTransition } from "../platform/errors/ApiErrors.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { isUuid, type OrderId, type PaymentId, type RefundId } from "../platform/ids/Id.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import { PaymentAdapters, refusalOf, type WebhookRejected, WebhookUnconfigured } from "./PaymentAdapter.ts"
import { PaymentEventRepo, type ReceivedEvent } from "./PaymentEventRepo.ts"
import {
  canBeCaptured,
  capturedBy,
  comesTooLate,
  isCapturableEvent,
  isMoneyEvent,
  isRefundEvent,
  isShared,
  needsAPerson,
  type OrderEvent,
  paymentIn,
  paysAnotherAmount,
  requestOf,
  type VerifiedEvent
} from "./PaymentEventRules.ts"
import type { PendingRefund } from "./Refund.ts"
import { RefundRepo } from "./RefundRepo.ts"

type Headers = Readonly<Record<string, string | undefined>>

export interface EventReceipt {
  readonly duplicate: boolean
  readonly refund: PendingRefund | null
  readonly capture: PendingCapture | null
  readonly absent: AbsentOrder | null
}

/** The order is still being created, its checkout was refused, or it belongs to another system. */
export interface AbsentOrder extends Omit<PendingCapture, "paymentId"> {
  readonly provider: string
  readonly intentId: string
  /** Minor units; null if the event has no amount. */
  readonly amount: number | null
  /** The provider has captured or authorized money. */
  readonly holdsMoney: boolean
}

export interface PendingCapture {
  readonly orderId: OrderId
  readonly organizationId: string
  readonly paymentId: PaymentId | null
}

export class OrderBusy
  extends conflict("OrderBusy", "The order is being changed by other requests. Send the event again.", {
    retryable: true
  })
{}

const received: EventReceipt = { duplicate: false, refund: null, capture: null, absent: null }

const maxAttempts = 3

const claimOf = ({ adapter, event: { amount, id, type } }: VerifiedEvent, orderId: OrderId): ReceivedEvent => ({
  provider: adapter.providerId,
  eventId: id,
  type,
  orderId,
  amount
})

const absentOrder = (verified: VerifiedEvent, organizationId: string): AbsentOrder | null => {
  const { adapter, event: { amount, intentId, orderId } } = verified
  if (orderId === null || !isUuid<OrderId>(orderId)) return null
  const holdsMoney = isMoneyEvent(verified)
  return { orderId, organizationId, provider: adapter.providerId, intentId, amount, holdsMoney }
}

const mostHelpful = (refusals: ReadonlyArray<WebhookRejected>): WebhookRejected | undefined =>
  refusals.find((one) => one.code !== "WEBHOOK_SIGNATURE_MISSING" && !(one instanceof WebhookUnconfigured)) ??
    refusals.find((one) => one instanceof WebhookUnconfigured) ?? refusals[0]

/** An event names no provider, and every provider has a different signature. */
const verifier = (adapters: PaymentAdapters["Service"]) =>
  Effect.fnUntraced(function*(headers: Headers, rawBody: string) {
    const refusals: Array<WebhookRejected> = []
    for (const adapter of adapters.all) {
      if (adapter.verifyWebhook === undefined) continue
      const event = yield* Effect.result(adapter.verifyWebhook(headers, rawBody))
      if (Result.isSuccess(event)) return { adapter, event: event.success } satisfies VerifiedEvent
      refusals.push(event.failure)
    }
    return yield* refusalOf(mostHelpful(refusals) ?? noProvider)
  })

const noProvider = new WebhookUnconfigured({
  code: "WEBHOOK_VERIFICATION_FAILED",
  message: "No payment provider is configured."
})

interface Parts {
  readonly orders: Orders["Service"]
  readonly events: PaymentEventRepo["Service"]
  readonly refunds: RefundRepo["Service"]
}

/** Applies the event in the transaction that claims it: on failure the provider sends it again. */
const applier = ({ events, orders, refunds }: Parts) => {
  const noteRefund = Effect.fnUntraced(function*({ event }: VerifiedEvent, orderId: OrderId) {
    yield* refunds.recordExternal(orderId, event.amount, event.id, event.intentId)
    const now = yield* orders.find(orderId)
    return now !== undefined && now.order.refundedTotal > 0 && now.order.refundedTotal === now.order.amountCaptured
  })

  return Effect.fnUntraced(function*(of: OrderEvent, request: StatusRequest) {
    const { event, stored } = of
    const payment = { id: stored.paymentId }
    const { id, organizationId } = stored.order
    const claim = claimOf(of, id)
    const proceeds = isRefundEvent(of) ? noteRefund(of, id) : Effect.succeed(true)
    const receipt = (duplicate: boolean, refundId: RefundId | null): EventReceipt => ({
      ...received,
      duplicate,
      refund: refundId === null ? null : { refundId, organizationId }
    })
    const amountCaptured = capturedBy(of)
    const otherAmount = paysAnotherAmount(of)
    if (otherAmount) yield* Effect.logError(`order ${id} was paid with another amount than its total`, event)
    if (otherAmount || comesTooLate(request, stored.order)) {
      // The payment succeeded while the order was being cancelled, so refund it.
      const late = stored.order.status === "cancelled" && amountCaptured !== undefined
        ? refunds.returnLate(id, amountCaptured, event.intentId)
        : Effect.as(proceeds, null)
      const done = yield* events.once(claim, Effect.map(late, (refundId) => ({ refundId })))
      return receipt(done === undefined, done?.refundId ?? null)
    }
    let claimed = false
    const outcome = yield* orders.changeStatus(
      id,
      isShared(of)
        // The other payments still have to be voided, and their capture is recorded where all of them are captured.
        ? { ...request, payment, authorizationEnded: false }
        : { ...request, payment, amountCaptured },
      (change, transition) =>
        events.once(
          claim,
          Effect.gen(function*() {
            claimed = true
            return (yield* proceeds) ? yield* transition(change) : undefined
          })
        )
    )
    return receipt(!claimed, outcome?.refundId ?? null)
  })
}

/** Inbound events of payment providers (spec §6, contract §11). */
export class PaymentEvents extends Context.Service<PaymentEvents>()("stoa/domain/payments/PaymentEvents", {
  make: Effect.gen(function*() {
    const settings = yield* StoreSettings
    const orders = yield* Orders
    const verify = verifier(yield* PaymentAdapters)
    const events = yield* PaymentEventRepo
    const fulfillments = yield* Fulfillments
    const apply = applier({ orders, events, refunds: yield* RefundRepo })

    /**
     * Records an event for the timeline. A repeated event starts the capture again: the process that claimed it may
     * have died before capturing.
     */
    const note = Effect.fnUntraced(function*(of: OrderEvent) {
      const { order, paymentId } = of.stored
      const first = yield* events.once(claimOf(of, order.id), Effect.succeed(true))
      const capture = canBeCaptured(of)
        ? { orderId: order.id, organizationId: order.organizationId, paymentId }
        : null
      return { ...received, duplicate: first === undefined, capture }
    })

    const work = Effect.fnUntraced(function*(verified: VerifiedEvent, request: StatusRequest | undefined) {
      const { id, orderId } = verified.event
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const stored = orderId !== null && isUuid<OrderId>(orderId) ? yield* orders.find(orderId) : undefined
        const payment = stored === undefined ? undefined : paymentIn(verified, stored)
        if (stored === undefined || payment === undefined) {
          yield* Effect.logWarning("a payment event names no order of this payment", { event: id, order: orderId })
          const { organizationId } = yield* CurrentActor
          return { ...received, absent: stored === undefined ? absentOrder(verified, organizationId) : null }
        }
        const of = { ...verified, stored, payment }
        const applied = canBeCaptured(of) ? undefined : request
        const receipt = yield* Effect.catchIf(
          applied === undefined ? note(of) : apply(of, applied),
          Schema.is(Schema.Union([Conflict, InvalidTransition])),
          () => Effect.undefined
        )
        if (receipt === undefined) continue
        // Also for a repeated event: the process that handled it first may have died before this step.
        if (applied?.status === "confirmed") yield* fulfillments.deliver(stored.order)
        return receipt
      }
      return yield* new OrderBusy()
    })

    /**
     * Verifies the raw body and applies the event once. A succeeded payment confirms a pending order or refunds a
     * cancelled one; a failed one cancels an unpaid order; `charge.refunded` records `amount` as the total refunded.
     * Events without effect are accepted. 400 and 503 if verification fails; 409 after three concurrent changes of the
     * order.
     */
    const receive = Effect.fn("PaymentEvents.receive")(
      function*(headers: Headers, rawBody: string) {
        const verified = yield* verify(headers, rawBody)
        const request = requestOf(verified)
        const forPerson = needsAPerson(verified)
        if (forPerson) yield* Effect.logError("a payment needs a person", verified.event)
        if (request === undefined && !isCapturableEvent(verified) && !forPerson) return received
        const organization = verified.event.organizationId ?? settings.defaultOrganizationId
        const system = systemActor(organization, `${verified.adapter.providerId}-webhook`)
        const actor = Option.match(yield* Effect.serviceOption(CurrentActor), {
          onNone: () => system,
          onSome: ({ ip, requestId, userAgent }) => ({ ...system, ip, requestId, userAgent, source: "rest" as const })
        })
        return yield* Effect.provideService(work(verified, request), CurrentActor, actor)
      }
    )

    return { receive }
  })
}) {
  static readonly layer = Layer.effect(PaymentEvents, PaymentEvents.make)
}
