import { Effect } from "effect"
import { type PaymentAdapter, PaymentUnknown, WebhookRejected } from "../../domain/payments/PaymentAdapter.ts"

/**
 * Stands for a provider that took money and is not configured any more. It gives no answer: a deployment that brings it
 * back finds every void and refund still waiting for it.
 */
export const absentAdapter = (providerId: string): PaymentAdapter => {
  const message = `The provider '${providerId}' is not configured.`
  const silence = Effect.fail(new PaymentUnknown({ message }))
  return {
    providerId,
    authorize: () => silence,
    capture: () => silence,
    cancel: () => silence,
    refund: () => silence,
    verifyWebhook: () => Effect.fail(new WebhookRejected({ code: "WEBHOOK_VERIFICATION_FAILED", message }))
  }
}
