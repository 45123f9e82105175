import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf, open } from "../../domain/access/AccessRule.ts"
import { Fulfillment } from "../../domain/fulfillment/Fulfillment.ts"
import { NewShipment, ShipmentChange } from "../../domain/fulfillment/Shipment.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const path = "/api/orders/:id/fulfillments"

/** Handing goods of an order over by hand (contract §5); they are listed among the routes of orders. */
export const FulfillmentsGroup = HttpApiGroup.make("fulfillments").add(
  HttpApiEndpoint.post("create", path, {
    params: { id: Uuid },
    payload: NewShipment,
    success: Data(Fulfillment).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("orders:update"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Hand over units of an order's lines",
      description:
        "Moves the order to partially_fulfilled, and to fulfilled as soon as fulfillments cover every line. " +
        "422 for more units than are left, and for an order that is pending, not paid or ended."
    })),
  HttpApiEndpoint.patch("change", `${path}/:fulfillmentId`, {
    params: { id: Uuid, fulfillmentId: Uuid },
    payload: ShipmentChange,
    success: Data(Fulfillment)
  })
    .annotate(Access, anyOf("orders:update"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Change status and tracking of a fulfillment",
      description: "A cancelled fulfillment gives its units back, to the order and to stock."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

/** Where the signed links of bought files lead (docs/customers.md). The signature is the credential. */
export const DownloadsGroup = HttpApiGroup.make("downloads").add(
  HttpApiEndpoint.get("follow", "/api/downloads/:id", {
    params: { id: Schema.String },
    query: { expires: Schema.optional(Schema.String), signature: Schema.optional(Schema.String) },
    success: HttpApiSchema.Empty(302)
  })
    .annotate(Access, open)
    .annotateMerge(OpenApi.annotations({
      summary: "Fetch a bought file by its signed link",
      description:
        "Redirects to the file and counts a download. 404 for a link that was not signed, 403 for one that " +
        "is too old or used up."
    }))
)
  .middleware(Errors).middleware(AccessControl)
