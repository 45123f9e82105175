import { Effect } from "effect"
import {
  type PaymentAdapter,
  PaymentDeclined,
  type PaymentIntent,
  PaymentUnknown,
  WebhookRejected
} from "../../src/domain/payments/PaymentAdapter.ts"
import type { EmulatedPayment } from "./PaymentEmulator.ts"

/** How long the adapter waits for the emulator; what takes longer has an unknown outcome. */
const timeoutMs = Number(process.env["STOA_TEST_PATIENCE_MS"] ?? 300)

interface Reply {
  readonly declined?: string
  readonly payment?: EmulatedPayment
  readonly reference?: string
}

const ask = async (url: string, action: string, body: object): Promise<Reply> => {
  const response = await fetch(`${url}/${action}`, {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs)
  })
  return await response.json() as Reply // written by the emulator beside this file
}

const intentOf = ({ amount, captured, currency, id, status }: EmulatedPayment): PaymentIntent => ({
  id,
  status,
  amount,
  currency,
  clientSecret: null,
  amountCaptured: captured
})

/** A payment adapter over the emulator at that address. */
export const emulatedProvider = (url: string): PaymentAdapter => {
  const asking = Effect.fnUntraced(function*(action: string, code: PaymentDeclined["code"], body: object) {
    const reply = yield* Effect.tryPromise({
      try: () => ask(url, action, body),
      catch: () => new PaymentUnknown({ message: "The payment provider did not answer in time." })
    })
    return reply.declined === undefined ? reply : yield* new PaymentDeclined({ code, message: reply.declined })
  })
  const intent = (action: string, code: PaymentDeclined["code"], body: object) =>
    Effect.flatMap(asking(action, code, body), ({ payment }) =>
      payment === undefined
        ? Effect.fail(new PaymentUnknown({ message: "The payment provider made no sense." }))
        : Effect.succeed(intentOf(payment)))
  return {
    providerId: "emulated",
    authorize: ({ amount, currency, idempotencyKey, paymentMethodToken }) =>
      intent("authorize", "PAYMENT_INTENT_CREATE_FAILED", {
        amount,
        currency,
        key: idempotencyKey,
        token: paymentMethodToken
      }),
    capture: (id, amount, key) => intent("capture", "PAYMENT_CAPTURE_FAILED", { id, amount, key }),
    cancel: (id, key) => Effect.asVoid(asking("cancel", "PAYMENT_CANCEL_FAILED", { id, key })),
    refund: (id, amount, _reason, key) =>
      Effect.map(
        asking("refund", "PAYMENT_REFUND_FAILED", { id, amount, key }),
        ({ reference }) => reference ?? ""
      ),
    verifyWebhook: () =>
      Effect.fail(
        new WebhookRejected({ code: "WEBHOOK_VERIFICATION_FAILED", message: "The emulator sends no events." })
      )
  }
}
