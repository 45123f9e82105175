import { Schema } from "effect"
import { MailOutcome } from "../orders/OrderTable.ts"
import { conflict, notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrderId, OrderMessageId } from "../platform/ids/Id.ts"
import { Email } from "../platform/text/Email.ts"
import { Time } from "../platform/text/Time.ts"

/** A message to the buyer of an order, sent or not (contract-commerce §4). */
export const OrderMessage = Schema.Struct({
  id: OrderMessageId,
  orderId: OrderId,
  kind: Schema.String.annotate({
    description: "Subject of the message: the template of a mail.",
    examples: ["order-confirmation"]
  }),
  channel: Schema.Literal("email").annotate({ description: "Way of delivery; always e-mail." }),
  to: Schema.NullOr(Schema.String).annotate({
    description: "The receiver's address; null where the order has none, and after an erasure."
  }),
  subject: Schema.NullOr(Schema.String).annotate({ description: "Null until it is sent." }),
  status: MailOutcome.annotate({
    description: "skipped: not sent, for the reason in `reason`. `failed`: given up after its tries."
  }),
  reason: Schema.NullOr(Schema.String).annotate({
    description: "Why it failed or was skipped.",
    examples: ["The order has no e-mail address."]
  }),
  sentAt: Schema.NullOr(Time),
  resentFrom: Schema.NullOr(OrderMessageId).annotate({ description: "The message that this one sends again." }),
  updatedAt: Time.annotate({ description: "When its status became this one." })
}).annotate({ identifier: "OrderMessage" })
export type OrderMessage = typeof OrderMessage.Type

export const Resend = Schema.Struct({
  to: Schema.optional(Email).pipe(about("Receiver; absent: the address that the order has now."))
}).annotate({ identifier: "ResendMessage" })
export type Resend = typeof Resend.Type

export class MessageNotFound extends notFound("OrderMessage", "The order has no such message.") {}
export class MessageWaits extends conflict("OrderMessageWaits", "The message is still waiting to be sent.") {}
export class MessageLost extends conflict(
  "OrderMessageLost",
  "The message cannot be sent again: its content is not kept, or its template is switched off."
) {}
