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
  groupsOf,
  rateOf,
  standingLine,
  withLine,
  withoutLine
} from "./OrderEditRules.ts"

/** Why an order stays as it is: 403, 404, 409 or 422. */
export type OrderEditError = BasketError | CheckoutFailed | Conflict

/** How often an edit is decided anew because others edit the same order. */
const rounds = 8

/**
 * Lines of orders that nobody has paid (contract §4.4). Lines that are not touched keep the price they were sold at; a
 * new line, and one whose quantity changes, has the price of today. Promotions, shipping and tax are decided anew for the
 * whole order. Of edits at the same time none is lost: each is decided on what the one before left.
 */
export class OrderEdits extends Context.Service<OrderEdits, {
  /** Puts a thing in; one that is there at the catalog's price gets more units. */
  readonly addLine: (orderId: string, request: LineRequest) => Effect.Effect<Order, OrderEditError, CurrentActor>
  readonly changeLine: (
    orderId: string,
    lineId: string,
    change: LineChange
  ) => Effect.Effect<Order, OrderEditError, CurrentActor>
  /** 422 for the last line: an order of nothing is cancelled, not edited. */
  readonly removeLine: (orderId: string, lineId: string) => Effect.Effect<Order, OrderEditError, CurrentActor>
}>()("stoa/domain/checkout/OrderEdits") {
  static readonly layer = Layer.effect(
    OrderEdits,
    Effect.gen(function*() {
      const [baskets, pricing, orders, repo] = yield* Effect.all([Baskets, CheckoutPricing, Orders, OrderEditRepo])

      /** Revision first and record after it: what is older than the record is found out by the guard. */
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
        for (let round = 0; round < rounds; round++) {
          const { order, state } = yield* read(orderId)
          const standing = order.lineItems.map((line, index) => standingLine(line, state.things[index]))
          const wanted = yield* Effect.fromResult(rule(order, standing))
          if (wanted === undefined) return order
          const decided = yield* price(order, state, wanted)
          const written = yield* Effect.mapError(repo.write(decided), refusal)
          if (written) return decided.after
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

/** Decides the whole order anew, with the lines as the edit wants them. */
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
  // An edit prices the order anew and reserves its stock, which is the matter of the system that sold it.
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
