import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { MailChoices } from "../../domain/mail/MailChoices.ts"
import { OrderMessages } from "../../domain/mail/OrderMessages.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { escaped, page } from "../server/Pages.ts"
import { MailGroup } from "./MailApi.ts"
import { MessagesGroup } from "./MessagesApi.ts"

const form = (category: string): string =>
  `<p>You will get no more mails of the category "${escaped(category)}". Mails about your orders still come.</p>` +
  `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click">` +
  `<button type="submit">Unsubscribe</button></form>`

const done = (category: string): string =>
  `<p>Mails of the category "${escaped(category)}" are not sent to you any more. You can close this page.</p>`

export const mailHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MailGroup),
  "mail",
  Effect.fnUntraced(function*(handlers) {
    const { follow, look, storeName } = yield* MailChoices
    return handlers.handleAll({
      openUnsubscribe: ({ query }) =>
        Effect.map(look(query.token), ({ category }) => page(200, `Mails of ${storeName}`, form(category))),
      unsubscribe: ({ query }) =>
        Effect.map(follow(query.token), ({ category }) => page(200, "You have unsubscribed", done(category)))
    })
  })
)

export const messagesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MessagesGroup),
  "messages",
  Effect.fnUntraced(function*(handlers) {
    const messages = yield* OrderMessages
    return handlers.handleAll({
      list: ({ query }) => messages.list(query, pageOf(query)),
      ofOrder: ({ params, query }) => messages.ofOrder(params.id, pageOf(query)),
      resend: ({ params, payload }) => messages.resend(params.id, params.mid, payload ?? {})
    })
  })
)
