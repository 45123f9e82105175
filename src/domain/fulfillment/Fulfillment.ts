import { Duration, Schema, Struct } from "effect"
import { ShownItem } from "../carts/Line.ts"
import type { Order, OrderLine } from "../orders/Order.ts"
import { about } from "../platform/hints/Hints.ts"
import { CustomerId, EntityId, FulfillmentId, newId, OrderId, OrderLineId } from "../platform/ids/Id.ts"
import { maybe, Units } from "../platform/text/Fields.ts"
import { keyText, Remark, StorableObject, Text } from "../platform/text/Storable.ts"
import { Moment, Time, TimeText } from "../platform/text/Time.ts"

export const FulfillmentType = Schema.Literals(["physical", "digital-download", "digital-access", "internal-transfer"])
  .annotate({
    description:
      "physical: a parcel or a handing over. digital-download: a file. digital-access: a right, such as a course. " +
      "internal-transfer: between places of the store."
  })
export type FulfillmentType = typeof FulfillmentType.Type

export const FulfillmentStatus = Schema.Literals([
  "pending",
  "processing",
  "shipped",
  "delivered",
  "fulfilled",
  "cancelled",
  "failed"
]).annotate({
  description:
    "fulfilled: handed over at once, as digital goods are. cancelled and failed ones give their units back to the order."
})
export type FulfillmentStatus = typeof FulfillmentStatus.Type

/** `id` is the order line's; titles and sku are those of the purchase. */
export const FulfillmentLine = Schema.Struct({
  id: OrderLineId,
  ...Struct.pick(ShownItem.fields, ["title", "variantTitle", "sku"]),
  quantity: Schema.Int
}).annotate({ identifier: "FulfillmentLine" })

/** Fields of digital goods, stored in the row's metadata under these names. */
export const DigitalGrant = Schema.Struct({
  downloadUrl: Schema.optionalKey(Schema.String).pipe(about("Signed address of the file.")),
  downloadExpiresAt: Schema.optionalKey(TimeText),
  maxDownloads: Schema.optionalKey(Schema.Int).pipe(about("Times it can be fetched.")),
  downloadCount: Schema.optionalKey(Schema.Int).pipe(about("Times it was fetched.")),
  grantedAt: Schema.optionalKey(TimeText),
  expiresAt: Schema.optionalKey(TimeText),
  isActive: Schema.optionalKey(Schema.Boolean)
})
type DigitalGrant = typeof DigitalGrant.Type

/**
 * A fulfillment in the API (contract §5): unknown fields are absent, not null. `entityId` and `entityType` are present
 * when it covers a single line.
 */
export const Fulfillment = Schema.Struct({
  id: FulfillmentId,
  orderId: OrderId,
  type: FulfillmentType,
  status: FulfillmentStatus,
  lineItems: Schema.Array(FulfillmentLine),
  carrier: Schema.optionalKey(Schema.String).pipe(about("Carrier of the parcel.")),
  trackingNumber: Schema.optionalKey(Schema.String).pipe(about("Number of the parcel.")),
  trackingUrl: Schema.optionalKey(Schema.String).pipe(about("Page that follows the parcel.")),
  estimatedDelivery: Schema.optionalKey(Time),
  shippedAt: Schema.optionalKey(Time),
  deliveredAt: Schema.optionalKey(Time),
  customerId: Schema.optionalKey(CustomerId),
  entityType: Schema.optionalKey(Schema.String).pipe(
    about("Type of the entity of its only line; absent with several lines.")
  ),
  entityId: Schema.optionalKey(EntityId),
  ...DigitalGrant.fields,
  metadata: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)).pipe(
    about("Free JSON of the store or a plugin.")
  ),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Fulfillment" })
export type Fulfillment = typeof Fulfillment.Type

export const present = <A extends object>(
  fields: A
): { readonly [Field in keyof A]?: Exclude<A[Field], null | undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as {
    readonly [Field in keyof A]?: Exclude<A[Field], null | undefined>
  }

const maxLines = 1_000

const isWebAddress = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !/[\s\p{Cc}]/u.test(text)

/** An http(s) address, which a browser opens as a page without side effects. */
const TrackingUrl = keyText(2_000).check(
  Schema.makeFilter((text: string) => isWebAddress(text) || "must be an address that begins with http or https.")
)

const tracking = {
  carrier: maybe(Text).pipe(about("Carrier of the parcel.")),
  trackingNumber: maybe(Text).pipe(about("Number of the parcel.")),
  trackingUrl: maybe(TrackingUrl).pipe(about("Page that follows the parcel.")),
  estimatedDelivery: maybe(Moment)
}

/** Units to fulfill; each line is named once (contract §5). */
export const NewShipment = Schema.Struct({
  lineItems: Schema.Array(Schema.Struct({ orderLineItemId: OrderLineId, quantity: Units }))
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

export const ShipmentChange = Schema.Struct({
  status: Schema.optional(
    Schema.Literals(["processing", "shipped", "delivered", "fulfilled", "cancelled", "failed"])
      .annotate({ description: "cancelled gives the units back: they can be sent again, and are in stock again." })
  ),
  ...tracking,
  description: Schema.optional(Remark.annotate({ description: "Why; kept in the history of the shipment." }))
}).annotate({ identifier: "FulfillmentChange" })
export type ShipmentChange = typeof ShipmentChange.Type

export const Tracking = Schema.Struct({
  fulfillmentId: FulfillmentId,
  status: Schema.Literals(["pending", "processing", "shipped", "delivered", "cancelled", "failed"]).pipe(
    about("Goods that are handed over at once are delivered.")
  ),
  carrier: Schema.NullOr(Schema.String).pipe(about("Carrier of the parcel.")),
  trackingNumber: Schema.NullOr(Schema.String).pipe(about("Number of the parcel.")),
  trackingUrl: Schema.NullOr(Schema.String).pipe(about("Page that follows the parcel.")),
  estimatedDelivery: Schema.NullOr(Time),
  shippedAt: Schema.NullOr(Time),
  deliveredAt: Schema.NullOr(Time),
  lineItems: Schema.Array(FulfillmentLine.mapFields(Struct.omit(["sku"])))
}).annotate({ identifier: "Tracking" })
export type Tracking = typeof Tracking.Type

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
    lineItems: fulfillment.lineItems.map(({ sku: _, ...line }) => line)
  }
}

/** Lifetime and maximum number of downloads (contract §5). */
const downloadLife = Duration.hours(24)
const maxDownloads = 5

/** Entity types that the service delivers; others need a person or a carrier. */
const digitalTypes: ReadonlyMap<string, FulfillmentType> = new Map([
  ["digitalDownload", "digital-download"],
  ["course", "digital-access"]
])

export const isDigital = (entityType: string): boolean => digitalTypes.has(entityType)

const grantOf = (type: FulfillmentType, now: Date): DigitalGrant =>
  type === "digital-download"
    ? {
      downloadExpiresAt: new Date(now.getTime() + Duration.toMillis(downloadLife)).toISOString(),
      maxDownloads,
      downloadCount: 0
    }
    : { grantedAt: now.toISOString(), isActive: true }

const fulfillmentOf = (order: Order, line: OrderLine, type: FulfillmentType, now: Date): Fulfillment => ({
  id: newId(),
  orderId: order.id,
  type,
  status: "fulfilled",
  lineItems: [Struct.pick(line, ["id", "title", "variantTitle", "sku", "quantity"])],
  ...(order.customerId === null ? {} : { customerId: order.customerId }),
  entityType: line.entityType,
  entityId: line.entityId,
  ...grantOf(type, now),
  createdAt: now,
  updatedAt: now
})

/** The fulfillments of a paid order's digital lines, one per line (contract §5). */
export const digitalFulfillments = (order: Order, now: Date): ReadonlyArray<Fulfillment> =>
  order.lineItems.flatMap((line) => {
    const type = digitalTypes.get(line.entityType)
    return type === undefined ? [] : [fulfillmentOf(order, line, type, now)]
  })

export const Download = Schema.Struct({
  lineItemId: OrderLineId,
  ...Struct.pick(ShownItem.fields, ["title", "variantTitle"]),
  downloadUrl: Schema.NullOr(Schema.String).pipe(about("Signed address of the file.")),
  downloadsRemaining: Schema.Int.pipe(about("Times that the file can still be fetched.")),
  expiresAt: Schema.NullOr(Time)
}).annotate({ identifier: "Download" })
export type Download = typeof Download.Type

export const Granted = Schema.Struct({
  lineItemId: OrderLineId,
  ...Struct.pick(ShownItem.fields, ["title", "variantTitle"]),
  fulfillmentId: Schema.NullOr(FulfillmentId),
  file: Schema.NullOr(Schema.String),
  remaining: Schema.Int,
  expiresAt: Schema.NullOr(Time),
  valid: Schema.Boolean
})
export type Granted = typeof Granted.Type

export const isOpen = (
  granted: Granted,
  now: Date
): granted is Granted & { readonly fulfillmentId: FulfillmentId; readonly expiresAt: Date } =>
  granted.valid && granted.fulfillmentId !== null && granted.file !== null && granted.remaining > 0 &&
  granted.expiresAt !== null && granted.expiresAt > now

declare module "../platform/hooks/HookMap.ts" {
  interface AfterHooks {
    readonly "fulfillment.afterCreate": { readonly result: Fulfillment; readonly data: never }
  }
}
