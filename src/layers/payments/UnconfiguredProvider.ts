import { Effect } from "effect"
import { type PaymentAdapter, PaymentDeclined } from "../../domain/payments/PaymentAdapter.ts"
import { WebhookUnconfigured } from "../../domain/payments/PaymentErrors.ts"

const message = "No payment provider is configured."

const decline = (code: PaymentDeclined["code"]) => Effect.fail(new PaymentDeclined({ code, message }))

/** Stands where production has no provider: nothing can be paid, and the answer says why. */
export const unconfiguredProvider: PaymentAdapter = {
  providerId: "none",
  authorize: () => decline("PAYMENT_INTENT_CREATE_FAILED"),
  capture: () => decline("PAYMENT_CAPTURE_FAILED"),
  cancel: () => decline("PAYMENT_CANCEL_FAILED"),
  refund: () => decline("PAYMENT_REFUND_FAILED"),
  verifyWebhook: () => Effect.fail(new WebhookUnconfigured({ code: "WEBHOOK_VERIFICATION_FAILED", message }))
}
