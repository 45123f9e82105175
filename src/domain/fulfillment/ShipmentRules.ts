import { Result, Schema, Struct } from "effect"
import type { StockDemand } from "../inventory/StockRules.ts"
import { OrderLine } from "../orders/Order.ts"
import { OrderStatus, sendable } from "../orders/OrderStatus.ts"
import { openUnits } from "../orders/ShownOrder.ts"
import { InvalidTransition, type Issue, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { CustomerId, newId, OrderId, type OrderLineId } from "../platform/ids/Id.ts"
import { type Fulfillment, type NewShipment, present } from "./Fulfillment.ts"

export const FulfillableLine = Schema.Struct({
  ...Struct.pick(OrderLine.fields, [
    "id",
    "entityId",
    "entityType",
    "variantId",
    "sku",
    "title",
    "variantTitle",
    "quantity",
    "refundedQuantity",
    "fulfillmentStatus"
  ]),
  covered: Schema.Int,
  backordered: Schema.Int,
  /** Units that came back with a return. */
  returned: Schema.Int
})
export type FulfillableLine = typeof FulfillableLine.Type

export const OrderGoods = Schema.Struct({
  orderId: OrderId,
  status: OrderStatus,
  paid: Schema.Boolean,
  customerId: Schema.NullOr(CustomerId),
  lines: Schema.Array(FulfillableLine)
})
export type OrderGoods = typeof OrderGoods.Type

export const lineStatus = (
  { quantity, refundedQuantity }: FulfillableLine,
  covered: number
): FulfillableLine["fulfillmentStatus"] =>
  covered <= 0 ? "unfulfilled" : covered >= quantity - refundedQuantity ? "fulfilled" : "partial"

export interface CoveredLine {
  readonly id: string
  readonly quantity: number
  readonly status: FulfillableLine["fulfillmentStatus"]
}

export interface ShipmentPlan {
  readonly record: Fulfillment
  readonly lines: ReadonlyArray<CoveredLine>
  readonly demand: ReadonlyArray<StockDemand>
  readonly path: ReadonlyArray<OrderStatus>
}

interface AllocatedLine {
  readonly line: FulfillableLine
  readonly quantity: number
}

/** The next status of the order (contract §4.1): fulfilled once fulfillments cover every line. */
const pathOf = (goods: OrderGoods, taken: ReadonlyArray<AllocatedLine>): ReadonlyArray<OrderStatus> => {
  const sent = new Map(taken.map(({ line, quantity }) => [line.id, quantity]))
  const whole = goods.lines.every((line) => openUnits(line) <= (sent.get(line.id) ?? 0))
  switch (goods.status) {
    case "confirmed":
      return ["processing", whole ? "fulfilled" : "partially_fulfilled"]
    case "processing":
      return [whole ? "fulfilled" : "partially_fulfilled"]
    case "partially_fulfilled":
      return whole ? ["fulfilled"] : []
    default:
      return []
  }
}

const issueOf = (
  line: FulfillableLine | undefined,
  quantity: number,
  again: boolean,
  path: string
): Issue | undefined => {
  const lineItem = `${path}.orderLineItemId`
  if (line === undefined) return { path: lineItem, message: "is not a line of this order.", code: "unknown_line" }
  if (again) return { path: lineItem, message: "must not be named twice.", code: "duplicate" }
  const open = openUnits(line)
  if (quantity > open) {
    return {
      path: `${path}.quantity`,
      message: `must be at most ${open}, the units that are left.`,
      code: "over_quantity"
    }
  }
  const there = open - line.backordered
  return quantity <= there ? undefined : {
    path: `${path}.quantity`,
    message: `must be at most ${there}: ${line.backordered} more units wait for stock.`,
    code: "backordered"
  }
}

const allocationsOf = (
  goods: OrderGoods,
  request: NewShipment
): Result.Result<ReadonlyArray<AllocatedLine>, ValidationFailed> => {
  const lines = new Map(goods.lines.map((line) => [line.id, line]))
  const taken = new Map<string, AllocatedLine>()
  const issues: Array<Issue> = []
  for (const [index, { orderLineItemId, quantity }] of request.lineItems.entries()) {
    const line = lines.get(orderLineItemId)
    const again = line !== undefined && taken.has(line.id)
    const issue = issueOf(line, quantity, again, `lineItems.${index}`)
    if (issue !== undefined) issues.push(issue)
    else if (line !== undefined) taken.set(line.id, { line, quantity })
  }
  return issues.length > 0 ? Result.fail(ValidationFailed.issues(issues)) : Result.succeed([...taken.values()])
}

const recordOf = (
  goods: OrderGoods,
  taken: ReadonlyArray<AllocatedLine>,
  request: Omit<NewShipment, "lineItems">,
  now: Date
) => {
  const status = request.status ?? "shipped"
  const only = taken.length === 1 ? taken[0]?.line : undefined
  const record: Fulfillment = {
    id: newId(),
    orderId: goods.orderId,
    type: request.type ?? "physical",
    status,
    lineItems: taken.map(({ line, quantity }) => ({
      ...Struct.pick(line, ["id", "title", "variantTitle", "sku"]),
      quantity
    })),
    ...present({
      ...Struct.pick(request, ["carrier", "trackingNumber", "trackingUrl", "estimatedDelivery", "metadata"]),
      shippedAt: status === "shipped" || status === "delivered" ? now : undefined,
      deliveredAt: status === "delivered" ? now : undefined,
      customerId: goods.customerId,
      entityType: only?.entityType,
      entityId: only?.entityId
    }),
    createdAt: now,
    updatedAt: now
  }
  return record
}

const planOf = (
  goods: OrderGoods,
  taken: ReadonlyArray<AllocatedLine>,
  request: Omit<NewShipment, "lineItems">,
  now: Date
): ShipmentPlan => ({
  record: recordOf(goods, taken, request, now),
  lines: taken.map(({ line, quantity }) => ({
    id: line.id,
    quantity,
    status: lineStatus(line, line.covered + quantity)
  })),
  demand: taken.map(({ line, quantity }) => ({ sellable: line.variantId ?? line.entityId, quantity })),
  path: pathOf(goods, taken)
})

/**
 * Validates a request (contract §5). 422 INVALID_TRANSITION for an order that is pending, ended or unpaid; 422 for
 * lines that are unknown, repeated, or have too few open units.
 */
export const planShipment = (
  goods: OrderGoods,
  request: NewShipment,
  now: Date
): Result.Result<ShipmentPlan, ValidationFailed | InvalidTransition> => {
  if (!sendable.includes(goods.status)) {
    return Result.fail(InvalidTransition.of(`Nothing of an order can be handed over while it is ${goods.status}.`))
  }
  if (!goods.paid) return Result.fail(InvalidTransition.of("Nothing of an order can be handed over before it is paid."))
  return Result.map(allocationsOf(goods, request), (taken) => planOf(goods, taken, request, now))
}

/** Open units to fulfill of some lines together, at most `quantity`; without it all of them. */
export interface WantedUnits {
  readonly lineIds: ReadonlyArray<string>
  readonly quantity?: number
}

const unitsWanted = (goods: OrderGoods, wanted: ReadonlyArray<WantedUnits>): NewShipment["lineItems"] => {
  const taken = new Map<OrderLineId, number>()
  for (const { lineIds, quantity = Infinity } of wanted) {
    let left = quantity
    for (const line of goods.lines.filter(({ id }) => lineIds.includes(id))) {
      const before = taken.get(line.id) ?? 0
      const units = Math.max(0, Math.min(left, openUnits(line) - line.backordered - before))
      taken.set(line.id, before + units)
      left -= units
    }
  }
  return [...taken].flatMap(([orderLineItemId, quantity]) => quantity > 0 ? [{ orderLineItemId, quantity }] : [])
}

/** The same for open units of some lines. Confirms a paid order: the plugin that ships has handled it. */
export const planLines = (
  goods: OrderGoods,
  wanted: ReadonlyArray<WantedUnits>,
  parcel: Omit<NewShipment, "lineItems">,
  now: Date
): Result.Result<ShipmentPlan | undefined, ValidationFailed | InvalidTransition> => {
  const lineItems = unitsWanted(goods, wanted)
  if (lineItems.length === 0) return Result.succeed(undefined)
  if (goods.status !== "pending" || !goods.paid) return planShipment(goods, { ...parcel, lineItems }, now)
  return Result.map(
    planShipment({ ...goods, status: "confirmed" }, { ...parcel, lineItems }, now),
    (plan): ShipmentPlan => ({ ...plan, path: ["confirmed", ...plan.path] })
  )
}

export const pathToEnd = (goods: OrderGoods): ReadonlyArray<OrderStatus> =>
  goods.paid && goods.lines.every((line) => openUnits(line) === 0) ? pathOf(goods, []) : []

/** All open units. 422 INVALID_TRANSITION while some of them wait for stock. */
export const planRest = (goods: OrderGoods, now: Date): Result.Result<ShipmentPlan | undefined, InvalidTransition> => {
  if (goods.lines.some(({ backordered }) => backordered > 0)) {
    return Result.fail(
      InvalidTransition.of("Units of the order wait for stock. Hand over the others by a fulfillment.")
    )
  }
  const taken = goods.lines.flatMap((line) => (openUnits(line) > 0 ? [{ line, quantity: openUnits(line) }] : []))
  return Result.succeed(taken.length === 0 ? undefined : planOf(goods, taken, { status: "fulfilled" }, now))
}
