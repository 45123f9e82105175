import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/access/AccessRule.ts"
import {
  WebhookSecretMissing,
  WebhookSignatureMissing,
  WebhookVerificationFailed
} from "../../domain/payments/PaymentErrors.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl, RouteRate } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

/** `duplicate`: the event came before and was not worked on again. */
const Received = Schema.Struct({
  received: Schema.Literal(true),
  duplicate: Schema.optionalKey(Schema.Literal(true))
})

/** Inbound events of payment providers (spec §4, contract §11). The signature over the raw body is the credential. */
export const PaymentsGroup = HttpApiGroup.make("payments").add(
  HttpApiEndpoint.post("webhook", "/api/payments/webhook", {
    success: Data(Received),
    error: [WebhookSignatureMissing, WebhookVerificationFailed, WebhookSecretMissing]
  })
    .annotate(Access, open)
    .annotate(Storeless, true)
    .annotate(RouteRate, "none")
    .annotateMerge(OpenApi.annotations({
      summary: "Receive an event of the payment provider",
      description: "The body is the provider's, as it signed it. A repeated event is answered and not worked on again."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
