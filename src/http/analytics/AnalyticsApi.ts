import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AnalyticsMeta, AnalyticsQuery, AnalyticsResult } from "../../domain/analytics/AnalyticsQuery.ts"
import { Access, judgedBy } from "../../domain/platform/access/AccessRule.ts"
import { readsAll, scopeOf } from "../../domain/platform/modules/AnalyticsModel.ts"
import { summary } from "../endpoint/Resource.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors, parseOptions } from "../middleware/Errors.ts"

const hasScope = judgedBy((actor) => scopeOf(actor) !== undefined, readsAll)

/** Figures of a store (spec §4 Analytics). Queries take no Idempotency-Key. */
export const AnalyticsGroup = HttpApiGroup.make("analytics").add(
  HttpApiEndpoint.get("meta", "/api/analytics/meta", { success: Data(AnalyticsMeta) })
    .annotate(Access, hasScope)
    .annotateMerge(summary("List the models that the caller can ask, with their members")),
  HttpApiEndpoint.post("query", "/api/analytics/query", { payload: AnalyticsQuery, success: Data(AnalyticsResult) })
    .annotate(Access, hasScope)
    .annotateMerge(
      summary(
        "Query a model",
        "Staff sees all rows of the store, a vendor and a customer their own. Nothing of a query is passed " +
          "over: what there is not is 422, with what there is. 503 where the answer takes too long."
      )
    )
)
  .annotateMerge(parseOptions)
  .middleware(Errors).middleware(AccessControl)
