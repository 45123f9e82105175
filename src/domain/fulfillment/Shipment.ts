import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { maybe, Moment, Units } from "../pricing/Bounds.ts"
import { keyText, Remark, StorableObject, Text } from "../text/Storable.ts"
import { FulfillmentType } from "./Fulfillment.ts"

/** Exceeds the line limit of carts. */
const maxLines = 1_000

const isWebAddress = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !/[\s\p{Cc}]/u.test(text)

/** An http(s) address, which a browser opens as a page without side effects. */
const TrackingUrl = keyText(2_000).check(
  Schema.makeFilter((text: string) => isWebAddress(text) || "must be an address that begins with http or https")
)

const tracking = {
  carrier: maybe(Text),
  trackingNumber: maybe(Text),
  trackingUrl: maybe(TrackingUrl),
  estimatedDelivery: maybe(Moment)
}

/** Body of `POST /orders/:id/fulfillments`: the units to fulfill (contract §5). Each line is named once. */
export const NewShipment = Schema.Struct({
  lineItems: Schema.Array(Schema.Struct({ orderLineItemId: Uuid, quantity: Units }))
    .check(Schema.isMinLength(1), Schema.isMaxLength(maxLines)),
  type: Schema.optional(FulfillmentType.annotate({ description: "Default: physical." })),
  status: Schema.optional(
    Schema.Literals(["pending", "processing", "shipped", "delivered", "fulfilled"])
      .annotate({ description: "How far it is; default: shipped." })
  ),
  ...tracking,
  metadata: Schema.optional(StorableObject)
}).annotate({ identifier: "NewFulfillment" })
export type NewShipment = typeof NewShipment.Type

/** A change of a shipment; null clears a field, absent keeps it. */
export const ShipmentChange = Schema.Struct({
  status: Schema.optional(
    Schema.Literals(["processing", "shipped", "delivered", "fulfilled", "cancelled", "failed"])
      .annotate({ description: "cancelled gives the units back: they can be sent again, and are in stock again." })
  ),
  ...tracking,
  description: Schema.optional(Remark.annotate({ description: "Why; kept in the history of the shipment." }))
}).annotate({ identifier: "FulfillmentChange" })
export type ShipmentChange = typeof ShipmentChange.Type
