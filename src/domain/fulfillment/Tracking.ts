import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Time } from "../pricing/Bounds.ts"
import type { Fulfillment } from "./Fulfillment.ts"

/** Tracking of an order's fulfillment (contract, platform §7); null is unknown. */
export const Tracking = Schema.Struct({
  fulfillmentId: Uuid,
  status: Schema.Literals(["pending", "processing", "shipped", "delivered", "cancelled", "failed"]),
  carrier: Schema.NullOr(Schema.String),
  trackingNumber: Schema.NullOr(Schema.String),
  trackingUrl: Schema.NullOr(Schema.String),
  estimatedDelivery: Schema.NullOr(Time),
  shippedAt: Schema.NullOr(Time),
  deliveredAt: Schema.NullOr(Time),
  lineItems: Schema.Array(Schema.Struct({ id: Uuid, title: Schema.String, quantity: Schema.Int }))
}).annotate({ identifier: "Tracking" })
export type Tracking = typeof Tracking.Type

/** Goods without a parcel are delivered at creation. */
export const trackingOf = (fulfillment: Fulfillment): Tracking => {
  const atOnce = fulfillment.status === "fulfilled"
  return {
    fulfillmentId: fulfillment.id,
    status: fulfillment.status === "fulfilled" ? "delivered" : fulfillment.status,
    carrier: fulfillment.carrier ?? null,
    trackingNumber: fulfillment.trackingNumber ?? null,
    trackingUrl: fulfillment.trackingUrl ?? null,
    estimatedDelivery: fulfillment.estimatedDelivery ?? null,
    shippedAt: fulfillment.shippedAt ?? null,
    deliveredAt: fulfillment.deliveredAt ?? (atOnce ? fulfillment.createdAt : null),
    lineItems: fulfillment.lineItems.map(({ id, quantity, title }) => ({ id, title, quantity }))
  }
}
