import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { Webhooks } from "../../domain/webhooks/Webhooks.ts"
import { deleted } from "../envelope/Envelope.ts"
import { WebhooksGroup } from "./WebhooksApi.ts"

export const webhooksHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(WebhooksGroup),
  "webhooks",
  Effect.fnUntraced(function*(handlers) {
    const webhooks = yield* Webhooks
    return handlers.handleAll({
      register: ({ payload }) => webhooks.register(payload),
      list: ({ query }) => webhooks.list(pageOf(query)),
      get: ({ params }) => webhooks.get(params.id),
      change: ({ params, payload }) => webhooks.change(params.id, payload),
      remove: ({ params }) => Effect.as(webhooks.remove(params.id), deleted),
      rotateSecret: ({ params, payload }) => webhooks.rotateSecret(params.id, payload?.secret),
      test: ({ params }) => webhooks.test(params.id),
      deliveries: ({ params, query }) => webhooks.deliveries(params.id, pageOf(query)),
      redeliver: ({ params }) => webhooks.redeliver(params.id)
    })
  })
)
