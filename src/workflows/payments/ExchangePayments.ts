import { Effect, Layer } from "effect"
import { exchangeMethod } from "../../domain/orders/Tender.ts"
import { ExchangeCreditRepo } from "../../domain/payments/ExchangeCreditRepo.ts"
import { type PaymentAdapter, PaymentAdapters, PaymentDeclined } from "../../domain/payments/PaymentAdapter.ts"
import { currentOrganization } from "../../domain/platform/access/Actor.ts"
import { isUuid, type RefundId } from "../../domain/platform/ids/Id.ts"
import { RefundSettlement } from "./RefundSettlement.ts"

/**
 * Pays orders with goods that came back. A credit that is not used, or is refunded, goes back to the payments of the
 * order of these goods, so that it is never lost.
 */
const adapterOf = (
  { giveBack }: ExchangeCreditRepo["Service"],
  settlement: RefundSettlement["Service"]
): PaymentAdapter => {
  const release = Effect.fnUntraced(
    function*(code: PaymentDeclined["code"], intentId: string, key: string, part: (credit: number) => number) {
      const found = isUuid<RefundId>(intentId) ? yield* giveBack(intentId, key, part) : undefined
      if (found === undefined) return yield* new PaymentDeclined({ code, message: "It is no credit of an exchange." })
      if (found.isReleased) {
        const started = settlement.start({ refundId: found.refundId, organizationId: yield* currentOrganization })
        // The job of due refunds starts it otherwise.
        yield* Effect.catchCause(started, (cause) => Effect.logWarning("a refund could not be started", cause))
      }
      return found
    }
  )
  return {
    providerId: exchangeMethod,
    authorize: () =>
      Effect.fail(
        new PaymentDeclined({
          code: "PAYMENT_INTENT_CREATE_FAILED",
          message: "Exchange the goods of a return to pay with them."
        })
      ),
    capture: Effect.fn("ExchangePayments.capture")(function*(id, amount, key) {
      const credit = yield* release("PAYMENT_CAPTURE_FAILED", id, key, (most) => most - amount)
      return {
        id,
        status: "succeeded",
        amount,
        currency: credit.currency,
        clientSecret: null,
        amountCaptured: Math.min(amount, credit.amount)
      }
    }),
    cancel: (id, key) => Effect.asVoid(release("PAYMENT_CANCEL_FAILED", id, key, (most) => most)),
    refund: Effect.fn("ExchangePayments.refund")(function*(id, amount, _reason, key) {
      const { amount: most, isGiven, refundId } = yield* release("PAYMENT_REFUND_FAILED", id, key, () => amount)
      if (isGiven || amount <= most) return refundId
      const message = `Only ${most} of what was exchanged is left.`
      return yield* new PaymentDeclined({ code: "PAYMENT_REFUND_FAILED", message })
    })
  }
}

export const exchangePayments = Layer.effectDiscard(
  Effect.flatMap(
    Effect.all([ExchangeCreditRepo, RefundSettlement, PaymentAdapters]),
    ([credits, settlement, { register }]) => register([adapterOf(credits, settlement)])
  )
)
