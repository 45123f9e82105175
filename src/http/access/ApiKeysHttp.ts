import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { ApiKeys } from "../../domain/access/ApiKeys.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { ApiKeysGroup } from "./ApiKeysApi.ts"

/** Handlers of the routes that `ApiKeysApi.ts` declares. */
export const apiKeysHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ApiKeysGroup),
  "apiKeys",
  Effect.fnUntraced(function*(handlers) {
    const keys = yield* ApiKeys
    return handlers.handleAll({
      listKeys: ({ query }) => keys.list(pageOf(query)),
      revokeKey: ({ params }) => Effect.as(keys.revoke(params.id), deleted)
    })
  })
)
