import { Effect } from "effect"
import {
  type PaymentAdapter,
  PaymentDeclined,
  type PaymentIntent,
  PaymentUnknown,
  WebhookRejected
} from "../../src/domain/payments/PaymentAdapter.ts"
import { testProvider } from "../../src/layers/payments/TestProvider.ts"

export type PaymentOperation = "authorize" | "capture" | "cancel" | "refund"

/** A payment as the provider has it; minor units. */
export interface ScriptedPayment {
  readonly id: string
  readonly amount: number
  readonly currency: string
  status: PaymentIntent["status"]
  captured: number
  refunded: number
}

/** What happens before the provider hears a call; a failure or a defect here is one of the call. */
export type Obstacle = (
  operation: PaymentOperation,
  nth: number
) => Effect.Effect<void, PaymentUnknown | PaymentDeclined>

/** A silence: the call is not heard and gets no answer. */
export const silence = Effect.fail(new PaymentUnknown({ message: "No answer." }))

/** The bank says no before the provider does anything. */
export const refusal = Effect.fail(new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "Refused." }))

/**
 * A provider with a ledger, one payment per idempotency key, whose calls meet what a test puts in their way. The
 * instrument's text names the payment for `paymentOf`, and its first word says what a capture does: `broke` is refused,
 * `voided` finds the payment cancelled and says so, `partly` takes less than all. `asks` waits for its shopper first. With
 * a secret it sends events as the built-in test provider does.
 */
export const scriptedProvider = (webhookSecret?: string) => {
  const payments = new Map<string, ScriptedPayment>()
  const tokens = new Map<string, string>()
  const counts = new Map<string, number>()
  const obstacles = new Map<string, Obstacle>()
  /** Keys of captures that were refused: under them a provider repeats its refusal. */
  const refusedKeys = new Set<string>()
  /** Keys of cancellations that were done: under them a provider repeats that they were, and does nothing. */
  const cancelKeys = new Set<string>()

  const heard = (token: string, operation: PaymentOperation) =>
    Effect.suspend(() => {
      const nth = (counts.get(`${token} ${operation}`) ?? 0) + 1
      counts.set(`${token} ${operation}`, nth)
      return obstacles.get(token)?.(operation, nth) ?? Effect.void
    })

  const answer = (payment: ScriptedPayment): PaymentIntent => ({
    id: payment.id,
    status: payment.status,
    amount: payment.amount,
    currency: payment.currency,
    clientSecret: null,
    amountCaptured: payment.captured
  })

  const declined = (code: PaymentDeclined["code"]) => Effect.fail(new PaymentDeclined({ code, message: "Refused." }))
  const tokenOf = (intentId: string) => tokens.get(intentId) ?? ""
  const waits = (intentId: string) => tokenOf(intentId).startsWith("asks")

  const adapter: PaymentAdapter = {
    providerId: "scripted",
    authorize: ({ amount, currency, idempotencyKey, paymentMethodToken }) =>
      Effect.map(heard(paymentMethodToken ?? "", "authorize"), () => {
        const id = `pay_${idempotencyKey}`
        tokens.set(id, paymentMethodToken ?? "")
        const payment: ScriptedPayment = payments.get(id) ??
          { id, amount, currency, status: waits(id) ? "requires_action" : "requires_capture", captured: 0, refunded: 0 }
        payments.set(id, payment)
        return answer(payment)
      }),
    capture: (intentId, amount, key) =>
      Effect.flatMap(
        Effect.tapErrorTag(heard(tokenOf(intentId), "capture"), "PaymentDeclined", () =>
          Effect.sync(() =>
            refusedKeys.add(key)
          )),
        () => {
          const payment = payments.get(intentId)
          const open = payment?.status === "requires_capture" || payment?.status === "succeeded"
          if (payment === undefined || !open || refusedKeys.has(key) || tokenOf(intentId).startsWith("broke")) {
            return declined("PAYMENT_CAPTURE_FAILED")
          }
          if (tokenOf(intentId).startsWith("voided")) {
            payment.status = "canceled"
            return Effect.succeed(answer(payment))
          }
          const captured = tokenOf(intentId).startsWith("partly") ? amount - 1 : amount
          Object.assign(payment, { status: "succeeded", captured })
          return Effect.succeed(answer(payment))
        }
      ),
    cancel: (intentId, key) =>
      Effect.map(heard(tokenOf(intentId), "cancel"), () => {
        const payment = payments.get(intentId)
        if (payment === undefined || cancelKeys.has(key)) return
        cancelKeys.add(key)
        Object.assign(payment, { status: "canceled", refunded: payment.captured })
      }),
    refund: (intentId, amount, _reason, key) =>
      Effect.flatMap(heard(tokenOf(intentId), "refund"), () => {
        const payment = payments.get(intentId)
        if (payment === undefined || payment.refunded + amount > payment.captured) {
          return declined("PAYMENT_REFUND_FAILED")
        }
        payment.refunded += amount
        return Effect.succeed(`re_${key}`)
      }),
    verifyWebhook: webhookSecret === undefined
      ? () => Effect.fail(new WebhookRejected({ code: "WEBHOOK_VERIFICATION_FAILED", message: "Sends no events." }))
      : testProvider({ webhookSecret }).verifyWebhook
  }
  return {
    adapter,
    /** Puts something in the way of the calls for this instrument. */
    obstruct: (token: string, obstacle: Obstacle) => void obstacles.set(token, obstacle),
    /** The shopper confirms the payment made with this instrument. */
    confirm: (token: string) => {
      for (const payment of payments.values()) if (tokenOf(payment.id) === token) payment.status = "requires_capture"
    },
    /** The payment made with this instrument. */
    paymentOf: (token: string) => [...payments.values()].find(({ id }) => tokenOf(id) === token),
    callsOf: (token: string, operation: PaymentOperation) => counts.get(`${token} ${operation}`) ?? 0
  }
}
