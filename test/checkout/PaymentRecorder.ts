import { Effect } from "effect"
import type { PaymentAdapter, PaymentIntent, PaymentRequest } from "../../src/domain/payments/PaymentAdapter.ts"
import { PaymentDeclined, PaymentUnknown, WebhookRejected } from "../../src/domain/payments/PaymentAdapter.ts"

/** One call to the provider. `token` names the shopper's instrument, by which a test finds its own calls. */
export interface PaymentCall {
  readonly operation: "authorize" | "capture" | "cancel" | "refund"
  readonly token: string
  readonly amount: number | null
  readonly idempotencyKey: string
  readonly request?: PaymentRequest
}

const calls: Array<PaymentCall> = []

/** What the provider was asked for one instrument, in order. */
export const callsFor = (token: string): ReadonlyArray<PaymentCall> => calls.filter((call) => call.token === token)

export const operationsFor = (token: string): ReadonlyArray<string> => callsFor(token).map(({ operation }) => operation)

const tokenOf = (intentId: string): string => intentId.replace(/^pi_/, "")

const declined = (code: PaymentDeclined["code"], message: string) => Effect.fail(new PaymentDeclined({ code, message }))

const intent = (token: string, request: PaymentRequest): PaymentIntent => ({
  id: `pi_${token}`,
  status: token.startsWith("3ds") ? "requires_action" : "requires_capture",
  amount: request.amount,
  currency: request.currency,
  clientSecret: token.startsWith("3ds") ? `secret_${token}` : null,
  amountCaptured: 0
})

/**
 * A provider that remembers what it was asked and does what the instrument's first word says: `decline` refuses the
 * authorization, `broke` the capture, `flaky` gives no answer to the first capture, `3ds` wants the shopper to act.
 */
export const recorder: PaymentAdapter = {
  providerId: "recorder",
  authorize: (request) =>
    Effect.suspend(() => {
      const token = request.paymentMethodToken ?? ""
      const { amount, idempotencyKey } = request
      calls.push({ operation: "authorize", token, amount, idempotencyKey, request })
      return token.startsWith("decline")
        ? declined("PAYMENT_INTENT_CREATE_FAILED", "The bank said no.")
        : Effect.succeed(intent(token, request))
    }),
  capture: (intentId, amount, idempotencyKey) =>
    Effect.suspend((): Effect.Effect<PaymentIntent, PaymentDeclined | PaymentUnknown> => {
      const token = tokenOf(intentId)
      const first = !operationsFor(token).includes("capture")
      calls.push({ operation: "capture", token, amount, idempotencyKey })
      if (token.startsWith("broke")) return declined("PAYMENT_CAPTURE_FAILED", "The account is empty.")
      if (token.startsWith("flaky") && first) return Effect.fail(new PaymentUnknown({ message: "No answer." }))
      return Effect.succeed({
        id: intentId,
        status: "succeeded",
        amount,
        currency: "USD",
        clientSecret: null,
        amountCaptured: amount
      })
    }),
  cancel: (intentId, idempotencyKey) =>
    Effect.sync(() => {
      calls.push({ operation: "cancel", token: tokenOf(intentId), amount: null, idempotencyKey })
    }),
  refund: (intentId, amount, _reason, idempotencyKey) =>
    Effect.sync(() => {
      calls.push({ operation: "refund", token: tokenOf(intentId), amount, idempotencyKey })
      return `re_${tokenOf(intentId)}`
    }),
  verifyWebhook: () =>
    Effect.fail(new WebhookRejected({ code: "WEBHOOK_SIGNATURE_MISSING", message: "This provider sends no events." }))
}
