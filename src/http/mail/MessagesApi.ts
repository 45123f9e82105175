import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { OrderMessage, Resend } from "../../domain/mail/OrderMessage.ts"
import { MailOutcome } from "../../domain/orders/OrderTable.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { guarded, lists, paramsOf, summary } from "../endpoint/Resource.ts"
import { Data, OptionalBody, Page } from "../envelope/Envelope.ts"

const messages = "/api/orders/:id/messages"

/** Messages about orders, sent or not, for staff (contract-commerce §4; docs/mail.md). */
export const MessagesGroup = guarded(
  "messages",
  HttpApiEndpoint.get("list", "/api/messages", {
    query: {
      ...pageQuery,
      status: Schema.optional(MailOutcome.annotate({ description: "Only messages in this status, such as `failed`." }))
    },
    success: Page(OrderMessage)
  })
    .annotate(Access, anyOf("orders:read"))
    .annotateMerge(summary("List messages about orders, last changed first")),
  lists("ofOrder", messages, OrderMessage, "List the messages about an order, last changed first")
    .annotate(Access, anyOf("orders:read")),
  HttpApiEndpoint.post("resend", `${messages}/:mid/resend`, {
    params: paramsOf(`${messages}/:mid`),
    payload: OptionalBody(Resend),
    success: Data(OrderMessage).pipe(HttpApiSchema.status(202))
  })
    .annotate(Access, anyOf("orders:update"))
    .annotateMerge(
      summary(
        "Send a message about an order again",
        "To the order's present address, unless `to` names another. 409 while it waits, or when its content is no longer kept; " +
          "422 without an address that can be written to."
      )
    )
)
