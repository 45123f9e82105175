import { Context, Effect, Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { CurrentActor, systemActor } from "../../domain/access/Actor.ts"
import { decodePricedCart } from "../../domain/checkout/Checkout.ts"
import { Conflict } from "../../domain/errors/ApiErrors.ts"
import type { PinnedHold } from "../../domain/inventory/Reservation.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import type { AbsentOrder } from "../../domain/payments/PaymentEvents.ts"
import { VoidPayment } from "./VoidPayment.ts"

/** A checkout holds its stock under the id that its order will have; sold means that the order has come since. */
const isUnderWay = ({ state }: PinnedHold): boolean => state === "held" || state === "sold"

/** Events about orders that are not there: of checkouts that still run, and of those that were refused (contract §11). */
export class OrphanedPayments extends Context.Service<OrphanedPayments, {
  /**
   * 409 while the order is being placed: the provider comes again, and meets it. The money of a checkout that was refused
   * goes back, however late it was taken. Nothing is done about an order that was never one of this organization's: other
   * deployments may share the account.
   */
  readonly meet: (absent: AbsentOrder) => Effect.Effect<void, Conflict>
}>()("stoa/workflows/payments/OrphanedPayments") {
  static readonly layer = Layer.effect(
    OrphanedPayments,
    Effect.gen(function*() {
      const reservations = yield* ReservationRepo
      const engine = yield* WorkflowEngine.WorkflowEngine

      /**
       * The checkout's own void came before the money, so this one has a key of its own: under the old one the provider
       * would repeat its old answer. One execution per payment, however often the event comes.
       */
      const voidPayment = Effect.fn("OrphanedPayments.voidPayment")(function*(absent: AbsentOrder, hold: PinnedHold) {
        const { amount, intentId, orderId, organizationId, provider } = absent
        const { currency, customerId, grandTotal, paymentProvider } = yield* decodePricedCart(hold.pricing)
        if (paymentProvider !== undefined && paymentProvider !== provider) return
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
          idempotencyKey: `${orderId}:unwanted:${intentId}`
        }
        yield* VoidPayment.execute({ providerId: provider, request, intentId }, { discard: true })
      }, Effect.provideService(WorkflowEngine.WorkflowEngine, engine))

      const meet: OrphanedPayments["Service"]["meet"] = Effect.fn("OrphanedPayments.meet")(function*(absent) {
        const [hold] = yield* Effect.provideService(
          reservations.holds([absent.orderId]),
          CurrentActor,
          systemActor(absent.organizationId)
        )
        if (hold === undefined) return
        if (isUnderWay(hold)) return yield* Conflict.of("The order is being placed. Send the event again.")
        if (absent.holdsMoney && hold.pricing !== "null") yield* voidPayment(absent, hold)
      })

      return { meet }
    })
  )
}
