import { Effect } from "effect"
import { ReturnRefunds } from "./ReturnRefunds.ts"
import { ReturnRequests } from "./ReturnRequests.ts"
import { Returns } from "./Returns.ts"
import * as api from "./ReturnsApi.ts"
import { ReturnSteps } from "./ReturnSteps.ts"

/** Answers of the routes that `ReturnsApi.ts` declares. */
export const returnRoutes = [
  api.requestReturn.handle(({ input }) => Effect.flatMap(ReturnRequests, (requests) => requests.request(input))),
  api.listReturns.handle(({ page, query }) => Effect.flatMap(Returns, (returns) => returns.page(query, page))),
  api.readReturn.handle(({ params }) => Effect.flatMap(Returns, (returns) => returns.get(params.id))),
  api.shipBack.handle(({ input, params }) =>
    Effect.flatMap(ReturnSteps, (steps) => steps.shipBack(params.id, input.trackingNumber))
  ),
  api.receiveReturn.handle(({ params }) => Effect.flatMap(ReturnSteps, (steps) => steps.receive(params.id))),
  api.refundReturn.handle(({ params }) => Effect.flatMap(ReturnRefunds, (refunds) => refunds.refund(params.id))),
  api.vendorReturns.handle(({ page, query }) => Effect.flatMap(Returns, (returns) => returns.ofVendor(query, page))),
  api.approveReturn.handle(({ input, params }) =>
    Effect.flatMap(ReturnSteps, (steps) => steps.approve(params.id, input.refundAmountCents ?? null))
  ),
  api.rejectReturn.handle(({ input, params }) =>
    Effect.flatMap(ReturnSteps, (steps) => steps.reject(params.id, input.notes ?? null))
  )
]
