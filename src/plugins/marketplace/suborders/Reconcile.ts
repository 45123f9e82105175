import { Context, Effect, Layer } from "effect"
import { newId, type OrderProjection, PluginDatabase } from "stoa/plugin"
import { Commissions } from "../commissions/Commissions.ts"
import type { CommissionTerms } from "../commissions/CommissionTerms.ts"
import { plainTerms } from "../commissions/CommissionTerms.ts"
import { Ledger, type Posting } from "../ledger/Ledger.ts"
import { lockSubOrders } from "./FoundSubOrderRepo.ts"
import { factsOfNew, type OrderFacts, readOrders, type VendorLine } from "./OrderFactsRepo.ts"
import { dueEntries, lineShares, type Posted } from "./SubOrderShares.ts"
import { type FoundSubOrder, type WantedSubOrder, wantedSubOrder } from "./SubOrderState.ts"
import { newSubOrderParts, writeSubOrders } from "./SubOrderWriteRepo.ts"

/**
 * Brings sub-orders and the ledger into line with orders (contract, plugins §1.3, §1.5). `changed` is to be called inside
 * of the transaction that changed the orders and holds their locks, and takes at most six statements for any number of
 * orders and lines. `created` takes at most three, and one where no vendor is in the orders.
 */
export class Reconcile
  extends Context.Service<Reconcile, OrderProjection>()("stoa/plugins/marketplace/suborders/Reconcile")
{
  static readonly layer = Layer.effect(
    Reconcile,
    Effect.gen(function*() {
      const [db, commissions, ledger] = yield* Effect.all([PluginDatabase, Commissions, Ledger])

      /** The terms of lines that are sold for the first time. */
      const newTerms = Effect.fnUntraced(function*(
        facts: ReadonlyArray<OrderFacts>,
        found: ReadonlyArray<FoundSubOrder>
      ) {
        const known = new Set(found.flatMap(({ lines }) => lines.map(({ orderLineId }) => orderLineId)))
        const sold = facts.flatMap(({ currency, lines }) =>
          lines.flatMap(({ entityId, id, vendorId }) =>
            vendorId === null || known.has(id) ? [] : [{ id, sale: { vendorId, entityId, currency } }]
          )
        )
        const terms = yield* commissions.termsFor(sold.map(({ sale }) => sale))
        return new Map(sold.map(({ id }, index) => [id, terms[index] ?? plainTerms(0)]))
      })

      const created: OrderProjection["created"] = Effect.fn("Reconcile.created")(function*(orders, prefix) {
        const facts = yield* factsOfNew(db, orders)
        const terms = yield* newTerms(facts, [])
        const wanted = facts.flatMap((order) => wantedOf(order, [], terms))
        return wanted.length === 0 ? undefined : yield* newSubOrderParts(db, wanted, prefix)
      })

      const changed: OrderProjection["changed"] = Effect.fn("Reconcile.changed")(function*(orderIds) {
        const facts = yield* readOrders(db, orderIds)
        const found = yield* lockSubOrders(db, orderIds)
        const terms = yield* newTerms(facts, found)
        const wanted = facts.flatMap((order) =>
          wantedOf(order, found.filter(({ orderId }) => orderId === order.id), terms)
        )
        const stale = wanted.filter(({ isChanged }) => isChanged)
        if (stale.length > 0) yield* writeSubOrders(db, stale)
        const captured = new Set(facts.filter((order) => order.captured !== null).map(({ id }) => id))
        yield* ledger.post(wanted.flatMap((one) => postingsOf(one, captured.has(one.orderId))))
      })

      return { created, changed }
    })
  )
}

/** The sub-orders of an order: of vendors that have lines in it, or had. */
const wantedOf = (
  order: OrderFacts,
  found: ReadonlyArray<FoundSubOrder>,
  terms: ReadonlyMap<string, CommissionTerms>
): ReadonlyArray<WantedSubOrder> => {
  const vendors = order.lines.flatMap(({ vendorId }) => vendorId === null ? [] : [vendorId])
  const shares = lineShares(order)
  return [...new Set([...found.map(({ vendorId }) => vendorId), ...vendors])].map((vendorId) =>
    wantedSubOrder(order, {
      found: found.find((one) => one.vendorId === vendorId),
      vendorId,
      shares,
      termsOf: (line: VendorLine) => terms.get(line.id) ?? plainTerms(0),
      newId
    })
  )
}

const words: Readonly<Record<keyof Posted, string>> = {
  sale: "Sold",
  commission: "Commission of the store",
  refund_deduction: "Given back to the customer",
  commission_reversal: "Commission of what was given back"
}

const types = ["sale", "commission", "refund_deduction", "commission_reversal"] as const

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
