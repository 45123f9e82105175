import { Context, Effect, Layer, Result, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import type { OrderId, RefundId } from "../../domain/ids/Id.ts"
import { isRefundedInFull } from "../../domain/orders/Order.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { transition } from "../../domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { TaxVoids } from "../../domain/tax/TaxNotices.ts"

import {
  type PaymentAdapter,
  PaymentAdapters,
  type PaymentDeclined,
  type PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
import { PendingRefund, type Refund, refundKey } from "../../domain/payments/Refund.ts"
import { RefundRepo } from "../../domain/payments/RefundRepo.ts"
import { RefundReversalRepo } from "../../domain/payments/RefundReversalRepo.ts"
import { adapterOf, untilAnswered } from "./ProviderCalls.ts"

/** Handles orders that are fully refunded (contract §4.1, §4.3). */
export class FullRefunds extends Context.Service<FullRefunds>()("stoa/workflows/payments/FullRefunds", {
  make: Effect.gen(function*() {
    const orders = yield* Orders
    const statuses = yield* OrderStatusRepo
    const taxes = yield* TaxVoids
    /**
     * Moves an order to `refunded` if the full capture has been refunded and the transition table allows it: from
     * `partially_fulfilled` and `fulfilled`. In other statuses, and after a partial refund, the status stays; the tax of
     * a full refund is voided in any case. Idempotent; a concurrent change or a hook's refusal also leaves the status.
     */
    const conclude = Effect.fn("FullRefunds.conclude")(function*(orderId: OrderId) {
      const stored = yield* orders.find(orderId)
      if (stored === undefined) return
      const { order } = stored
      if (!isRefundedInFull(order)) return
      if (Result.isFailure(transition(order.status, "refunded", "payment"))) return yield* taxes.refunded(stored)
      const request = { status: "refunded", source: "payment", reason: "refunded_in_full" } as const
      yield* orders.changeStatus(orderId, request, statuses.transition).pipe(
        Effect.catch((error) => Effect.logWarning(`order ${orderId} is refunded in full and stays`, error))
      )
    })
    return { conclude }
  })
}) {
  static readonly layer = Layer.effect(FullRefunds, FullRefunds.make)
}

/** How a refund ended. `unknown`: no such refund. */
const Outcome = Schema.Literals(["completed", "failed", "undone", "unknown"])
type Outcome = typeof Outcome.Type

/**
 * Refunds money at the provider that captured it, then records it (contract §4.2). One execution per refund and
 * restart; every call carries the refund's key, so a crash in between repeats the call without a second refund. A
 * refund of 0 voids an authorization that was never captured.
 */
export const SettleRefund = Workflow.make("SettleRefund", {
  payload: PendingRefund.fields,
  success: Outcome,
  idempotencyKey: ({ refundId, restarts = 0 }) => restarts === 0 ? refundId : `${refundId}:${restarts}`,
  // What dies here is the database or the process, not the refund: the execution runs again.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

/** The provider's reference of what it gave back, null for a void; or why it never will. */
const Answer = Schema.Union([
  Schema.TaggedStruct("Given", { reference: Schema.NullOr(Schema.String) }),
  Schema.TaggedStruct("Refused", { message: Schema.String })
])

/** One try at the provider. */
const askProvider = (adapter: PaymentAdapter, intentId: string, refund: Refund) => {
  const asked: Effect.Effect<string | null, PaymentDeclined | PaymentUnknown> = refund.amount === 0
    ? Effect.as(adapter.cancel(intentId, refundKey(refund)), null)
    : adapter.refund(intentId, refund.amount, refund.reason, refundKey(refund))
  return asked.pipe(
    Effect.map((reference) => ({ _tag: "Given" as const, reference })),
    Effect.catchTag("PaymentDeclined", ({ message }) => Effect.succeed({ _tag: "Refused" as const, message }))
  )
}

const settle = Effect.fnUntraced(function*(refundId: RefundId) {
  const refunds = yield* RefundRepo
  const refund = yield* refunds.find(refundId)
  if (refund === undefined) return "unknown" as const
  const reversals = yield* RefundReversalRepo
  // A void belongs to an order that has ended already.
  const conclude = refund.amount === 0
    ? Effect.succeed("completed" as const)
    : Effect.as((yield* FullRefunds).conclude(refund.orderId), "completed" as const)
  // The run that completed it may have died before it could conclude.
  if (refund.status === "completed") return yield* conclude
  if (refund.status !== "pending") return refund.status
  const giveUp = (message: string, refused: boolean) =>
    Effect.logError(`refund ${refundId} failed: ${message}`).pipe(
      Effect.andThen(reversals.fail(refundId, { message, refused })),
      Effect.as<Outcome>("failed")
    )
  if (refund.provider === null || refund.intentId === null) {
    return yield* giveUp("The order was not paid through a payment provider.", true)
  }
  const configured = (yield* PaymentAdapters).byProvider(refund.provider)
  // Without a configured provider nothing is sent, so the refund can still be undone.
  if (configured !== undefined && !(yield* refunds.send(refundId))) {
    return (yield* refunds.find(refundId))?.status === "undone" ? "undone" as const : "unknown" as const
  }
  const adapter = yield* adapterOf(refund.provider)
  const answer = yield* untilAnswered(Answer, askProvider(adapter, refund.intentId, refund))
  if (answer === undefined) return yield* giveUp("The payment provider never answered.", false)
  if (answer._tag === "Refused") return yield* giveUp(answer.message, true)
  yield* refunds.complete(refundId, answer.reference)
  return yield* conclude
})

export const settleRefundLayer = SettleRefund.toLayer(({ organizationId, refundId }) =>
  Effect.provideService(settle(refundId), CurrentActor, systemActor(organizationId))
)
