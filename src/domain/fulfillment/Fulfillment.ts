import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Time } from "../pricing/Bounds.ts"

/** How goods reach the customer (contract §5). */
export const FulfillmentType = Schema.Literals(["physical", "digital-download", "digital-access", "internal-transfer"])
export type FulfillmentType = typeof FulfillmentType.Type

/** Status of a fulfillment. */
export const FulfillmentStatus = Schema.Literals([
  "pending",
  "processing",
  "shipped",
  "delivered",
  "fulfilled",
  "cancelled",
  "failed"
])
export type FulfillmentStatus = typeof FulfillmentStatus.Type

/** An order line in a fulfillment: `id` is the order line's, title and sku are those of the purchase. */
export const FulfillmentLine = Schema.Struct({
  id: Uuid,
  title: Schema.String,
  sku: Schema.NullOr(Schema.String),
  quantity: Schema.Int
}).annotate({ identifier: "FulfillmentLine" })
export type FulfillmentLine = typeof FulfillmentLine.Type

/**
 * Fields of digital goods: a download link with its limits, or an access with its period. Stored in the row's metadata
 * under these names.
 */
export const DigitalGrant = Schema.Struct({
  downloadUrl: Schema.optionalKey(Schema.String),
  downloadExpiresAt: Schema.optionalKey(Schema.String),
  maxDownloads: Schema.optionalKey(Schema.Int),
  downloadCount: Schema.optionalKey(Schema.Int),
  grantedAt: Schema.optionalKey(Schema.String),
  expiresAt: Schema.optionalKey(Schema.String),
  isActive: Schema.optionalKey(Schema.Boolean)
})
export type DigitalGrant = typeof DigitalGrant.Type

/**
 * A fulfillment in the API (contract §5): unknown fields are absent, not null. `entityId` and `entityType` are present
 * when it covers a single line.
 */
export const Fulfillment = Schema.Struct({
  id: Uuid,
  orderId: Uuid,
  type: FulfillmentType,
  status: FulfillmentStatus,
  lineItems: Schema.Array(FulfillmentLine),
  carrier: Schema.optionalKey(Schema.String),
  trackingNumber: Schema.optionalKey(Schema.String),
  trackingUrl: Schema.optionalKey(Schema.String),
  estimatedDelivery: Schema.optionalKey(Time),
  shippedAt: Schema.optionalKey(Time),
  deliveredAt: Schema.optionalKey(Time),
  customerId: Schema.optionalKey(Uuid),
  entityType: Schema.optionalKey(Schema.String),
  entityId: Schema.optionalKey(Uuid),
  ...DigitalGrant.fields,
  /** Remarks of its creator. */
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Fulfillment" })
export type Fulfillment = typeof Fulfillment.Type
