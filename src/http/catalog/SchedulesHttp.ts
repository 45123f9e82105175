import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Schedules } from "../../domain/catalog/schedules/Schedules.ts"
import { SchedulesGroup } from "./SchedulesApi.ts"

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
