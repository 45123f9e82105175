import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Revisions } from "../../domain/catalog/revisions/Revisions.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { RevisionsGroup } from "./RevisionsApi.ts"

/** Handlers of the routes that `RevisionsApi.ts` declares. */
export const revisionsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(RevisionsGroup),
  "revisions",
  Effect.fnUntraced(function*(handlers) {
    const revisions = yield* Revisions
    return handlers.handleAll({
      list: ({ params, query }) => revisions.list(params.id, pageOf(query)),
      read: ({ params }) => revisions.get(params.id, params.number),
      compare: ({ params, query }) => revisions.compare(params.id, params.number, query.from),
      restore: ({ params }) => revisions.restore(params.id, params.number)
    })
  })
)
