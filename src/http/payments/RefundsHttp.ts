import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/paging/Paging.ts"
import { CompensationFailures } from "../../domain/payments/CompensationFailures.ts"
import { Refunds } from "../../domain/payments/Refunds.ts"
import { RefundRequests } from "../../workflows/payments/RefundRequests.ts"
import { CompensationsGroup, RefundsGroup } from "./RefundsApi.ts"

export const refundsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(RefundsGroup),
  "refunds",
  Effect.fnUntraced(function*(handlers) {
    const refunds = yield* Refunds
    const requests = yield* RefundRequests
    return handlers.handleAll({
      cap: ({ query }) => refunds.cap(query.orderId),
      refundAmount: ({ params, payload }) => requests.refund(params.id, payload ?? {}),
      refund: ({ params, payload }) => requests.refund(params.id, payload),
      list: ({ params, query }) => refunds.ofOrder(params.id, pageOf(query)),
      undo: ({ params }) => refunds.undo(params.id, params.rid)
    })
  })
)

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
