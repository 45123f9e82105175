import { Effect, Schema } from "effect"
import {
  type CurrencyCode,
  EntityId,
  invalid,
  newId,
  OrderId,
  OrderLineId,
  type PluginCall,
  uuid,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { approvalFor } from "./Overrides.ts"
import { Payout, payOut, requireAmount } from "./Payouts.ts"
import { PosOptions } from "./PosOptions.ts"
import {
  FeeTooHigh,
  madeBefore,
  ReturnedItem,
  returnGoods,
  rowsOfItems,
  taxesByRate,
  terminalOfShift,
  writeReturn
} from "./Returns.ts"
import { lockOpen } from "./Shifts.ts"
import { admin, placeOf, SentAmount, type Terminal, warehouseOf } from "./Terminals.ts"

class OrderNeeded extends invalid(
  "PosOrderNeeded",
  "originalOrderId",
  "originalOrderId is required: this store takes nothing back without an order (option `unlinkedReturns`).",
  "required"
) {}
class LineNeeded extends invalid(
  "PosLineNeeded",
  (at: number) => `items.${at}.originalLineItemId`,
  (at: number) => `items.${at}.originalLineItemId is required with an order, without entityId and unitPrice.`
) {}
class GoodsNeeded extends invalid(
  "PosGoodsNeeded",
  (at: number) => `items.${at}.entityId`,
  (at: number) => `items.${at}.entityId and unitPrice are required without an order, and no originalLineItemId.`
) {}
class NoPayments extends invalid(
  "PosNoPayments",
  "payment.method",
  "payment.method original needs an order, whose payments give the money back."
) {}

const { originalLineItemId: _, ...item } = ReturnedItem.fields

export const NewReturn = Schema.Struct({
  shiftId: uuid.schema,
  terminalId: uuid.schema,
  originalOrderId: Schema.optional(
    OrderId.annotate({ description: "Left out: goods without an order, with the option `unlinkedReturns`." })
  ),
  items: Schema.Array(Schema.Struct({
    originalLineItemId: Schema.optional(OrderLineId.annotate({ description: "With an order." })),
    entityId: Schema.optional(EntityId.annotate({ description: "Without an order." })),
    variantId: Schema.optional(Schema.NullOr(VariantId)),
    unitPrice: Schema.optional(
      SentAmount.annotate({
        description: "Amount that a unit gives back without an order, tax included, in minor units."
      })
    ),
    ...item
  })).check(Schema.isBetweenLength(1, 500)),
  payment: Payout
})
type NewReturn = typeof NewReturn.Type

/** Goods that come back without an order. */
type Goods = Omit<ReturnedItem, "originalLineItemId"> & {
  readonly entityId: EntityId
  readonly variantId: VariantId | null
  readonly unitPrice: number
}

/** Titles of goods, and the taxes in their prices, at the rates of now. 404, 422. */
const quoted = Effect.fnUntraced(function*(
  call: PluginCall,
  terminal: Terminal,
  currency: CurrencyCode,
  goods: ReadonlyArray<Goods>
) {
  const { asStore, services } = call
  const { grandTotal, lineItems, taxes } = yield* asStore(services.orders.quoteSold({
    currency,
    channel: "pos",
    handedOverAt: yield* placeOf(terminal, call),
    tenders: [],
    lineItems: goods.map(({ entityId, quantity, unitPrice, variantId }) => ({
      entityId,
      variantId,
      quantity,
      isCustomPrice: true,
      unitPrice
    }))
  }))
  const worth = goods.reduce((sum, { quantity, unitPrice }) => sum + quantity * unitPrice, 0)
  const share = (part: number) => grandTotal > 0 ? -Math.round(worth * part / grandTotal) : 0
  const titleOf = (one: Goods) =>
    lineItems.find(({ entityId, variantId }) => entityId === one.entityId && variantId === one.variantId)?.title
  return {
    titles: goods.map((one) => titleOf(one)?.slice(0, 255) ?? null),
    taxes: taxesByRate(taxes.map(({ amount, base, rate }) => ({ rate, net: share(base), tax: share(amount) })))
  }
})

/** Units that go back into stock at the till. */
const restock = Effect.fnUntraced(function*(
  { asStore, services: { inventory } }: PluginCall,
  id: string,
  goods: ReadonlyArray<Goods>,
  warehouseId: WarehouseId
) {
  const back = goods.filter(({ reason, restock = reason !== "defective" }) => restock)
  const counted = yield* asStore(inventory.available(back.map(({ entityId }) => entityId)))
  const lines = back.filter(({ entityId }) => counted[entityId] !== null).map(({ entityId, quantity, variantId }) => ({
    entityId,
    variantId,
    warehouseId,
    delta: quantity,
    type: "return" as const
  }))
  if (lines.length > 0) yield* asStore(inventory.post({ type: "pos.return", id }, lines))
})

/** Takes goods back that no order is known of, for what staff says. 403; 404; 409 for a closed shift; 422. */
const returnUnlinked = Effect.fn("Returns.unlinked")(function*(
  call: PluginCall,
  { payment: payout, shiftId, terminalId }: NewReturn,
  goods: ReadonlyArray<Goods>,
  token: string | undefined
) {
  const { db } = call
  const before = yield* madeBefore(call)
  if (before !== undefined) return before
  if (payout.method === "original") return yield* new NoPayments()
  const allowed = yield* approvalFor(call, { action: "return", permission: admin, token })
  const terminal = yield* terminalOfShift(call, terminalId, shiftId)
  const amounts = yield* Effect.forEach(goods, ({ quantity, restockingFee = 0, unitPrice }, at) => {
    const worth = unitPrice * quantity
    return restockingFee > worth ? new FeeTooHigh(at, worth) : Effect.succeed(worth - restockingFee)
  })
  const total = amounts.reduce((sum, one) => sum + one, 0)
  yield* requireAmount(payout, total)
  const { defaultCurrency: currency } = yield* PosOptions
  const { taxes, titles } = yield* quoted(call, terminal, currency, goods)
  const warehouseId = WarehouseId.make(yield* warehouseOf(terminal, call))
  const id = call.actor.executionId ?? newId()
  return yield* db.transaction(Effect.gen(function*() {
    yield* allowed.spend
    // Stock before the shift, as a sale locks them.
    yield* restock(call, id, goods, warehouseId)
    const shift = yield* lockOpen(call, shiftId)
    const row = { id, shiftId, currency, orderId: null, customerId: null, total, taxes, overrideBy: allowed.by }
    const transaction = yield* writeReturn(call, terminal, row)
    const rows = rowsOfItems(goods, amounts).map((one, at) => ({ ...one, title: titles[at] ?? null }))
    return yield* payOut(call, [transaction, shift], rows, { payout, terminal })
  }))
})

/** Takes goods back, of an order or where the store allows it without one. */
export const takeBack = Effect.fnUntraced(function*(call: PluginCall, sent: NewReturn, token: string | undefined) {
  const { items, originalOrderId } = sent
  if (originalOrderId !== undefined) {
    const linked = yield* Effect.forEach(
      items,
      ({ entityId, originalLineItemId, unitPrice, variantId: _, ...rest }, at) =>
        originalLineItemId === undefined || entityId !== undefined || unitPrice !== undefined
          ? new LineNeeded(at)
          : Effect.succeed({ ...rest, originalLineItemId })
    )
    return yield* returnGoods(call, { ...sent, originalOrderId, items: linked }, token)
  }
  if (!(yield* PosOptions).unlinkedReturns) return yield* new OrderNeeded()
  const goods = yield* Effect.forEach(
    items,
    ({ entityId, originalLineItemId, unitPrice, variantId = null, ...rest }, at) =>
      entityId === undefined || unitPrice === undefined || originalLineItemId !== undefined
        ? new GoodsNeeded(at)
        : Effect.succeed({ ...rest, entityId, unitPrice, variantId })
  )
  return yield* returnUnlinked(call, sent, goods, token)
})
