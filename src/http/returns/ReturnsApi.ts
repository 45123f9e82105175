import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Access, anyOf, signedIn } from "../../domain/platform/access/AccessRule.ts"
import { OrderId, ReturnId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import {
  Approval,
  NewReturn,
  Receipt,
  Rejection,
  Return,
  ReturnExchange,
  ReturnRefund,
  ReturnStatus
} from "../../domain/returns/Return.ts"
import { Created, creates, guarded, lists, paramsOf, reads, summary } from "../endpoint/Resource.ts"
import { Data, OptionalBody, Page } from "../envelope/Envelope.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"
import { IdempotentChange } from "../middleware/Idempotency.ts"

const returns = "/api/orders/:id/returns"
const one = { params: paramsOf(`${returns}/:rid`), success: Data(Return) }

/** Returns of goods, for staff (contract-commerce §12; docs/orders.md). */
export const ReturnsGroup = guarded(
  "returns",
  HttpApiEndpoint.get("list", "/api/returns", {
    query: {
      ...pageQuery,
      status: Schema.optional(ReturnStatus.annotate({ description: "Only returns in this status." })),
      orderId: Schema.optional(OrderId.annotate({ description: "Only returns of this order." }))
    },
    success: Page(Return)
  })
    .annotateMerge(summary("List returns, newest first")),
  lists("ofOrder", returns, Return, "List the returns of an order, newest first"),
  reads("read", `${returns}/:rid`, Return, "Get a return"),
  creates(
    "request",
    returns,
    NewReturn,
    Return,
    "Request a return of units of an order",
    "422 for more units than were sold and neither refunded nor asked for by another return, and for stored value."
  ),
  HttpApiEndpoint.post("approve", `${returns}/:rid/approve`, { ...one, payload: OptionalBody(Approval) })
    .annotate(IdempotentChange, true)
    .annotateMerge(
      summary("Approve a return", "With instructions or a label for the buyer. 409 unless it is requested.")
    ),
  HttpApiEndpoint.post("reject", `${returns}/:rid/reject`, { ...one, payload: Rejection })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Reject a return", "Its units can be asked for again. 409 unless it is requested.")),
  HttpApiEndpoint.post("cancel", `${returns}/:rid/cancel`, one)
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Cancel a return", "Its units can be asked for again. 409 once the goods were received.")),
  HttpApiEndpoint.post("receive", `${returns}/:rid/receive`, { ...one, payload: Receipt })
    .annotate(IdempotentChange, true)
    .annotateMerge(
      summary(
        "Record which goods of a return came back",
        "Units with `restock` are in stock again with the answer. 409 unless it is approved."
      )
    ),
  HttpApiEndpoint.post("refund", `${returns}/:rid/refund`, { ...one, payload: OptionalBody(ReturnRefund) })
    .annotate(IdempotentChange, true)
    .annotate(StrictBody, true)
    .annotateMerge(
      summary(
        "Refund the goods of a return that were received",
        "To the payments of the order, as refunds of lines do, or noted with `givenOutside`. 409 unless it is received."
      )
    ),
  HttpApiEndpoint.post("exchange", `${returns}/:rid/exchange`, { ...one, payload: ReturnExchange })
    .annotate(IdempotentChange, true)
    .annotateMerge(
      summary(
        "Exchange the goods of a return that were received for others",
        "Creates `replacementOrderId` for the same customer and address, at today's prices. It waits for the payment of what " +
          "it costs more; what it costs less is refunded. 409 unless it is received; 422 without enough stock."
      )
    )
).annotateEndpoints(Access, anyOf("returns:manage"))

const own = "/api/me/orders/:idOrNumber/returns"
const named = { idOrNumber: Schema.String }

/** Returns of the caller's orders. */
export const MyReturnsGroup = guarded(
  "myReturns",
  HttpApiEndpoint.get("list", own, { params: named, query: pageQuery, success: Page(Return) })
    .annotateMerge(summary("List the returns of an order of the caller, newest first")),
  HttpApiEndpoint.post("request", own, { params: named, payload: NewReturn, success: Created(Return) })
    .annotate(IdempotentChange, true)
    .annotateMerge(
      summary(
        "Request a return of units of an order of the caller",
        "Within `returns.days` of the delivery, or of the order where nothing was sent; 422 `too_late` afterwards."
      )
    ),
  HttpApiEndpoint.post("cancel", `${own}/:rid/cancel`, { params: { ...named, rid: ReturnId }, success: Data(Return) })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Cancel a return of the caller", "409 once the goods were received."))
).annotateEndpoints(Access, signedIn("orders:read:own"))
