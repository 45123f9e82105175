import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { CompensationFailures, Refunds } from "../../domain/payments/Refunds.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { RefundRequests } from "../../workflows/payments/RefundSettlement.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { CompensationsGroup, PaymentsGroup, RefundsGroup } from "./PaymentsApi.ts"

export const paymentsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(PaymentsGroup),
  "payments",
  Effect.fnUntraced(function*(handlers) {
    const changes = yield* StatusChanges
    return handlers.handleAll({
      webhook: Effect.fnUntraced(function*({ request }) {
        const rawBody = yield* Effect.catch(request.text, Effect.die)
        const { duplicate } = yield* changes.receive(request.headers, rawBody)
        return duplicate ? { received: true, duplicate: true } as const : { received: true } as const
      })
    })
  })
)

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
