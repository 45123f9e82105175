import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/paging/Paging.ts"
import { CompensationFailures } from "../../domain/payments/CompensationFailures.ts"
import { RefundRequests } from "../../workflows/payments/RefundRequests.ts"
import { CompensationsGroup } from "./CompensationsApi.ts"

/** Handlers of the routes that `CompensationsApi.ts` declares. */
export const compensationsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CompensationsGroup),
  "compensations",
  Effect.fnUntraced(function*(handlers) {
    const failures = yield* CompensationFailures
    const requests = yield* RefundRequests
    return handlers.handleAll({
      list: ({ query }) => failures.list(query.status, pageOf(query)),
      resolve: ({ params, payload }) => failures.resolve(params.id, payload?.note ?? null),
      retry: ({ params }) => requests.retry(params.id)
    })
  })
)
