import { Option, Result, Schema } from "effect"
import { NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { AuditedType } from "../events/Event.ts"
import type { HoldChange } from "../inventory/HoldChange.ts"
import type { Order, OrderLine } from "../orders/Order.ts"
import type { Agreement, BasketLine, ClaimedLine } from "./Basket.ts"
import { type PricedCart, ShippingAddress } from "./Checkout.ts"
import type { LineChange } from "./ManualOrder.ts"
import { appliedIn, orderLineOf, shippedBy } from "./PendingOrder.ts"

/** The lines of an order as an edit wants them, what kind of edit it is, and what the order holds more or less by it. */
export interface EditedLines {
  readonly type: Extract<AuditedType, `orders.${string}Line`>
  readonly lines: ReadonlyArray<BasketLine>
  readonly hold: HoldChange
}

/** What an order has on a line beside the catalog's price; of a line that nobody wrote by hand, nothing. */
const manualDiscountOf = ({ metadata, totalPrice }: OrderLine): number => {
  const { manualDiscount } = metadata
  return typeof manualDiscount === "number" && Number.isSafeInteger(manualDiscount)
    ? Math.min(Math.max(0, manualDiscount), totalPrice)
    : 0
}

/** A line as it stands: at its price, and under its name, whatever has become of the thing in the catalog since. */
export const standingLine = (line: OrderLine, thing: ClaimedLine | undefined): BasketLine => ({
  entityId: line.entityId,
  variantId: line.variantId,
  quantity: line.quantity,
  entityType: line.entityType,
  available: true,
  title: line.title,
  sku: line.sku,
  categorySlugs: thing?.categorySlugs ?? [],
  weightGrams: thing?.weightGrams ?? 0,
  taxClass: thing?.taxClass ?? null,
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

/** One more line, or more units of the line that has the same thing at the catalog's price, as in a cart. */
export const withLine = (order: Order, lines: ReadonlyArray<BasketLine>, line: BasketLine): EditedLines => {
  const isSame = (one: BasketLine) =>
    line.agreed === undefined && one.agreed?.isCustomPrice !== true && one.entityId === line.entityId &&
    one.variantId === line.variantId
  const hold = holdOf(order, line, line.quantity)
  // One of them where there are several: what is held grows once.
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

/** What was agreed before, with what the change says of it. A price of the catalog is asked anew for a new quantity. */
const changedAgreement = (
  before: Agreement,
  { discountAmount, isCustomPrice }: LineChange,
  given: Agreement | undefined,
  sameQuantity: boolean
): Agreement => {
  const custom = isCustomPrice ?? before.isCustomPrice
  const kept = custom === before.isCustomPrice && (custom || sameQuantity) ? before.unitPrice : undefined
  return {
    lineId: before.lineId,
    isCustomPrice: custom,
    unitPrice: isCustomPrice === true ? given?.unitPrice : kept,
    discount: discountAmount === undefined ? before.discount : discountAmount ?? 0
  }
}

/** The lines without one of them; 404 for an unknown one, 422 for the last. */
export const withoutLine = (
  order: Order,
  lines: ReadonlyArray<BasketLine>,
  lineId: string
): Result.Result<EditedLines, NotFound | ValidationFailed> => {
  const gone = lines.find((one) => one.agreed?.lineId === lineId)
  if (gone === undefined) return Result.fail(NotFound.of("Line not found."))
  if (lines.length === 1) {
    return Result.fail(
      ValidationFailed.of("lineId", "is the last line: cancel the order instead", "last_line")
    )
  }
  const left = lines.filter((one) => one !== gone)
  return Result.succeed({ type: "orders.removeLine", lines: left, hold: holdOf(order, gone, -gone.quantity) })
}

/** The lines with one of them changed; undefined when it is so already, 404 for an unknown one. */
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

/** The codes that were given with the order. */
export const codesOf = (order: Order): ReadonlyArray<string> => textsAt(order, "promotionCodes") ?? []

/** The groups that staff named for the order; undefined: those of its customer. */
export const groupsOf = (order: Order): ReadonlyArray<string> | undefined => textsAt(order, "customerGroupIds")

/** The rate of shipping that was chosen for the order; null: whichever fits. */
export const rateOf = ({ metadata: { shippingRateId } }: Order): string | null =>
  isText(shippingRateId) ? shippingRateId : null

const decodeAddress = Schema.decodeUnknownOption(ShippingAddress)

/** Where the order goes; null when nobody said so in a form that prices go by. */
export const addressOf = ({ shippingAddress }: Order): ShippingAddress | null =>
  Option.getOrNull(decodeAddress(shippingAddress))

/** The order with what was decided for it anew. What else its metadata say stays. */
export const editedOrder = (order: Order, pricedCart: PricedCart, updatedAt: Date): Order => ({
  ...order,
  subtotal: pricedCart.subtotal,
  discountTotal: pricedCart.discountTotal,
  taxTotal: pricedCart.taxTotal,
  taxIncluded: pricedCart.taxIncluded ?? false,
  shippingTotal: pricedCart.shippingTotal,
  grandTotal: pricedCart.grandTotal,
  metadata: { ...order.metadata, appliedPromotions: appliedIn(pricedCart), ...shippedBy(pricedCart) },
  updatedAt,
  lineItems: pricedCart.lines.map((line) => {
    const { manualDiscount: _, ...kept } = order.lineItems.find(({ id }) => id === line.id)?.metadata ?? {}
    const edited = orderLineOf(order.id, line)
    return { ...edited, metadata: { ...kept, ...edited.metadata } }
  })
})
