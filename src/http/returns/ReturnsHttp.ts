import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { Returns } from "../../domain/returns/Returns.ts"
import { ReturnExchanges } from "../../workflows/orders/ReturnExchanges.ts"
import { ReturnRefunds } from "../../workflows/orders/ReturnRefunds.ts"
import { MyReturnsGroup, ReturnsGroup } from "./ReturnsApi.ts"

export const returnsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(ReturnsGroup),
  "returns",
  Effect.fnUntraced(function*(handlers) {
    const returns = yield* Returns
    const [refunds, exchanges] = yield* Effect.all([ReturnRefunds, ReturnExchanges])
    return handlers.handleAll({
      list: ({ query }) => returns.list(query, pageOf(query)),
      ofOrder: ({ params, query }) => returns.ofOrder(params.id, pageOf(query)),
      read: ({ params }) => returns.find(params.id, params.rid),
      request: ({ params, payload }) => returns.request(params.id, payload),
      approve: ({ params, payload }) => returns.approve(params.id, params.rid, payload ?? {}),
      reject: ({ params, payload }) => returns.reject(params.id, params.rid, payload.reason),
      cancel: ({ params }) => returns.cancel(params.id, params.rid),
      refund: ({ params, payload }) => refunds.refund(params.id, params.rid, payload ?? {}),
      exchange: ({ params, payload }) => exchanges.exchange(params.id, params.rid, payload),
      receive: ({ params, payload }) => returns.receive(params.id, params.rid, payload)
    })
  })
)

export const myReturnsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(MyReturnsGroup),
  "myReturns",
  Effect.fnUntraced(function*(handlers) {
    const returns = yield* Returns
    return handlers.handleAll({
      list: ({ params, query }) => returns.listOwn(params.idOrNumber, pageOf(query)),
      request: ({ params, payload }) => returns.requestOwn(params.idOrNumber, payload),
      cancel: ({ params }) => returns.cancelOwn(params.idOrNumber, params.rid)
    })
  })
)
