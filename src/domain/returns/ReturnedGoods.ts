import { Result, Schema, Struct } from "effect"
import { ShownItem } from "../carts/Line.ts"
import type { OrderStatus } from "../orders/OrderStatus.ts"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import { EntityId, OrderId, OrderLineId, VariantId, WarehouseId } from "../platform/ids/Id.ts"
import { Time } from "../platform/text/Time.ts"
import type { NewReturn, Receipt, ReturnLine } from "./Return.ts"

/** A line of the order whose goods come back. */
const SoldLine = Schema.Struct({
  id: OrderLineId,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  entityType: Schema.String,
  ...Struct.pick(ShownItem.fields, ["title", "variantTitle", "sku"]),
  /** Units that no return asks for and that were not refunded otherwise. */
  returnable: Schema.Int,
  /** Units that are not back in stock, by a refund or another return. */
  restockable: Schema.Int,
  /** Units that are still to be handed over. */
  unsent: Schema.Int,
  /** Where the units left; else the warehouse that is asked first. */
  warehouseId: Schema.NullOr(WarehouseId)
})

export const SoldOrder = Schema.Struct({
  orderId: OrderId,
  orderNumber: Schema.String,
  status: Schema.String,
  paid: Schema.Boolean,
  placedAt: Time,
  deliveredAt: Schema.NullOr(Time),
  returns: Schema.Int,
  lines: Schema.Array(SoldLine)
})
export type SoldOrder = typeof SoldOrder.Type

const ended: ReadonlyArray<OrderStatus> = ["cancelled", "refunded"]

class NotSold extends invalid(
  "NotSold",
  "",
  (status: string) => `Goods of a paid order can be returned; this order is ${status}.`
) {}
class LineRefused extends invalid(
  "ReturnLineRefused",
  (path: string, _problem: string, _code: string) => path,
  (path, problem) => `${path} ${problem}.`,
  (_path, _problem, code) => code
) {}
class WindowOver extends invalid(
  "ReturnWindow",
  "",
  (days: number) => `The goods can be returned within ${days} days. Ask the store to take them back.`,
  "too_late"
) {}
export type ReturnRefused = NotSold | LineRefused | WindowOver

const refuse = (path: string, problem: string, code: string) => Result.fail(new LineRefused(path, problem, code))

/** Refuses shoppers who ask more than `days` after the last delivery, or after the order if nothing was sent. */
export const withinWindow = ({ deliveredAt, placedAt }: SoldOrder, days: number, now: Date) =>
  now.getTime() <= (deliveredAt ?? placedAt).getTime() + days * 86_400_000
    ? Result.void
    : Result.fail(new WindowOver(days))

/** The lines of a new return. 422 for unknown or repeated lines, too many units, and stored value. */
export const requestedLines = (
  sold: SoldOrder,
  { lines }: NewReturn,
  isStoredValue: (entityType: string) => boolean
): Result.Result<ReadonlyArray<ReturnLine>, ReturnRefused> =>
  Result.gen(function*() {
    if (!sold.paid || ended.some((status) => status === sold.status)) {
      return yield* Result.fail(new NotSold(sold.paid ? sold.status : "not paid yet"))
    }
    const known = new Map(sold.lines.map((line) => [line.id, line]))
    const asked: Array<ReturnLine> = []
    for (const [index, { lineItemId, quantity, reason = null }] of lines.entries()) {
      const line = known.get(lineItemId)
      if (line === undefined) {
        return yield* refuse(`lines.${index}.lineItemId`, "must name a line of this order, each line once", "not_found")
      }
      known.delete(lineItemId)
      if (isStoredValue(line.entityType)) {
        return yield* refuse(
          `lines.${index}.lineItemId`,
          "names stored value, such as a gift card, which cannot be returned",
          "invalid"
        )
      }
      const left = Math.max(0, line.returnable)
      if (quantity > left) {
        return yield* refuse(
          `lines.${index}.quantity`,
          `must be at most ${left}, the units that can still be returned`,
          "too_large"
        )
      }
      const { sku, title, variantTitle } = line
      asked.push({ lineItemId, title, variantTitle, sku, quantity, reason, receivedQuantity: 0, received: [] })
    }
    return asked
  })

/** The lines of a return with what came back of each. 422 for other lines, more units than asked, and unsent units. */
export const receivedLines = (
  sold: SoldOrder,
  asked: ReadonlyArray<ReturnLine>,
  { lines }: Receipt
): Result.Result<ReadonlyArray<ReturnLine>, ReturnRefused> =>
  Result.gen(function*() {
    const left = new Map(asked.map(({ lineItemId, quantity }) => [lineItemId, quantity]))
    const known = new Map(sold.lines.map((line) => [line.id, line]))
    const shelf = new Map<OrderLineId, number>()
    const received = new Map<OrderLineId, Array<ReturnLine["received"][number]>>()
    for (const [index, { disposition, lineItemId, quantity, warehouseId }] of lines.entries()) {
      const [most, line] = [left.get(lineItemId), known.get(lineItemId)]
      if (most === undefined || line === undefined) {
        return yield* refuse(`lines.${index}.lineItemId`, "must name a line of this return", "not_found")
      }
      if (quantity > most) {
        return yield* refuse(
          `lines.${index}.quantity`,
          `must be at most ${most}, the units that were asked for`,
          "too_large"
        )
      }
      if (line.unsent > 0) {
        return yield* refuse(
          `lines.${index}.lineItemId`,
          `has ${line.unsent} units that are not handed over. Record their fulfillment or refund them first`,
          "invalid"
        )
      }
      const restockable = shelf.get(lineItemId) ?? line.restockable
      if (disposition === "restock" && quantity > restockable) {
        return yield* refuse(
          `lines.${index}.quantity`,
          `must be at most ${restockable} to restock. The other units were restocked when they were refunded`,
          "too_large"
        )
      }
      if (disposition === "restock") shelf.set(lineItemId, restockable - quantity)
      const place = disposition === "scrap" ? null : warehouseId ?? line.warehouseId
      left.set(lineItemId, most - quantity)
      received.set(lineItemId, [...received.get(lineItemId) ?? [], { quantity, disposition, warehouseId: place }])
    }
    return asked.map((line) => {
      const units = received.get(line.lineItemId) ?? []
      return { ...line, received: units, receivedQuantity: units.reduce((sum, { quantity }) => sum + quantity, 0) }
    })
  })
