import { Schema, Struct } from "effect"
import { FulfillmentId, OrderLineId, Uuid, WarehouseId } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { Fulfillment, FulfillmentStatus } from "./Fulfillment.ts"

const text = Schema.NullOr(Schema.String)
const time = Schema.NullOr(Time)
const Metadata = Schema.Record(Schema.String, Schema.Unknown)

/** A fulfillment by staff as it is stored. `details` are its creator's remarks. */
export const StoredFulfillment = Schema.Struct({
  ...Struct.pick(Fulfillment.fields, ["id", "orderId", "type", "status", "createdAt", "updatedAt"]),
  organizationId: Schema.String,
  carrier: text,
  trackingNumber: text,
  trackingUrl: text,
  estimatedDelivery: time,
  shippedAt: time,
  deliveredAt: time,
  details: Schema.NullOr(Metadata),
  /** Units it took from stock, and from where: a cancelled one puts them back there. */
  taken: Schema.Array(Schema.Struct({ sellable: Schema.String, warehouseId: WarehouseId, quantity: Schema.Int }))
})

export const shipments = new Table("fulfillments", StoredFulfillment)

/** The row of a digital fulfillment: the line that it delivers, and its grant in `metadata`. */
export const deliveries = new Table(
  "fulfillments",
  Schema.Struct({ ...StoredFulfillment.fields, orderLineId: Schema.NullOr(OrderLineId), metadata: Metadata }),
  {
    unset: [
      "carrier",
      "trackingNumber",
      "trackingUrl",
      "estimatedDelivery",
      "shippedAt",
      "deliveredAt",
      "details",
      "taken"
    ]
  }
)

/** Units of an order line in a fulfillment. */
const StoredFulfillmentLine = Schema.Struct({
  organizationId: Schema.String,
  fulfillmentId: FulfillmentId,
  orderLineId: OrderLineId,
  quantity: Schema.Int
})

export const fulfillmentLines = new Table("fulfillment_lines", StoredFulfillmentLine)

/** A change of a fulfillment (contract §5). */
const FulfillmentEvent = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  fulfillmentId: FulfillmentId,
  eventType: Schema.Literals(["created", "status_changed", "tracking_changed"]),
  fromStatus: Schema.NullOr(FulfillmentStatus),
  toStatus: FulfillmentStatus,
  description: text,
  actorId: text,
  occurredAt: Time
})

export const fulfillmentEvents = new Table("fulfillment_events", FulfillmentEvent, { unset: ["occurredAt"] })
