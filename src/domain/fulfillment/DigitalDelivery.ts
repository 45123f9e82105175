import { Duration } from "effect"
import { newId } from "../ids/Id.ts"
import type { Order, OrderLine } from "../orders/Order.ts"
import type { DigitalGrant, Fulfillment, FulfillmentType } from "./Fulfillment.ts"

/** Lifetime and maximum number of downloads (contract §5). */
const downloadLife = Duration.hours(24)
const maxDownloads = 5

/** Entity types that the service delivers, and how. Others need a person or a carrier. */
const digitalTypes: ReadonlyMap<string, FulfillmentType> = new Map([
  ["digitalDownload", "digital-download"],
  ["course", "digital-access"]
])

/** Whether goods of this entity type are delivered without a parcel (contract §5). */
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
  lineItems: [{ id: line.id, title: line.title, sku: line.sku, quantity: line.quantity }],
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
