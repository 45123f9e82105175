import { Effect, Struct } from "effect"
import type { Order, OrderId, OrderProjection } from "stoa/plugin"
import { commissionTerms } from "../commissions/Commissions.ts"
import { type CommissionTerms, plainTerms } from "../commissions/CommissionTerms.ts"
import type { Posting } from "../ledger/Ledger.ts"
import { post } from "../ledger/LedgerRepo.ts"
import { Market } from "../Market.ts"
import { vendorEntities } from "../products/VendorProduct.ts"
import { factsOfNew, type OrderFacts, readOrders } from "./OrderFactsRepo.ts"
import { subOrders } from "./SubOrder.ts"
import { lockSubOrders, newSubOrderParts, writeSubOrders } from "./SubOrderRepo.ts"
import { dueEntries, lineShares, type Posted } from "./SubOrderShares.ts"
import { type FoundSubOrder, type WantedSubOrder, wantedSubOrder } from "./SubOrderState.ts"

/** The sub-orders of an order: of vendors that have lines in it, or had. */
const wantedOf = (
  order: OrderFacts,
  found: ReadonlyArray<FoundSubOrder>,
  terms: ReadonlyMap<string, CommissionTerms>
): ReadonlyArray<WantedSubOrder> => {
  const vendors = order.lines.flatMap(({ vendorId }) => vendorId === null ? [] : [vendorId])
  const shares = lineShares(order)
  return [...new Set([...found.map(({ vendorId }) => vendorId), ...vendors])].map((vendorId) =>
    wantedSubOrder(order, { found: found.find((one) => one.vendorId === vendorId), vendorId, shares, terms })
  )
}

const words = {
  sale: "Sold",
  commission: "Commission of the store",
  refund_deduction: "Given back to the customer",
  commission_reversal: "Commission of what was given back"
} satisfies Readonly<Record<keyof Posted, string>>

const types = Struct.keys(words)

const postingsOf = (one: WantedSubOrder, isCaptured: boolean): ReadonlyArray<Posting> => {
  const due = dueEntries(one.owed, one.posted, { isCancelled: one.isCancelled, isCaptured })
  return types.map((type) => ({
    vendorId: one.vendorId,
    currency: one.currency,
    type,
    amountCents: due[type],
    subOrderId: one.id,
    referenceType: "sub_order",
    referenceId: one.id,
    description: words[type]
  }))
}

/** The terms of lines that are sold for the first time. */
const newTerms = Effect.fnUntraced(function*(facts: ReadonlyArray<OrderFacts>, found: ReadonlyArray<FoundSubOrder>) {
  const known = new Set(found.flatMap(({ lines }) => lines.map(({ orderLineId }) => orderLineId)))
  const sold = facts.flatMap(({ currency, lines }) =>
    lines.flatMap(({ entityId, id, vendorId }) =>
      vendorId === null || known.has(id) ? [] : [{ id, sale: { vendorId, entityId, currency } }]
    )
  )
  const terms = yield* commissionTerms(sold.map(({ sale }) => sale))
  return new Map(sold.map(({ id }, index) => [id, terms[index] ?? plainTerms(0)]))
})

/**
 * Brings sub-orders and the ledger into line with orders, inside of the transaction that changed the orders and holds their
 * locks, in at most six statements for any number of orders and lines.
 */
export const reconcile = Effect.fn("Reconcile.changed")(function*(orderIds: ReadonlyArray<OrderId>) {
  const { db } = yield* Market
  const facts = yield* db.use(readOrders)(orderIds)
  const found = yield* db.use(lockSubOrders)(orderIds)
  const terms = yield* newTerms(facts, found)
  const wanted = facts.flatMap((order) => wantedOf(order, found.filter(({ orderId }) => orderId === order.id), terms))
  const stale = wanted.filter(({ isChanged }) => isChanged)
  if (stale.length > 0) yield* writeSubOrders(db, stale)
  const captured = new Set(facts.filter((order) => order.captured !== null).map(({ id }) => id))
  yield* db.use(post)(wanted.flatMap((one) => postingsOf(one, captured.has(one.orderId))))
})

/** At most three statements, and one where no vendor is in the orders. */
const created = Effect.fn("Reconcile.created")(function*(orders: ReadonlyArray<Order>, prefix: string) {
  const { db } = yield* Market
  const facts = yield* db.use(factsOfNew)(orders)
  const terms = yield* newTerms(facts, [])
  const wanted = facts.flatMap((order) => wantedOf(order, [], terms))
  return wanted.length === 0 ? undefined : yield* newSubOrderParts(db, wanted, prefix)
})

/** What vendors are owed is true together with the orders that it follows from (contract, plugins §1.3, §1.5). */
export const subOrderProjection: OrderProjection<Market> = {
  only: { entitiesIn: vendorEntities, ordersIn: subOrders },
  created,
  changed: reconcile
}
