import { Context, DateTime, Effect, Layer, Result, Struct } from "effect"
import { chosenMetadata, isSameLine, itemLabel, Line, mergedLine } from "../carts/Line.ts"
import { EntityNotFound } from "../catalog/Entity.ts"
import type { HoldChange, UnitsShort } from "../inventory/StockRules.ts"
import { type Order, type OrderLine, OrderNotFound, type StoredOrder } from "../orders/Order.ts"
import { Orders } from "../orders/Orders.ts"
import { shownOrder } from "../orders/ShownOrder.ts"
import { noPayment } from "../orders/Tender.ts"
import { addressIn } from "../platform/addresses/PostalAddress.ts"
import type { CheckoutFailed, Conflict, NotFound, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { conflict, invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import type { OrderId, OrderLineId } from "../platform/ids/Id.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import { type LineChange, type LineRequest, maxOrderLines } from "./Checkout.ts"
import { CheckoutPricing } from "./CheckoutPricing.ts"
import { type EditedOrder, type OrderEdit, OrderEditRepo } from "./OrderEditRepo.ts"
import { orderLineOf } from "./PendingOrder.ts"
import {
  type Agreement,
  appliedIn,
  type BasketLine,
  type ClaimedLine,
  mayWait,
  type PricedCart,
  shippedBy,
  totalsOf
} from "./PricedCart.ts"
import { agreementOf, Quotes, requireMoney } from "./Quotes.ts"

class LineNotFound extends notFound("OrderLine", "Line not found.") {}
class OrderFull extends invalid(
  "OrderFull",
  "",
  (most: number) => `An order can have at most ${most} lines. Remove one, or create another order.`,
  "too_many_lines"
) {}
class LastLine
  extends invalid("LastLine", "lineId", "is the last line of the order. Cancel the order instead.", "last_line")
{}
class InsufficientStock extends invalid(
  "InsufficientStock",
  "quantity",
  (item: string, available: number, requested: number) =>
    `quantity must be at most ${available}, which is left of ${item}, and is ${requested}.`,
  "insufficient_stock"
) {}
class OrderBusy
  extends conflict("OrderBusy", "The order is being changed by other requests. Try again.", { retryable: true })
{}
class OrderNotPending extends conflict(
  "OrderNotPending",
  (status: string) => `The order is ${status}: only pending orders can be edited.`
) {}
class OrderImported extends conflict(
  "OrderImported",
  "The order was placed in another system: its lines cannot be edited."
) {}
class PaymentBegun extends conflict(
  "PaymentBegun",
  "The payment of the order has begun: its lines cannot be edited any more."
) {}

interface EditedLines extends Pick<OrderEdit, "hold"> {
  readonly lines: ReadonlyArray<BasketLine>
}

const manualDiscountOf = ({ metadata, totalPrice }: OrderLine): number => {
  const { manualDiscount } = metadata
  return typeof manualDiscount === "number" && Number.isSafeInteger(manualDiscount)
    ? Math.min(Math.max(0, manualDiscount), totalPrice)
    : 0
}

const existingLine = (line: OrderLine, snapshot: ClaimedLine | undefined): BasketLine => ({
  ...Struct.pick(line, Struct.keys(Line.fields)),
  metadata: chosenMetadata(line),
  available: true,
  categorySlugs: snapshot?.categorySlugs ?? [],
  weightGrams: snapshot?.weightGrams ?? 0,
  taxClass: snapshot?.taxClass ?? null,
  taxClassId: snapshot?.taxClassId ?? null,
  counted: snapshot?.counted ?? true,
  backorders: snapshot?.backorders ?? 0,
  agreed: {
    lineId: line.id,
    unitPrice: line.unitPrice,
    isCustomPrice: line.isCustomPrice,
    discount: manualDiscountOf(line),
    priceSteps: line.priceSteps
  }
})

/** A line that is not counted takes nothing more; what it holds from when it was counted it gives back. */
const holdOf = (
  order: Order,
  { backorders, counted, entityId, variantId }: BasketLine,
  units: number
): HoldChange => ({
  orderId: order.id,
  entityId,
  sellable: variantId ?? entityId,
  units: counted ? units : Math.min(0, units),
  backorders
})

const withLine = (
  order: Order,
  lines: ReadonlyArray<BasketLine>,
  line: BasketLine,
  most: number
): Result.Result<EditedLines, OrderFull> => {
  const isSame = (one: BasketLine) =>
    line.agreed === undefined && one.agreed?.isCustomPrice !== true && isSameLine(one, line)
  const hold = holdOf(order, line, line.quantity)
  // Only one of several equal lines: the hold grows once.
  const same = lines.find(isSame)
  if (same === undefined && lines.length >= most) return Result.fail(new OrderFull(most))
  if (same === undefined) return Result.succeed({ lines: [...lines, line], hold })
  const more = (one: BasketLine): BasketLine => ({
    ...mergedLine(one, line),
    available: line.available,
    agreed: one.agreed && { ...one.agreed, unitPrice: undefined, priceSteps: undefined }
  })
  return Result.succeed({ lines: lines.map((one) => (one === same ? more(one) : one)), hold })
}

/** A catalog price is resolved again for a new quantity. */
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
    priceSteps: isCustomPrice === true || previous === undefined ? undefined : before.priceSteps,
    discount: discountAmount === undefined ? before.discount : discountAmount ?? 0
  }
}

const withoutLine = (
  order: Order,
  lines: ReadonlyArray<BasketLine>,
  lineId: OrderLineId
): Result.Result<EditedLines, NotFound | ValidationFailed> => {
  const removed = lines.find((one) => one.agreed?.lineId === lineId)
  if (removed === undefined) return Result.fail(new LineNotFound())
  if (lines.length === 1) return Result.fail(new LastLine())
  const remaining = lines.filter((one) => one !== removed)
  const hold = holdOf(order, removed, -removed.quantity)
  return Result.succeed({ lines: remaining, hold })
}

const changedLine = (
  order: Order,
  lines: ReadonlyArray<BasketLine>,
  lineId: OrderLineId,
  change: LineChange,
  given: Agreement | undefined
): Result.Result<EditedLines | undefined, NotFound> => {
  const before = lines.find((one) => one.agreed?.lineId === lineId)
  if (before?.agreed === undefined) return Result.fail(new LineNotFound())
  const quantity = change.quantity ?? before.quantity
  const agreed = changedAgreement(before.agreed, change, given, quantity === before.quantity)
  const { discount, isCustomPrice, unitPrice } = before.agreed
  const { notes = before.notes } = change
  const isSame = quantity === before.quantity && notes === before.notes && agreed.discount === discount &&
    agreed.isCustomPrice === isCustomPrice && agreed.unitPrice === unitPrice
  if (isSame) return Result.succeed(undefined)
  return Result.succeed({
    lines: lines.map((one) => (one === before ? { ...one, quantity, notes, agreed } : one)),
    hold: holdOf(order, before, quantity - before.quantity)
  })
}

const isText = (value: unknown): value is string => typeof value === "string"

const textsAt = ({ metadata }: Order, key: string): ReadonlyArray<string> | undefined => {
  const value = metadata[key]
  return Array.isArray(value) ? value.filter(isText) : undefined
}

const editedOrder = (order: Order, pricedCart: PricedCart, updatedAt: Date): Order =>
  // An order whose payment has begun cannot be edited.
  shownOrder({
    ...order,
    ...totalsOf(pricedCart),
    metadata: { ...order.metadata, appliedPromotions: appliedIn(pricedCart), ...shippedBy(pricedCart) },
    updatedAt,
    lineItems: pricedCart.lines.map((line) => orderLineOf(order.id, line))
  }, noPayment)

const maxAttempts = 8

/**
 * Edits the lines of unpaid orders (contract §4.4). Unchanged lines keep their prices; promotions, shipping and tax are
 * priced again. Fails with 403, 404, 409 or 422.
 */
export class OrderEdits extends Context.Service<OrderEdits>()("stoa/domain/checkout/OrderEdits", {
  make: Effect.gen(function*() {
    const [quotes, pricing, orders, repo] = yield* Effect.all([Quotes, CheckoutPricing, Orders, OrderEditRepo])
    const maxLines = Math.max(maxOrderLines, (yield* StoreSettings).cartMaxLines)

    const read = Effect.fnUntraced(function*(orderId: OrderId) {
      const state = yield* repo.find(orderId)
      const stored = yield* orders.find(orderId)
      if (state === undefined || stored === undefined) return yield* new OrderNotFound()
      yield* editable(stored)
      return { state, order: stored.order }
    })

    const price = Effect.fnUntraced(function*(order: Order, state: EditedOrder, { lines, ...edited }: EditedLines) {
      const { email, revision, used } = state
      const basket = {
        currency: order.currency,
        customerId: order.customerId,
        customerGroupIds: textsAt(order, "customerGroupIds") ?? state.customerGroupIds,
        email,
        secretHash: "",
        lines,
        used,
        taxExemption: order.taxExemption
      }
      const { metadata } = order
      const request = {
        promotionCodes: textsAt(order, "promotionCodes") ?? [],
        shippingAddress: addressIn(order.shippingAddress),
        shippingRateId: isText(metadata["shippingRateId"]) ? metadata["shippingRateId"] : null,
        metadata
      }
      const pricedCart = yield* pricing.price(basket, request, null)
      const after = editedOrder(order, pricedCart, DateTime.toDateUtc(yield* DateTime.now))
      return { ...edited, before: order, after, revision, pricedCart, used } satisfies OrderEdit
    })

    const edit = Effect.fnUntraced(function*(
      orderId: OrderId,
      rule: (
        order: Order,
        lines: ReadonlyArray<BasketLine>
      ) => Result.Result<EditedLines | undefined, NotFound | ValidationFailed>
    ) {
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const { order, state } = yield* read(orderId)
        const lines = order.lineItems.map((line, index) => existingLine(line, state.snapshots[index]))
        const edited = yield* Effect.fromResult(rule(order, lines))
        if (edited === undefined) return order
        const priced = yield* price(order, state, edited)
        const written = yield* Effect.mapError(repo.write(priced), (error) => refusal(error, priced))
        if (written) return mayWait(priced.pricedCart) ? (yield* read(orderId)).order : priced.after
      }
      return yield* new OrderBusy()
    })

    const addLine = Effect.fn("OrderEdits.addLine")(function*(orderId: OrderId, request: LineRequest) {
      const [line] = yield* quotes.linesOf([request])
      if (line === undefined) return yield* new EntityNotFound()
      return yield* edit(orderId, (order, lines) => withLine(order, lines, line, maxLines))
    })

    const changeLine = Effect.fn("OrderEdits.changeLine")(
      function*(orderId: OrderId, lineId: OrderLineId, change: LineChange) {
        if (change.isCustomPrice !== undefined || change.discountAmount !== undefined) yield* requireMoney
        const agreed = yield* agreementOf(change, "")
        return yield* edit(orderId, (order, lines) => changedLine(order, lines, lineId, change, agreed))
      }
    )

    /** 422 for the last line: cancel the order instead. */
    const removeLine = Effect.fn("OrderEdits.removeLine")((orderId: OrderId, lineId: OrderLineId) =>
      edit(orderId, (order, lines) => withoutLine(order, lines, lineId))
    )

    return { addLine, changeLine, removeLine }
  })
}) {
  static readonly layer = Layer.effect(OrderEdits, OrderEdits.make)
}

const editable = ({ order, paymentClaimId }: StoredOrder): Effect.Effect<void, Conflict> => {
  if (order.status !== "pending") return Effect.fail(new OrderNotPending(order.status))
  // The system that sold an imported order owns its prices and stock.
  if (order.importedAt !== undefined) return Effect.fail(new OrderImported())
  return order.paymentIntentId === null && paymentClaimId === null && order.amountCaptured === null
    ? Effect.void
    : Effect.fail(new PaymentBegun())
}

const refusal = (
  error: CheckoutFailed | UnitsShort,
  { hold, pricedCart }: OrderEdit
): CheckoutFailed | ValidationFailed => {
  if (error._tag !== "UnitsShort") return error
  const line = pricedCart.lines.find(({ entityId, variantId }) => (variantId ?? entityId) === hold.sellable)
  return new InsufficientStock(itemLabel(line ?? { title: hold.sellable }), error.available, error.requested)
}
