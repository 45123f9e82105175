import { Option, Result, Schema } from "effect"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { AuditedType } from "../events/Event.ts"
import type { HoldChange } from "../inventory/HoldChange.ts"
import type { Order, OrderLine } from "../orders/Order.ts"
import type { Agreement, BasketLine, ClaimedLine } from "./Basket.ts"
import { type PricedCart, ShippingAddress, totalsOf } from "./Checkout.ts"
import type { LineChange } from "./ManualOrder.ts"
import { appliedIn, orderLineOf, shippedBy } from "./PendingOrder.ts"

/** The edited lines of an order, the kind of edit and the change of its hold. */
export interface EditedLines {
  readonly type: Extract<AuditedType, `orders.${string}Line`>
  readonly lines: ReadonlyArray<BasketLine>
  readonly hold: HoldChange
}

/** The discount by staff in the line's metadata, limited to the line's total; else 0. */
const manualDiscountOf = ({ metadata, totalPrice }: OrderLine): number => {
  const { manualDiscount } = metadata
  return typeof manualDiscount === "number" && Number.isSafeInteger(manualDiscount)
    ? Math.min(Math.max(0, manualDiscount), totalPrice)
    : 0
}

/** An existing line with the price and title of its order, independent of the current catalog. */
export const existingLine = (line: OrderLine, snapshot: ClaimedLine | undefined): BasketLine => ({
  entityId: line.entityId,
  variantId: line.variantId,
  quantity: line.quantity,
  entityType: line.entityType,
  available: true,
  title: line.title,
  sku: line.sku,
  categorySlugs: snapshot?.categorySlugs ?? [],
  weightGrams: snapshot?.weightGrams ?? 0,
  taxClass: snapshot?.taxClass ?? null,
  agreed: {
    lineId: line.id,
    unitPrice: line.unitPrice,
    isCustomPrice: line.isCustomPrice,
    discount: manualDiscountOf(line)
  }
})

const holdOf = (order: Order, { entityId, variantId }: BasketLine, units: number): HoldChange => ({
  orderId: order.id,
  entityId,
  sellable: variantId ?? entityId,
  units
})

/** Adds a line, or its quantity to an equal line at the catalog price, as in a cart. */
export const withLine = (order: Order, lines: ReadonlyArray<BasketLine>, line: BasketLine): EditedLines => {
  const isSame = (one: BasketLine) =>
    line.agreed === undefined && one.agreed?.isCustomPrice !== true && one.entityId === line.entityId &&
    one.variantId === line.variantId
  const hold = holdOf(order, line, line.quantity)
  // Only one of several equal lines: the hold grows once.
  const same = lines.find(isSame)
  if (same === undefined) return { type: "orders.addLine", lines: [...lines, line], hold }
  const more = (one: BasketLine): BasketLine => ({
    ...one,
    available: line.available,
    quantity: one.quantity + line.quantity,
    agreed: one.agreed && { ...one.agreed, unitPrice: undefined }
  })
  return { type: "orders.changeLine", lines: lines.map((one) => (one === same ? more(one) : one)), hold }
}

/** The previous agreement with the change. A catalog price is resolved again for a new quantity. */
const changedAgreement = (
  before: Agreement,
  { discountAmount, isCustomPrice }: LineChange,
  given: Agreement | undefined,
  sameQuantity: boolean
): Agreement => {
  const custom = isCustomPrice ?? before.isCustomPrice
  const previous = custom === before.isCustomPrice && (custom || sameQuantity) ? before.unitPrice : undefined
  return {
    lineId: before.lineId,
    isCustomPrice: custom,
    unitPrice: isCustomPrice === true ? given?.unitPrice : previous,
    discount: discountAmount === undefined ? before.discount : discountAmount ?? 0
  }
}

/** Removes a line; 404 for an unknown line, 422 for the last one. */
export const withoutLine = (
  order: Order,
  lines: ReadonlyArray<BasketLine>,
  lineId: string
): Result.Result<EditedLines, NotFound | ValidationFailed> => {
  const removed = lines.find((one) => one.agreed?.lineId === lineId)
  if (removed === undefined) return Result.fail(NotFound.of("Line not found."))
  if (lines.length === 1) {
    return Result.fail(
      ValidationFailed.of("lineId", "is the last line: cancel the order instead", "last_line")
    )
  }
  const remaining = lines.filter((one) => one !== removed)
  const hold = holdOf(order, removed, -removed.quantity)
  return Result.succeed({ type: "orders.removeLine", lines: remaining, hold })
}

/** Changes a line; undefined when nothing changes, 404 for an unknown line. */
export const changedLine = (
  order: Order,
  lines: ReadonlyArray<BasketLine>,
  lineId: string,
  change: LineChange,
  given: Agreement | undefined
): Result.Result<EditedLines | undefined, NotFound> => {
  const before = lines.find((one) => one.agreed?.lineId === lineId)
  if (before?.agreed === undefined) return Result.fail(NotFound.of("Line not found."))
  const quantity = change.quantity ?? before.quantity
  const agreed = changedAgreement(before.agreed, change, given, quantity === before.quantity)
  const { discount, isCustomPrice, unitPrice } = before.agreed
  const isSame = quantity === before.quantity && agreed.discount === discount &&
    agreed.isCustomPrice === isCustomPrice && agreed.unitPrice === unitPrice
  if (isSame) return Result.succeed(undefined)
  return Result.succeed({
    type: "orders.changeLine",
    lines: lines.map((one) => (one === before ? { ...one, quantity, agreed } : one)),
    hold: holdOf(order, before, quantity - before.quantity)
  })
}

const isText = (value: unknown): value is string => typeof value === "string"

const textsAt = ({ metadata }: Order, key: string): ReadonlyArray<string> | undefined => {
  const value = metadata[key]
  return Array.isArray(value) ? value.filter(isText) : undefined
}

/** The promotion codes of the order. */
export const codesOf = (order: Order): ReadonlyArray<string> => textsAt(order, "promotionCodes") ?? []

/** The customer groups that staff set for the order; undefined: those of its customer. */
export const groupsOf = (order: Order): ReadonlyArray<string> | undefined => textsAt(order, "customerGroupIds")

/** The chosen shipping rate of the order; null without a choice. */
export const rateOf = ({ metadata: { shippingRateId } }: Order): string | null =>
  isText(shippingRateId) ? shippingRateId : null

const decodeAddress = Schema.decodeUnknownOption(ShippingAddress)

/** The order's address; null when it is not usable for pricing. */
export const addressOf = ({ shippingAddress }: Order): ShippingAddress | null =>
  Option.getOrNull(decodeAddress(shippingAddress))

/** The order with its new prices; it keeps other metadata. */
export const editedOrder = (order: Order, pricedCart: PricedCart, updatedAt: Date): Order => ({
  ...order,
  ...totalsOf(pricedCart),
  metadata: { ...order.metadata, appliedPromotions: appliedIn(pricedCart), ...shippedBy(pricedCart) },
  updatedAt,
  lineItems: pricedCart.lines.map((line) => {
    const { manualDiscount: _, ...metadata } = order.lineItems.find(({ id }) => id === line.id)?.metadata ?? {}
    const edited = orderLineOf(order.id, line)
    return { ...edited, metadata: { ...metadata, ...edited.metadata } }
  })
})
