import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { OrderMessages } from "../../domain/mail/OrderMessages.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { MessagesGroup } from "./MessagesApi.ts"

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
