import { Schema } from "effect"
import { WebhookRejected } from "./PaymentAdapter.ts"

const body = <const Code extends string>(code: Code) => ({
  error: Schema.Struct({ code: Schema.Literal(code), message: Schema.String })
})

/** 400: a payment provider's event without a signature (contract §11). */
export class WebhookSignatureMissing extends Schema.Error<WebhookSignatureMissing>("WebhookSignatureMissing")(
  body("WEBHOOK_SIGNATURE_MISSING"),
  { httpApiStatus: 400 }
) {
  readonly _tag = "WebhookSignatureMissing"
  static of = (message: string) =>
    new WebhookSignatureMissing({ error: { code: "WEBHOOK_SIGNATURE_MISSING", message } })
}

/** 400: the signature does not belong to this body, or the body is no event (contract §11). */
export class WebhookVerificationFailed extends Schema.Error<WebhookVerificationFailed>("WebhookVerificationFailed")(
  body("WEBHOOK_VERIFICATION_FAILED"),
  { httpApiStatus: 400 }
) {
  readonly _tag = "WebhookVerificationFailed"
  static of = (message: string) =>
    new WebhookVerificationFailed({ error: { code: "WEBHOOK_VERIFICATION_FAILED", message } })
}

/** 503: without the provider's secret no event can be verified; the provider retries (contract §11). */
export class WebhookSecretMissing extends Schema.Error<WebhookSecretMissing>("WebhookSecretMissing")(
  body("WEBHOOK_SECRET_MISSING"),
  { httpApiStatus: 503 }
) {
  readonly _tag = "WebhookSecretMissing"
  static of = (message: string) => new WebhookSecretMissing({ error: { code: "WEBHOOK_SECRET_MISSING", message } })
}

/** 422: the provider refused to take the money that it had set aside; the order is as it was (contract §3.7). */
export class PaymentCaptureFailed extends Schema.Error<PaymentCaptureFailed>("PaymentCaptureFailed")(
  body("PAYMENT_CAPTURE_FAILED"),
  { httpApiStatus: 422 }
) {
  readonly _tag = "PaymentCaptureFailed"
  static of = (message: string) => new PaymentCaptureFailed({ error: { code: "PAYMENT_CAPTURE_FAILED", message } })
}

/** What an adapter's `verifyWebhook` fails with when it has no secret to verify with: answered 503 and not 400. */
export class WebhookUnconfigured extends WebhookRejected {}

/** The answer to an event that was not accepted. */
export type WebhookRefusal = WebhookSignatureMissing | WebhookVerificationFailed | WebhookSecretMissing

/** The answer to what an adapter refused. */
export const refusalOf = (rejected: WebhookRejected): WebhookRefusal => {
  if (rejected instanceof WebhookUnconfigured) return WebhookSecretMissing.of(rejected.message)
  return rejected.code === "WEBHOOK_SIGNATURE_MISSING"
    ? WebhookSignatureMissing.of(rejected.message)
    : WebhookVerificationFailed.of(rejected.message)
}
