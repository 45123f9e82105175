import { Result } from "effect"
import type { StockAllocation } from "../inventory/StockRules.ts"
import { sendable } from "../orders/OrderStatus.ts"
import { InvalidTransition } from "../platform/errors/ApiErrors.ts"
import { over } from "../platform/text/Fields.ts"
import { type Fulfillment, type FulfillmentStatus, present, type ShipmentChange } from "./Fulfillment.ts"
import { type CoveredLine, lineStatus, type OrderGoods } from "./ShipmentRules.ts"

export interface StoredShipment {
  readonly record: Fulfillment
  readonly taken: ReadonlyArray<StockAllocation>
}

export interface ChangePlan {
  readonly record: Fulfillment
  readonly eventType: "status_changed" | "tracking_changed"
  readonly description: string | null
  readonly lines: ReadonlyArray<CoveredLine>
  readonly back: ReadonlyArray<StockAllocation>
}

/**
 * A failed shipment (lost, refused) keeps its units until it is sent again or cancelled; delivered units come back as a
 * return.
 */
const ways: { readonly [From in FulfillmentStatus]: ReadonlyArray<FulfillmentStatus> } = {
  pending: ["processing", "shipped", "delivered", "fulfilled", "cancelled", "failed"],
  processing: ["shipped", "delivered", "fulfilled", "cancelled", "failed"],
  shipped: ["delivered", "cancelled", "failed"],
  failed: ["shipped", "cancelled"],
  delivered: [],
  fulfilled: [],
  cancelled: []
}

const recordOf = (before: Fulfillment, change: ShipmentChange, status: FulfillmentStatus, now: Date): Fulfillment => {
  const { carrier, deliveredAt, estimatedDelivery, shippedAt, trackingNumber, trackingUrl, updatedAt: _, ...kept } =
    before
  const sent = status !== before.status && (status === "shipped" || status === "delivered")
  return {
    ...kept,
    status,
    ...present({
      carrier: over<string | null | undefined>(change.carrier, carrier),
      trackingNumber: over<string | null | undefined>(change.trackingNumber, trackingNumber),
      trackingUrl: over<string | null | undefined>(change.trackingUrl, trackingUrl),
      estimatedDelivery: over<Date | null | undefined>(change.estimatedDelivery, estimatedDelivery),
      // A second attempt after a failure gets a new shipping time.
      shippedAt: sent && status === "shipped" ? now : shippedAt ?? (sent ? now : undefined),
      deliveredAt: sent && status === "delivered" ? now : deliveredAt
    }),
    updatedAt: now
  }
}

const sameTime = (one: Date | undefined, other: Date | undefined) => one?.getTime() === other?.getTime()

const isSame = (one: Fulfillment, other: Fulfillment): boolean =>
  one.status === other.status && one.carrier === other.carrier && one.trackingNumber === other.trackingNumber &&
  one.trackingUrl === other.trackingUrl && sameTime(one.estimatedDelivery, other.estimatedDelivery)

const kept = (goods: OrderGoods, { record }: StoredShipment): string | undefined => {
  if (!sendable.includes(goods.status)) {
    return `The order is ${goods.status}: what comes back of it is a return, and its shipments stay as they are.`
  }
  const covered = new Set(record.lineItems.map(({ id }) => id))
  // Units that were refunded or came back may be those of this shipment, and would return to stock twice.
  return goods.lines.some((line) => covered.has(line.id) && line.refundedQuantity + line.returned > 0)
    ? "Units of these lines were refunded or came back: what comes back of them is a return."
    : undefined
}

const linesWithout = (goods: OrderGoods, { record }: StoredShipment): ReadonlyArray<CoveredLine> =>
  goods.lines.flatMap((line) => {
    const quantity = record.lineItems.find(({ id }) => id === line.id)?.quantity
    return quantity === undefined
      ? []
      : [{ id: line.id, quantity, status: lineStatus(line, line.covered - quantity) }]
  })

/** Undefined when nothing would change. 422 INVALID_TRANSITION, also for units that cannot be returned. */
export const planChange = (
  goods: OrderGoods,
  stored: StoredShipment,
  change: ShipmentChange,
  now: Date
): Result.Result<ChangePlan | undefined, InvalidTransition> => {
  const from = stored.record.status
  const to = change.status ?? from
  if (to !== from && !ways[from].includes(to)) {
    return Result.fail(InvalidTransition.of(`A fulfillment cannot go from ${from} to ${to}.`))
  }
  const ends = to === "cancelled" && to !== from
  const reason = ends ? kept(goods, stored) : undefined
  if (reason !== undefined) return Result.fail(InvalidTransition.of(reason))
  const record = recordOf(stored.record, change, to, now)
  return Result.succeed(
    isSame(record, stored.record) ? undefined : {
      record,
      eventType: to === from ? "tracking_changed" : "status_changed",
      description: change.description ?? null,
      lines: ends ? linesWithout(goods, stored) : [],
      back: ends ? stored.taken : []
    }
  )
}
