import { Effect } from "effect"
import {
  type PaymentAdapter,
  PaymentDeclined,
  type PaymentIntent,
  type PaymentRequest,
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

/** A call that the provider received, also one that it then refused or left without an answer. */
export interface ScriptedCall {
  readonly operation: PaymentOperation
  readonly token: string
  readonly amount: number | null
  readonly key: string
  readonly request?: PaymentRequest
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
 * instrument's text names the payment for `paymentOf`, and its first word says what happens: `declined` is not authorized,
 * `asks` waits for its shopper first; a capture of `broke` is refused, of `voided` finds the payment cancelled and says so,
 * of `partly` takes less than all. With a secret it sends events as the built-in test provider does.
 */
export const scriptedProvider = (webhookSecret?: string, providerId = "scripted") => {
  const payments = new Map<string, ScriptedPayment>()
  const tokens = new Map<string, string>()
  const calls: Array<ScriptedCall> = []
  const obstacles = new Map<string, Obstacle>()
  /** Keys of captures that were refused: under them a provider repeats its refusal. */
  const refusedKeys = new Set<string>()
  /** Keys of cancellations that were done: under them a provider repeats that they were, and does nothing. */
  const cancelKeys = new Set<string>()

  const callsFor = (token: string, operation?: PaymentOperation) =>
    calls.filter((call) => call.token === token && (operation ?? call.operation) === call.operation)

  const heard = (call: ScriptedCall) =>
    Effect.suspend(() => {
      calls.push(call)
      const { operation, token } = call
      return obstacles.get(token)?.(operation, callsFor(token, operation).length) ?? Effect.void
    })

  const answer = (payment: ScriptedPayment): PaymentIntent => ({
    id: payment.id,
    status: payment.status,
    amount: payment.amount,
    currency: payment.currency,
    clientSecret: payment.status === "requires_action" ? `secret_${payment.id}` : null,
    amountCaptured: payment.captured
  })

  const declined = (code: PaymentDeclined["code"]) => Effect.fail(new PaymentDeclined({ code, message: "Refused." }))
  const tokenOf = (intentId: string) => tokens.get(intentId) ?? ""
  const waits = (intentId: string) => tokenOf(intentId).startsWith("asks")

  const adapter: PaymentAdapter = {
    providerId,
    authorize: (request) => {
      const { amount, currency, idempotencyKey: key, paymentMethodToken } = request
      const token = paymentMethodToken ?? ""
      return Effect.flatMap(heard({ operation: "authorize", token, amount, key, request }), () => {
        if (token.startsWith("declined")) return declined("PAYMENT_INTENT_CREATE_FAILED")
        const id = `pay_${key}`
        tokens.set(id, token)
        const payment: ScriptedPayment = payments.get(id) ??
          { id, amount, currency, status: waits(id) ? "requires_action" : "requires_capture", captured: 0, refunded: 0 }
        payments.set(id, payment)
        return Effect.succeed(answer(payment))
      })
    },
    find: (intentId) => {
      const payment = payments.get(intentId)
      return payment === undefined ? declined("PAYMENT_INTENT_CREATE_FAILED") : Effect.succeed(answer(payment))
    },
    capture: (intentId, amount, key) =>
      Effect.flatMap(
        Effect.tapErrorTag(
          heard({ operation: "capture", token: tokenOf(intentId), amount, key }),
          "PaymentDeclined",
          () => Effect.sync(() => refusedKeys.add(key))
        ),
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
      Effect.map(heard({ operation: "cancel", token: tokenOf(intentId), amount: null, key }), () => {
        const payment = payments.get(intentId)
        if (payment === undefined || cancelKeys.has(key)) return
        cancelKeys.add(key)
        Object.assign(payment, { status: "canceled", refunded: payment.captured })
      }),
    refund: (intentId, amount, _reason, key) =>
      Effect.flatMap(heard({ operation: "refund", token: tokenOf(intentId), amount, key }), () => {
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
    callsFor,
    /** Operations of this instrument, in order. */
    operationsFor: (token: string) => callsFor(token).map(({ operation }) => operation),
    callsOf: (token: string, operation: PaymentOperation) => callsFor(token, operation).length
  }
}
