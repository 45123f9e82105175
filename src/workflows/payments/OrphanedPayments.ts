import { Context, Effect, Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { decodePricedCart } from "../../domain/checkout/PricedCart.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { PinnedHold } from "../../domain/inventory/StockRules.ts"
import type { AbsentOrder } from "../../domain/payments/PaymentEvents.ts"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import { conflict } from "../../domain/platform/errors/ErrorKinds.ts"
import { VoidPayment } from "./VoidPayment.ts"

/** A checkout holds its stock under the id of its future order; sold means the order has been created since. */
const isUnderWay = ({ state }: PinnedHold): boolean => state === "held" || state === "sold"

export class OrderInCreation
  extends conflict("OrderInCreation", "The order is being placed. Send the event again.", { retryable: true })
{}

/** Handles events about unknown orders: of running checkouts, and of refused ones (contract §11). */
export class OrphanedPayments extends Context.Service<OrphanedPayments>()("stoa/workflows/payments/OrphanedPayments", {
  make: Effect.gen(function*() {
    const reservations = yield* ReservationRepo
    const engine = yield* WorkflowEngine.WorkflowEngine

    /**
     * The checkout's void came before the money, so this one needs a new key: the provider would answer the old key
     * with its old result.
     */
    const voidPayment = Effect.fn("OrphanedPayments.voidPayment")(function*(absent: AbsentOrder, hold: PinnedHold) {
      const { amount, intentId, orderId, organizationId, provider } = absent
      const { currency, customerId, grandTotal, paymentProvider, tenders } = yield* decodePricedCart(hold.pricing)
      const asked = tenders?.map((tender) => tender.provider) ?? [paymentProvider ?? provider]
      if (!asked.includes(provider)) return
      yield* Effect.logWarning("money was taken for a checkout that was refused; it goes back", {
        order: orderId,
        payment: intentId
      })
      const request = {
        amount: amount ?? grandTotal,
        currency,
        orderId,
        customerId,
        paymentMethodToken: null,
        metadata: { orderId, organizationId },
        idempotencyKey: `${orderId}:orphaned:${intentId}`
      }
      yield* VoidPayment.execute({ providerId: provider, request, intentId }, { discard: true, detached: true })
    }, Effect.provideService(WorkflowEngine.WorkflowEngine, engine))

    /**
     * 409 while the order is being created: the provider retries. Refunds the money of a refused checkout, however late
     * it was captured. Ignores orders of other deployments that share the provider account.
     */
    const resolve = Effect.fn("OrphanedPayments.resolve")(function*(absent: AbsentOrder) {
      const [hold] = yield* Effect.provideService(
        reservations.holds([absent.orderId]),
        CurrentActor,
        systemActor(absent.organizationId)
      )
      if (hold === undefined) return
      if (isUnderWay(hold)) return yield* new OrderInCreation()
      if (absent.holdsMoney && hold.pricing !== "null") yield* voidPayment(absent, hold)
    })

    return { resolve }
  })
}) {
  static readonly layer = Layer.effect(OrphanedPayments, OrphanedPayments.make)
}
