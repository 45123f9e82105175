import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Drafts } from "../../domain/catalog/locales/Drafts.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { DraftsGroup } from "./DraftsApi.ts"

/** Handlers of the routes that `DraftsApi.ts` declares. */
export const draftsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(DraftsGroup),
  "drafts",
  Effect.fnUntraced(function*(handlers) {
    const drafts = yield* Drafts
    return handlers.handleAll({
      list: ({ query }) => drafts.list(pageOf(query)),
      approve: ({ params }) => Effect.as(drafts.approve(params.id, params.locale), { approved: true } as const),
      reject: ({ params }) => Effect.as(drafts.reject(params.id, params.locale), { rejected: true } as const)
    })
  })
)
