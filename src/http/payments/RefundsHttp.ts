import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/paging/Paging.ts"
import { Refunds } from "../../domain/payments/Refunds.ts"
import { RefundRequests } from "../../workflows/payments/RefundRequests.ts"
import { RefundsGroup } from "./RefundsApi.ts"

/** Handlers of the routes that `RefundsApi.ts` declares. */
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
