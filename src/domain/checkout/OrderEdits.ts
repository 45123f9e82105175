import { Context, DateTime, Effect, Layer, Result } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { type CheckoutFailed, Conflict, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import type { UnitsShort } from "../inventory/HoldChange.ts"
import type { Order, StoredOrder } from "../orders/Order.ts"
import { Orders } from "../orders/Orders.ts"
import type { BasketLine } from "./Basket.ts"
import { agreementOf, type BasketError, Baskets, requireMoney } from "./Baskets.ts"
import { CheckoutPricing } from "./CheckoutPricing.ts"
import type { LineChange, LineRequest } from "./ManualOrder.ts"
import { type EditedOrder, type OrderEdit, OrderEditRepo } from "./OrderEditRepo.ts"
import {
  addressOf,
  changedLine,
  codesOf,
  type EditedLines,
  editedOrder,
  existingLine,
  groupsOf,
  rateOf,
  withLine,
  withoutLine
} from "./OrderEditRules.ts"

/** Reasons why an edit fails: 403, 404, 409 or 422. */
export type OrderEditError = BasketError | CheckoutFailed | Conflict

const maxAttempts = 8

/**
 * Edits the lines of unpaid orders (contract §4.4). Unchanged lines keep their prices; a new line or quantity takes the
 * current price. Promotions, shipping and tax are priced again for the full order. Concurrent edits apply one after
 * another.
 */
export class OrderEdits extends Context.Service<OrderEdits, {
  /** Adds a line, or its quantity to an equal line at the catalog price. */
  readonly addLine: (orderId: string, request: LineRequest) => Effect.Effect<Order, OrderEditError, CurrentActor>
  readonly changeLine: (
    orderId: string,
    lineId: string,
    change: LineChange
  ) => Effect.Effect<Order, OrderEditError, CurrentActor>
  /** 422 for the last line: cancel the order instead. */
  readonly removeLine: (orderId: string, lineId: string) => Effect.Effect<Order, OrderEditError, CurrentActor>
}>()("stoa/domain/checkout/OrderEdits") {
  static readonly layer = Layer.effect(
    OrderEdits,
    Effect.gen(function*() {
      const [baskets, pricing, orders, repo] = yield* Effect.all([Baskets, CheckoutPricing, Orders, OrderEditRepo])

      /** Reads the revision before the order: an order that is newer than its revision fails the guard of `write`. */
      const read = Effect.fnUntraced(function*(orderId: string) {
        const state = yield* repo.find(orderId)
        const stored = yield* orders.find(orderId)
        if (state === undefined || stored === undefined) return yield* NotFound.of("Order not found.")
        yield* editable(stored)
        return { state, order: stored.order }
      })

      const price = pricer(pricing)

      const edit = Effect.fnUntraced(function*(
        orderId: string,
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
          const written = yield* Effect.mapError(repo.write(priced), refusal)
          if (written) return priced.after
        }
        return yield* Conflict.of("The order is being changed by other requests. Try again.")
      })

      const addLine = Effect.fn("OrderEdits.addLine")(function*(orderId: string, request: LineRequest) {
        const [line] = yield* baskets.ofLines([request])
        if (line === undefined) return yield* NotFound.of("Catalog entity not found.")
        return yield* edit(orderId, (order, lines) => Result.succeed(withLine(order, lines, line)))
      })

      const changeLine = Effect.fn("OrderEdits.changeLine")(
        function*(orderId: string, lineId: string, change: LineChange) {
          if (change.isCustomPrice !== undefined || change.discountAmount !== undefined) yield* requireMoney
          const agreed = yield* agreementOf(change, "")
          return yield* edit(orderId, (order, lines) => changedLine(order, lines, lineId, change, agreed))
        }
      )

      const removeLine = Effect.fn("OrderEdits.removeLine")(function*(orderId: string, lineId: string) {
        return yield* edit(orderId, (order, lines) => withoutLine(order, lines, lineId))
      })

      return { addLine, changeLine, removeLine }
    })
  )
}

/** Prices the full order with the edited lines. */
const pricer = (pricing: CheckoutPricing["Service"]) =>
  Effect.fnUntraced(function*(order: Order, state: EditedOrder, { hold, lines, type }: EditedLines) {
    const basket = {
      currency: order.currency,
      customerId: order.customerId,
      customerGroupIds: groupsOf(order) ?? state.customerGroupIds,
      email: state.email,
      secretHash: "",
      lines,
      used: state.used
    }
    const request = {
      promotionCodes: codesOf(order),
      shippingAddress: addressOf(order),
      shippingRateId: rateOf(order),
      metadata: order.metadata
    }
    const pricedCart = yield* pricing.price(basket, request, null)
    const after = editedOrder(order, pricedCart, DateTime.toDateUtc(yield* DateTime.now))
    const edit: OrderEdit = {
      type,
      before: order,
      after,
      revision: state.revision,
      pricedCart,
      used: state.used,
      hold
    }
    return edit
  })

const editable = ({ order }: StoredOrder): Effect.Effect<void, Conflict> => {
  if (order.status !== "pending") {
    return Effect.fail(Conflict.of(`The order is ${order.status}: only pending orders can be edited.`))
  }
  // The system that sold an imported order owns its prices and stock.
  if (order.importedAt !== undefined) {
    return Effect.fail(Conflict.of("The order was placed in another system: its lines cannot be edited."))
  }
  return order.paymentIntentId === null && order.amountCaptured === null
    ? Effect.void
    : Effect.fail(Conflict.of("The payment of the order has begun: its lines cannot be edited any more."))
}

const refusal = (error: CheckoutFailed | UnitsShort): CheckoutFailed | ValidationFailed =>
  error._tag === "UnitsShort"
    ? ValidationFailed.of(
      "quantity",
      `Insufficient stock. Available: ${error.available}, requested: ${error.requested}.`,
      "insufficient_stock"
    )
    : error
