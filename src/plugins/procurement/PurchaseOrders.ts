import { Effect, Schema, Struct } from "effect"
import { conflict, inputOf, invalid, MinorUnits, today, ValidationFailed } from "stoa/plugin"
import { Rational, Units } from "../uom/index.ts"
import { personOf, refuseApproval } from "./Approvals.ts"
import { inOrder, itemIssues, type Tools } from "./Documents.ts"
import { receipts } from "./GoodsReceipt.ts"
import { sendOrder } from "./OrderPapers.ts"
import type { ProcurementSettings } from "./ProcurementOptions.ts"
import {
  incomingOf,
  type OrderItem,
  orderItems,
  orders,
  type PurchaseOrder,
  purchaseOrder,
  purchaseOrders
} from "./PurchaseOrder.ts"
import { knownGoods, removeItems } from "./PurchasingRepo.ts"
import { bestPrice, maxCost, pricesOf, type Supplier, supplierItems, suppliers } from "./Supplier.ts"

class UnknownSupplier
  extends invalid("UnknownSupplier", "supplierId", "supplierId must be a supplier of this organization.")
{}
class InactiveSupplier extends conflict("InactiveSupplier", (name: string) => `The supplier ${name} is not active.`) {}
class RateMissing extends invalid(
  "RateMissing",
  "exchangeRate",
  (currency: string) => `exchangeRate is required: the supplier's currency is ${currency}, which is not the store's.`,
  "required"
) {}
class RateNotOne extends invalid(
  "RateNotOne",
  "exchangeRate",
  (currency: string) => `exchangeRate must be 1: the order is in ${currency}, the store's currency.`
) {}
class CurrencyChanged extends conflict(
  "CurrencyChanged",
  (currency: string) => `The supplier's prices are in ${currency} now: write a new order.`
) {}
class ReceiptsOpen
  extends conflict("ReceiptsOpen", "Accept or reject the goods receipts of this order before it is closed.")
{}

const Item = Schema.Struct({
  ...Struct.pick(inputOf(orderItems).fields, ["entityId", "variantId", "uomId", "quantityOrdered", "notes"]),
  supplierSku: inputOf(orderItems).fields.supplierSku.annotate({
    description: "Default: from the supplier's price."
  }),
  itemName: Schema.optional(inputOf(orderItems).fields.itemName).annotate({ description: "Default: the title." }),
  unitCost: Schema.optional(inputOf(orderItems).fields.unitCost).annotate({
    description: "Cost of one of the unit. Default: the supplier's best price for the quantity today."
  })
})

const Items = Schema.Array(Item).check(Schema.isBetweenLength(1, 1_000))
const Head = {
  ...Struct.pick(inputOf(orders).fields, [
    "expectedDelivery",
    "notes",
    "metadata",
    "exchangeRate",
    "freight",
    "duty",
    "supplierReference"
  ]),
  taxTotal: Schema.optional(MinorUnits.check(Schema.isBetween({ minimum: 0, maximum: maxCost })))
}

export const NewOrder = Schema.Struct({
  ...Struct.pick(inputOf(orders).fields, ["supplierId", "warehouseId"]),
  ...Head,
  items: Items
})
export type NewOrder = typeof NewOrder.Type
export const OrderPatch = Schema.Struct({
  warehouseId: Schema.optional(inputOf(orders).fields.warehouseId),
  ...Head,
  items: Schema.optional(Items)
})

/** The lines of an order, and of others with it, as they were given. */
export const itemsOf = ({ db }: Tools, poId: string) => db.table(orderItems).list({ poId }, inOrder)

const unknown = (path: string) => ({ path, message: `${path} is unknown.`, code: "not_found" })

/** Titles of the things; 422 that names each unknown thing, and an unknown warehouse. */
const titlesOf = Effect.fnUntraced(function*(
  { db }: Tools,
  { items, warehouseId }: Pick<NewOrder, "items" | "warehouseId">
) {
  const known = yield* db.use(knownGoods)(warehouseId, items)
  const issues = known.flatMap(({ isEntity, isVariant }, n) => [
    ...isEntity ? [] : [unknown(`items.${n}.entityId`)],
    ...isVariant ? [] : [unknown(`items.${n}.variantId`)]
  ])
  if (known[0]?.isWarehouse === false) issues.unshift(unknown("warehouseId"))
  if (issues.length > 0) return yield* ValidationFailed.issues(issues)
  return known.map(({ title }) => title)
})

/** Lines with units, prices, names and what they are in stock units. A constant number of statements. */
const completed = Effect.fnUntraced(function*(
  tools: Tools,
  supplierId: string,
  given: Pick<NewOrder, "items" | "warehouseId">
) {
  const titles = yield* titlesOf(tools, given)
  const units = yield* Units
  const entityIds = [...new Set(given.items.map(({ entityId }) => entityId))]
  const known = yield* units.known(entityIds)
  const lines = given.items.map((item) => ({
    ...item,
    variantId: item.variantId ?? null,
    uomId: item.uomId ?? known.of(item.entityId)?.purchaseUomId ?? null
  }))
  const stock = yield* units.toStock(lines.map((line) => ({ ...line, unitCost: null, quantity: line.quantityOrdered })))
  const prices = yield* tools.db.table(supplierItems).list({ supplierId, entityId: { in: entityIds } }, inOrder)
  const day = yield* today
  const offers = lines.map((line) => pricesOf(prices, line, day, known.of(line.entityId)?.purchaseUomId ?? null))
  const costs = lines.map(({ quantityOrdered, unitCost }, n) => unitCost ?? bestPrice(offers[n] ?? [], quantityOrdered))
  const issues = itemIssues()
  for (const [n, cost] of costs.entries()) {
    if (cost === undefined) issues.refuse(n, "unitCost", "is required: the supplier has no price for this.", "required")
  }
  return yield* issues.orElse(lines.map(({ itemName, quantityOrdered, supplierSku, ...line }, n) => {
    const unitCost = costs[n] ?? 0
    return {
      ...line,
      quantityOrdered,
      unitCost,
      supplierSku: supplierSku ?? offers[n]?.flatMap((price) => price.supplierSku ?? [])[0] ?? null,
      itemName: itemName ?? titles[n] ?? line.entityId,
      stockQuantity: stock[n]?.quantity ?? quantityOrdered,
      totalCost: unitCost * quantityOrdered
    }
  }))
})

const totalsOf = (items: ReadonlyArray<{ readonly totalCost: number }>, taxTotal = 0) => {
  const subtotal = items.reduce((sum, { totalCost }) => sum + totalCost, 0)
  return { subtotal, taxTotal, grandTotal: subtotal + taxTotal }
}

const activeSupplier = Effect.fnUntraced(function*({ db }: Tools, id: string) {
  const supplier = yield* db.table(suppliers).find(id)
  if (supplier === undefined) return yield* new UnknownSupplier()
  return supplier.isActive ? supplier : yield* new InactiveSupplier(supplier.name)
})

/** What is still to come of an order is incoming from now on, or will not come: once for a type of posting. */
const postIncoming = Effect.fnUntraced(
  function*(
    { services }: Tools,
    type: string,
    order: PurchaseOrder,
    items: ReadonlyArray<OrderItem>,
    sign: 1 | -1
  ) {
    const lines = incomingOf(order, items, sign)
    if (lines.length > 0) yield* services.inventory.post({ type, id: order.id }, lines)
  }
)

/** What one of the order's currency is worth, as the buyer says; 1 for the store's own. */
const rateFor = ({ currency }: Pick<Supplier, "currency">, rate: string | undefined, storeCurrency: string) => {
  if (currency !== storeCurrency) {
    return rate === undefined ? Effect.fail(new RateMissing(currency)) : Effect.succeed(rate)
  }
  return Rational.of(rate ?? 1).equals(1) ? Effect.succeed("1") : Effect.fail(new RateNotOne(currency))
}

/**
 * Writes a draft, whose amounts are worth `exchangeRate` of the store's currency. 409 for a supplier that is not active, 422 for
 * what is unknown or has no price.
 */
export const draft = Effect.fn("Purchasing.draft")(
  function*(tools: Tools, storeCurrency: string, { items, ...head }: NewOrder) {
    const supplier = yield* activeSupplier(tools, head.supplierId)
    const exchangeRate = yield* rateFor(supplier, head.exchangeRate, storeCurrency)
    const lines = yield* completed(tools, supplier.id, { ...head, items })
    const { currency } = supplier
    const requestedBy = personOf(tools.actor)
    const whole = { ...head, ...totalsOf(lines, head.taxTotal), currency, exchangeRate, requestedBy }
    return (yield* tools.db.use(purchaseOrders).create(whole, lines)).head
  }
)

/**
 * Changes a draft; `items` replace all lines. 422 INVALID_TRANSITION for another one; 409 for lines once the supplier sells in
 * another currency.
 */
export const change = Effect.fn("Purchasing.change")(
  function*(tools: Tools, storeCurrency: string, id: string, { items, ...head }: typeof OrderPatch.Type) {
    const { actor, db } = tools
    const { supplierReference, ...rest } = head
    // The supplier's number comes when the order has gone out.
    if (items === undefined && supplierReference !== undefined && Object.keys(rest).length === 0) {
      return yield* db.table(orders).update(id, { supplierReference })
    }
    const order = yield* db.use(purchaseOrder).lock("edit", id)
    const taxTotal = head.taxTotal ?? order.taxTotal
    yield* rateFor(order, head.exchangeRate ?? order.exchangeRate, storeCurrency)
    const warehouseId = head.warehouseId ?? order.warehouseId
    const changedBy = personOf(actor)
    if (items === undefined) {
      yield* titlesOf(tools, { warehouseId, items: yield* itemsOf(tools, id) })
      return yield* db.table(orders).update(id, { ...head, taxTotal, grandTotal: order.subtotal + taxTotal, changedBy })
    }
    const { currency } = yield* db.table(suppliers).get(order.supplierId)
    if (currency !== order.currency) return yield* new CurrencyChanged(currency)
    const lines = yield* completed(tools, order.supplierId, { warehouseId, items })
    yield* db.use(removeItems)(id)
    yield* db.table(orderItems).insertMany(lines.map((line) => ({ ...line, poId: id })))
    return yield* db.table(orders).update(id, { ...head, ...totalsOf(lines, taxTotal), changedBy })
  }
)

/** Shows what an approved order is for as incoming. 403 above the limit of the actor's role, and for an order of the actor's own. */
export const approved = Effect.fn("Purchasing.approve")(
  function*(tools: Tools, settings: ProcurementSettings, storeCurrency: string, order: PurchaseOrder) {
    yield* refuseApproval(settings, tools.actor, order, storeCurrency)
    yield* postIncoming(tools, "purchase_order", order, yield* itemsOf(tools, order.id), 1)
  }
)

/** Cancels an order of which nothing was received. */
export const cancel = Effect.fn("Purchasing.cancel")(function*(tools: Tools, id: string) {
  const before = yield* tools.db.use(purchaseOrder).lock("cancel", id)
  const order = yield* tools.db.use(purchaseOrder).move("cancel", id)
  const isIncoming = before.status === "approved" || before.status === "sent"
  if (isIncoming) yield* postIncoming(tools, "purchase_order.cancel", order, yield* itemsOf(tools, id), -1)
  return order
})

/** Tells the supplier, by mail if there is an address. */
export const sent = Effect.fn("Purchasing.send")(function*(tools: Tools, order: PurchaseOrder) {
  const supplier = yield* tools.db.table(suppliers).get(order.supplierId)
  yield* sendOrder(tools, order, supplier, yield* itemsOf(tools, order.id))
})

/** Ends an order of which a part came; what is missing can become a draft. 409 while receipts of it are open. */
export const close = Effect.fn("Purchasing.close")(
  function*(tools: Tools, id: string, withBackOrder: boolean) {
    const { actor, db } = tools
    const before = yield* db.use(purchaseOrder).lock("close", id)
    const open = yield* db.table(receipts).count({ poId: id, status: { in: ["draft", "inspecting"] } })
    if (open > 0) return yield* new ReceiptsOpen()
    const items = yield* itemsOf(tools, id)
    const missing = items.filter((one) => one.quantityReceived < one.quantityOrdered).map((one) => {
      const quantityOrdered = one.quantityOrdered - one.quantityReceived
      return {
        ...Struct.pick(one, ["entityId", "variantId", "itemName", "supplierSku", "uomId", "unitCost", "notes"]),
        quantityOrdered,
        stockQuantity: (one.stockQuantity * quantityOrdered) / one.quantityOrdered,
        totalCost: one.unitCost * quantityOrdered
      }
    })
    const head = {
      ...Struct.pick(before, ["supplierId", "warehouseId", "currency", "exchangeRate", "notes", "metadata"]),
      ...totalsOf(missing),
      requestedBy: personOf(actor),
      backOrderOf: id
    }
    const backOrder = withBackOrder ? (yield* db.use(purchaseOrders).create(head, missing)).head : null
    const po = yield* db.use(purchaseOrder).move("close", id)
    yield* postIncoming(tools, "purchase_order.close", po, items, -1)
    return { po, backOrder }
  }
)
