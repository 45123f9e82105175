import { Result, Schema, Struct } from "effect"
import { Quantity, ShownItem } from "../carts/Line.ts"
import type { OrderStatus } from "../orders/OrderStatus.ts"
import { GivenOutside } from "../orders/RefundTable.ts"
import { conflict, invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import {
  EntityId,
  OrderId,
  OrderLineId,
  OrganizationId,
  RefundId,
  ReturnId,
  VariantId,
  WarehouseId
} from "../platform/ids/Id.ts"
import { Units } from "../platform/text/Fields.ts"
import { FreeText, keyText, ofForm, PictureUrl, Reference } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

export const ReturnStatus = Schema.Literals([
  "requested",
  "approved",
  "rejected",
  "received",
  "refunded",
  "exchanged",
  "cancelled"
]).annotate({
  description:
    "The store approves or rejects a requested return, receives the goods, then refunds or exchanges them. cancelled: by the " +
    "buyer or the store, before the goods came."
})
export type ReturnStatus = typeof ReturnStatus.Type

export const Disposition = Schema.Literals(["restock", "scrap"]).annotate({
  description: "restock: the units can be sold again. scrap: they are written off.",
  examples: ["restock"]
})

const ReceivedUnits = Schema.Struct({
  quantity: Schema.Int,
  disposition: Disposition,
  warehouseId: Schema.NullOr(WarehouseId).annotate({ description: "Warehouse that the units came back to." })
}).annotate({ identifier: "ReceivedUnits" })

export const ReturnLine = Schema.Struct({
  lineItemId: OrderLineId,
  ...Struct.pick(ShownItem.fields, ["title", "variantTitle", "sku"]),
  quantity: Schema.Int.annotate({ description: "Units that were asked for." }),
  reason: Schema.NullOr(Schema.String),
  receivedQuantity: Schema.Int.annotate({ description: "Units that came back; only these are refunded." }),
  received: Schema.Array(ReceivedUnits).annotate({ description: "Units that came back, by what became of them." })
}).annotate({ identifier: "ReturnLine" })
export type ReturnLine = typeof ReturnLine.Type

/** Goods of an order on their way back (contract-commerce §12). */
export const Return = Schema.Struct({
  id: ReturnId,
  organizationId: OrganizationId,
  orderId: OrderId,
  number: Schema.String.annotate({
    description: "The number of the order with the place of the return among its returns.",
    examples: ["ORD-2026-000042-R1"]
  }),
  status: ReturnStatus,
  lines: Schema.Array(ReturnLine),
  photos: Schema.Array(Schema.String),
  rejectionReason: Schema.NullOr(Schema.String).annotate({
    description: "Sentence for the buyer; null: it was not rejected."
  }),
  instructions: Schema.NullOr(Schema.String).annotate({ description: "How to send the goods back." }),
  labelUrl: Schema.NullOr(Schema.String).annotate({ description: "Address of the label of the parcel." }),
  refundId: Schema.NullOr(RefundId).annotate({ description: "The refund of its goods; an exchange has one too." }),
  replacementOrderId: Schema.NullOr(OrderId).annotate({ description: "The order that its goods were exchanged for." }),
  requestedBy: Schema.NullOr(Schema.String).annotate({ description: "The login that asked for it." }),
  receivedAt: Schema.NullOr(Time),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Return" })
export type Return = typeof Return.Type

const maxLines = 1_000

const Reason = FreeText.check(Schema.isMaxLength(2_000))

export const NewReturn = Schema.Struct({
  lines: Schema.Array(Schema.Struct({
    lineItemId: OrderLineId,
    quantity: Units,
    reason: Schema.optional(Reason.annotate({ description: "Why it comes back.", examples: ["Too small"] }))
  })).check(Schema.isBetweenLength(1, maxLines)),
  photos: Schema.optional(
    Schema.Array(PictureUrl).check(Schema.isMaxLength(10)).annotate({
      description: "Addresses of pictures of the goods, for example of a damage."
    })
  )
}).annotate({ identifier: "NewReturn" })
export type NewReturn = typeof NewReturn.Type

export const Approval = Schema.Struct({
  instructions: Schema.optional(
    keyText(10_000).annotate({ description: "How to send the goods back, for the buyer.", examples: ["Use the box."] })
  ),
  labelUrl: Schema.optional(
    Reference.check(ofForm(/^https?:\/\/\S+$/, "an address that begins with http or https")).annotate({
      description: "Address of the label of the parcel, for the buyer."
    })
  )
}).annotate({ identifier: "ReturnApproval" })
export type Approval = typeof Approval.Type

export const Rejection = Schema.Struct({
  reason: Reason.check(Schema.isMinLength(1)).annotate({
    description: "Why the goods are not taken back, for the buyer.",
    examples: ["The seal is broken."]
  })
}).annotate({ identifier: "ReturnRejection" })

export const Receipt = Schema.Struct({
  lines: Schema.Array(Schema.Struct({
    lineItemId: OrderLineId,
    quantity: Units,
    disposition: Disposition,
    warehouseId: Schema.optional(
      WarehouseId.annotate({ description: "Where to restock them. Default: the warehouse that they left." })
    )
  })).check(Schema.isBetweenLength(1, maxLines)).annotate({
    description: "Units that came back; fewer than were asked for is possible, and a line may be named twice."
  })
}).annotate({ identifier: "ReturnReceipt" })
export type Receipt = typeof Receipt.Type

export const ReturnRefund = Schema.Struct({
  givenOutside: Schema.optional(
    GivenOutside.pipe(about("The money was given back another way: no provider is asked."))
  )
}).annotate({ identifier: "ReturnRefund" })
export type ReturnRefund = typeof ReturnRefund.Type

export const ReturnExchange = Schema.Struct({
  lines: Schema.Array(Schema.Struct({
    entityId: EntityId,
    variantId: Schema.optional(Schema.NullOr(VariantId)),
    quantity: Quantity
  })).check(Schema.isBetweenLength(1, maxLines)).annotate({
    description: "Goods of the new order, at their price now."
  }),
  givenOutside: Schema.optional(
    GivenOutside.pipe(
      about("What is left of the worth of the returned goods was given back another way: no provider is asked.")
    )
  )
}).annotate({ identifier: "ReturnExchange" })
export type ReturnExchange = typeof ReturnExchange.Type

/** Where each step begins and ends (contract-commerce §12). */
const steps = {
  approve: { from: ["requested"], to: "approved" },
  reject: { from: ["requested"], to: "rejected" },
  cancel: { from: ["requested", "approved"], to: "cancelled" },
  receive: { from: ["approved"], to: "received" },
  refund: { from: ["received"], to: "refunded" },
  exchange: { from: ["received"], to: "exchanged" }
} as const satisfies Record<string, { readonly from: ReadonlyArray<ReturnStatus>; readonly to: ReturnStatus }>
export type ReturnStep = keyof typeof steps

export class ReturnNotFound extends notFound("Return", "Return not found.") {}
class WrongStep extends conflict(
  "ReturnStepRefused",
  (step: ReturnStep, status: ReturnStatus, from: ReadonlyArray<ReturnStatus>) =>
    `The return is ${status}. Only a return that is ${from.join(" or ")} can take the step "${step}".`
) {}

export const nextStatus = (step: ReturnStep, status: ReturnStatus): Result.Result<ReturnStatus, WrongStep> => {
  const { from, to } = steps[step]
  return from.some((one) => one === status) ? Result.succeed(to) : Result.fail(new WrongStep(step, status, from))
}

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
