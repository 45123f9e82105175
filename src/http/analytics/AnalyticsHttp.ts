import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Analytics } from "../../domain/analytics/Analytics.ts"
import { AnalyticsGroup } from "./AnalyticsApi.ts"

export const analyticsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(AnalyticsGroup),
  "analytics",
  Effect.fnUntraced(function*(handlers) {
    const analytics = yield* Analytics
    return handlers.handleAll({
      meta: () => analytics.meta,
      query: ({ payload }) => analytics.query(payload)
    })
  })
)
