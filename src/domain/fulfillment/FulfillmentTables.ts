import { Schema, Struct } from "effect"
import { FulfillmentId, OrderLineId, Uuid, WarehouseId } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { Fulfillment, FulfillmentStatus } from "./Fulfillment.ts"

const text = Schema.NullOr(Schema.String)
const time = Schema.NullOr(Time)
const Metadata = Schema.Record(Schema.String, Schema.Unknown)

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
  /** Units from stock: a cancelled fulfillment puts them back there. */
  taken: Schema.Array(Schema.Struct({ sellable: Schema.String, warehouseId: WarehouseId, quantity: Schema.Int }))
})

export const shipments = new Table("fulfillments", StoredFulfillment)

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

const StoredFulfillmentLine = Schema.Struct({
  organizationId: Schema.String,
  fulfillmentId: FulfillmentId,
  orderLineId: OrderLineId,
  quantity: Schema.Int
})

export const fulfillmentLines = new Table("fulfillment_lines", StoredFulfillmentLine)

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
