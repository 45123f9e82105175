import { Context, Effect, Layer } from "effect"
import { OrderNotFound } from "../orders/Order.ts"
import type { OrderId, OrderMessageId } from "../platform/ids/Id.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { normalizedMailbox } from "../platform/text/Email.ts"
import { Mails } from "./Mail.ts"
import { AddressNeeded, InvalidAddress } from "./OrderMails.ts"
import { MessageLost, MessageNotFound, MessageWaits, type OrderMessage, type Resend } from "./OrderMessage.ts"
import { type MessageFilter, OrderMessageRepo, type StoredMail } from "./OrderMessageRepo.ts"

const toMessage = ({ receiverOf }: Mails["Service"]) => (mail: StoredMail): OrderMessage => ({
  id: mail.id,
  orderId: mail.orderId,
  kind: mail.template,
  channel: "email",
  to: mail.content && receiverOf(mail.organizationId, mail.content),
  subject: mail.subject,
  status: mail.outcome,
  reason: mail.failure,
  sentAt: mail.sentAt,
  resentFrom: mail.resentFrom,
  updatedAt: mail.at
})

/** Messages about orders, for staff (contract-commerce §4). */
export class OrderMessages extends Context.Service<OrderMessages>()("stoa/domain/mail/OrderMessages", {
  make: Effect.gen(function*() {
    const [mails, repo] = yield* Effect.all([Mails, OrderMessageRepo])
    const shown = toMessage(mails)

    const list = Effect.fn("OrderMessages.list")(function*(filter: MessageFilter, page: PageRequest) {
      const found = yield* repo.list(filter, page)
      return { ...found, items: found.items.map(shown) }
    })

    const ofOrder = Effect.fn("OrderMessages.ofOrder")(function*(orderId: OrderId, page: PageRequest) {
      if ((yield* repo.buyerOf(orderId)) === undefined) return yield* new OrderNotFound()
      return yield* list({ orderId }, page)
    })

    /**
     * Sends a message again in a background job, to the order's present address unless `to` names another. 404; 409 while it
     * waits, and when its content is gone; 422 without an address that can be written to.
     */
    const resend = Effect.fn("OrderMessages.resend")(function*(orderId: OrderId, id: OrderMessageId, request: Resend) {
      const [message, buyer] = yield* Effect.all([repo.find(orderId, id), repo.buyerOf(orderId)])
      if (buyer === undefined) return yield* new OrderNotFound()
      if (message === undefined) return yield* new MessageNotFound()
      if (message.outcome === "queued") return yield* new MessageWaits()
      const to = request.to ?? buyer.email ?? shown(message).to
      if (to === null) return yield* new AddressNeeded()
      if (normalizedMailbox(to) === undefined) return yield* new InvalidAddress()
      const sent = message.content === null ? undefined : yield* mails.sendAgain(message.id, message.content, to)
      const again = sent === undefined ? undefined : yield* repo.find(orderId, sent)
      return again === undefined ? yield* new MessageLost() : shown(again)
    })
    return { list, ofOrder, resend }
  })
}) {
  static readonly layer = Layer.provide(Layer.effect(OrderMessages, OrderMessages.make), OrderMessageRepo.layer)
}
