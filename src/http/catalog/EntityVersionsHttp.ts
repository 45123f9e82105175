import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Drafts } from "../../domain/catalog/locales/Drafts.ts"
import { Revisions } from "../../domain/catalog/revisions/Revisions.ts"
import { Schedules } from "../../domain/catalog/schedules/Schedules.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { DraftsGroup } from "./DraftsApi.ts"
import { RevisionsGroup } from "./RevisionsApi.ts"
import { SchedulesGroup } from "./SchedulesApi.ts"

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

/** Handlers of the routes that `SchedulesApi.ts` declares. */
export const schedulesHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(SchedulesGroup),
  "schedules",
  Effect.fnUntraced(function*(handlers) {
    const schedules = yield* Schedules
    return handlers.handleAll({
      read: ({ params }) => schedules.get(params.id),
      set: ({ params, payload }) => schedules.set(params.id, payload),
      clear: ({ params }) => schedules.set(params.id, {})
    })
  })
)

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
