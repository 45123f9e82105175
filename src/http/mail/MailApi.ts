import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { DeclineLinkUnknown, declinePath } from "../../domain/mail/DeclineLink.ts"
import { Access, open, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { guarded, summary } from "../endpoint/Resource.ts"
import { RouteRate } from "../middleware/Access.ts"
import { ForeignBody } from "../middleware/FieldHandling.ts"
import { NeverRepeated } from "../middleware/Idempotency.ts"

const page = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))

/** Links by which receivers decline mails (docs/mail.md, RFC 8058). The token is the credential. */
export const MailGroup = guarded(
  "mail",
  HttpApiEndpoint.get("openUnsubscribe", declinePath, {
    query: { token: Schema.String },
    success: page,
    error: [DeclineLinkUnknown]
  })
    .annotate(Access, open)
    .annotate(Storeless, true)
    .annotate(RouteRate, "none")
    .annotateMerge(
      summary("Get the page of an unsubscribe link", "Changes nothing, since mail scanners open it: it has a button.")
    ),
  HttpApiEndpoint.post("unsubscribe", declinePath, {
    query: { token: Schema.String },
    success: page,
    error: [DeclineLinkUnknown]
  })
    .annotate(Access, open)
    .annotate(Storeless, true)
    .annotate(ForeignBody, true)
    .annotate(RouteRate, "none")
    .annotate(NeverRepeated, true)
    .annotateMerge(
      summary(
        "Decline mails of the category of an unsubscribe link",
        "One click, as RFC 8058 has it: without credentials, with the body `List-Unsubscribe=One-Click`. A repetition " +
          "changes nothing. 404 for any other token."
      )
    )
)
