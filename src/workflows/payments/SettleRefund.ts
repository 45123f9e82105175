import { Context, Effect, Layer, Result, Schema } from "effect"
import { Workflow } from "effect/workflow"
import { isRefundedInFull } from "../../domain/orders/Order.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { transition } from "../../domain/orders/OrderStatus.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { keyAt } from "../../domain/orders/Tender.ts"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import type { OrderId, RefundId } from "../../domain/platform/ids/Id.ts"
import { TaxVoids } from "../../domain/tax/TaxNotices.ts"

import {
  type PaymentAdapter,
  PaymentAdapters,
  type PaymentDeclined,
  type PaymentUnknown
} from "../../domain/payments/PaymentAdapter.ts"
import { PendingRefund, type Refund, refundKey } from "../../domain/payments/Refund.ts"
import { RefundPartRepo } from "../../domain/payments/RefundPartRepo.ts"
import { RefundRepo } from "../../domain/payments/RefundRepo.ts"
import { type RefundFailure, RefundReversalRepo } from "../../domain/payments/RefundReversalRepo.ts"
import { adapterOf, untilAnswered } from "./ProviderCalls.ts"

/** Handles orders that are fully refunded (contract §4.1, §4.3). */
export class FullRefunds extends Context.Service<FullRefunds>()("stoa/workflows/payments/FullRefunds", {
  make: Effect.gen(function*() {
    const orders = yield* Orders
    const statuses = yield* OrderStatusRepo
    const taxes = yield* TaxVoids
    /**
     * Moves a fully refunded order to `refunded` where the transition table allows it, and voids its tax in any case.
     * Idempotent; a concurrent change or a hook's refusal also leaves the status.
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

const Outcome = Schema.Literals(["completed", "failed", "undone", "unknown"])
type Outcome = typeof Outcome.Type

/**
 * Refunds money at the provider, then records it (contract §4.2). One execution per refund and restart; every call
 * carries the refund's key: a crash repeats the call without a second refund. A refund of 0 voids an authorization.
 */
export const SettleRefund = Workflow.make("SettleRefund", {
  payload: PendingRefund.fields,
  success: Outcome,
  idempotencyKey: ({ refundId, restarts = 0 }) => restarts === 0 ? refundId : `${refundId}:${restarts}`,
  // What dies here is the database or the process, not the refund: the execution runs again.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

/** The provider's reference, null for a void; or why it never refunds. */
const Answer = Schema.Union([
  Schema.TaggedStruct("Given", { reference: Schema.NullOr(Schema.String) }),
  Schema.TaggedStruct("Refused", { message: Schema.String })
])

interface RefundPart {
  readonly position: number
  readonly provider: string
  readonly intentId: string
  readonly amount: number
}

const askProvider = (adapter: PaymentAdapter, { amount, intentId, position }: RefundPart, refund: Refund) => {
  const key = keyAt(refundKey(refund), position)
  const asked: Effect.Effect<string | null, PaymentDeclined | PaymentUnknown, CurrentActor> = amount === 0
    ? Effect.as(adapter.cancel(intentId, key), null)
    : adapter.refund(intentId, amount, refund.reason, key)
  return asked.pipe(
    Effect.map((reference) => ({ _tag: "Given" as const, reference })),
    Effect.catchTag("PaymentDeclined", ({ message }) => Effect.succeed({ _tag: "Refused" as const, message }))
  )
}

const partsOf = Effect.fnUntraced(function*(refund: Refund) {
  const { amount, intentId, provider, tenders } = refund
  if (tenders === null) {
    return provider === null || intentId === null
      ? "The order was not paid through a payment provider."
      : [{ position: 0, provider, intentId, amount }]
  }
  if (amount === 0) return tenders
  const found = yield* (yield* RefundPartRepo).split(refund.id)
  if (found < amount) return "The payments of the order have less left than is to be given back."
  const split = (yield* (yield* RefundRepo).find(refund.id))?.tenders ?? []
  return split.filter((part) => part.amount > 0 && !part.isGiven).reverse()
})

/** Gives the parts back one after the other, until one fails. Returns the last reference. */
const giveBack = Effect.fnUntraced(function*(refund: Refund, parts: ReadonlyArray<RefundPart>) {
  let reference: string | null = null
  const failed = (failure: RefundFailure) => Result.fail(failure)
  for (const part of parts) {
    const adapter = yield* adapterOf(part.provider)
    const call = part.position === 0 ? "" : `${part.position}-`
    const answer = yield* untilAnswered(Answer, askProvider(adapter, part, refund), call)
    const position = part.position
    if (answer === undefined) {
      return failed({ position, message: "The payment provider never answered.", refused: false })
    }
    if (answer._tag === "Refused") return failed({ position, message: answer.message, refused: true })
    reference = answer.reference
    if (refund.tenders !== null && part.amount > 0) {
      yield* (yield* RefundPartRepo).give(refund.id, part.position, reference)
    }
  }
  return Result.succeed(reference)
})

const settle = Effect.fnUntraced(function*(refundId: RefundId) {
  const refunds = yield* RefundRepo
  const refund = yield* refunds.find(refundId)
  if (refund === undefined) return "unknown" as const
  const reversals = yield* RefundReversalRepo
  const conclude = refund.amount === 0
    ? Effect.succeed("completed" as const)
    : Effect.as((yield* FullRefunds).conclude(refund.orderId), "completed" as const)
  // The run that completed it may have died before it could conclude; one that was given outside begins as completed.
  if (refund.status === "completed") return yield* Effect.tap(conclude, () => refunds.conclude(refundId))
  if (refund.status !== "pending") return refund.status
  const giveUp = (failure: RefundFailure) =>
    Effect.logError(`refund ${refundId} failed: ${failure.message}`).pipe(
      Effect.andThen(reversals.fail(refundId, failure)),
      Effect.as<Outcome>("failed")
    )
  const parts = yield* partsOf(refund)
  if (typeof parts === "string") return yield* giveUp({ message: parts, refused: true })
  const adapters = yield* PaymentAdapters
  const configured = parts.every(({ provider }) => adapters.byProvider(provider) !== undefined)
  // Without a configured provider nothing is sent, so the refund can still be undone.
  if (configured && !(yield* refunds.send(refundId))) {
    return (yield* refunds.find(refundId))?.status === "undone" ? "undone" as const : "unknown" as const
  }
  const outcome = yield* giveBack(refund, parts)
  if (Result.isFailure(outcome)) return yield* giveUp(outcome.failure)
  yield* refunds.complete(refundId, outcome.success)
  return yield* conclude
})

export const settleRefundLayer = SettleRefund.toLayer(({ organizationId, refundId }) =>
  Effect.provideService(settle(refundId), CurrentActor, systemActor(organizationId))
)
