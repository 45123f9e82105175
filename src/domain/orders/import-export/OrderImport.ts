import { DateTime, Effect, Result } from "effect"
import { CurrentActor } from "../../access/Actor.ts"
import type { RowTable } from "../../batching/RowBatch.ts"
import { type Sellable, Sellables } from "../../catalog/Sellables.ts"
import { orderOwners } from "../../customers/CustomerImport.ts"
import { newId } from "../../ids/Id.ts"
import { type BatchContext, refused, upsertOf } from "../../import-export/Upsert.ts"
import { capturedShares, nextValue, type RefundableOrder } from "../../payments/RefundShares.ts"
import { type Order, type OrderLine, orderLines as orderLineTable } from "../Order.ts"
import { type OrderContent, orderContent, sameOrder } from "./OrderContent.ts"
import { orderReads } from "./OrderImportRepo.ts"
import type { OrderRecord } from "./OrderRecord.ts"
import { numberProblem, ownNumberOf } from "./OwnNumber.ts"

const orders: RowTable = {
  name: "orders",
  columns: "id, order_number, customer_id, status, currency, subtotal, tax_total, tax_included, shipping_total, " +
    "discount_total, grand_total, amount_captured, refunded_total, refunded_shipping, email, shipping_address, " +
    "metadata, placed_at, updated_at, fulfilled_at, cancelled_at, imported_at",
  key: "id"
}

const orderLines: RowTable = {
  name: "order_lines",
  columns: `${orderLineTable.names}, position, refunded_value`,
  key: "id"
}

const orderHistory: RowTable = {
  name: "order_status_history",
  columns: "id, order_id, from_status, to_status, reason, changed_by",
  key: "id",
  updates: []
}

const orderCounters: RowTable = {
  name: "order_counters",
  columns: "year, last_number, imported_to",
  key: "organization_id, year",
  updates: ["imported_to = greatest(t.imported_to, excluded.imported_to)"]
}

/**
 * Imports orders of another system as records (docs/import-export.md): captures no money, uses no stock or promotion,
 * runs no checkout hooks, and sends no mail or webhook.
 */
export const orderImport = Effect.gen(function*() {
  const read = yield* orderReads
  const ownersOf = yield* orderOwners
  const sellables = yield* Sellables

  const load = Effect.fn("OrderImport.load")(function*(records: ReadonlyArray<OrderRecord>) {
    const { userId } = yield* CurrentActor
    const year = DateTime.toDateUtc(yield* DateTime.now).getUTCFullYear()
    const numbers = records.map(({ orderNumber }) => orderNumber)
    const years = numbers.flatMap((number) => ownNumberOf(number, year)?.year ?? []).filter((own) => own <= year)
    const stored = yield* read(numbers, [...new Set(years)])
    const owners = yield* ownersOf(records.flatMap(({ email }) => email ?? []))
    const products = (yield* sellables.find(records.flatMap(({ lineItems }) => lineItems))).values()
    const found = records.map(({ lineItems }) => lineItems.map(() => products.next().value ?? ""))
    return { ...stored, owners, found, year, userId, highest: new Map<number, number>() }
  })

  return yield* upsertOf(load, (record, state, draft, index) => {
    const content = orderContent(record, state.now)
    if (Result.isFailure(content)) return Result.fail(content.failure)
    const stored = state.orders.get(record.orderNumber)
    if (stored !== undefined) {
      return !stored.isDraft && sameOrder(content.success, stored.record)
        ? Result.succeed("stored")
        : refused("orderNumber", "belongs to another order, and an order is never overwritten", "taken")
    }
    const own = ownNumberOf(record.orderNumber, state.year)
    const problem = numberProblem(own, state.counters, state.year)
    if (problem !== undefined) return refused("orderNumber", problem, "taken")
    const customerId = state.owners.get(record.email?.toLowerCase() ?? "") ?? null
    const order = newOrder(content.success, customerId, state.found[index] ?? [], state)
    const { refundedShipping, refundedValues } = refundedElsewhere(order)
    draft.put(orders, { ...order, email: record.email, refundedShipping })
    draft.put(
      orderLines,
      ...order.lineItems.map((line, at) => ({ ...line, position: at + 1, refundedValue: refundedValues[at] }))
    )
    const { id: orderId, status } = order
    const entry = { fromStatus: status, toStatus: status, reason: "imported", changedBy: state.userId }
    draft.put(orderHistory, { id: newId(), orderId, ...entry })
    if (own !== undefined) {
      const importedTo = Math.max(own.sequence, state.highest.get(own.year) ?? 0)
      state.highest.set(own.year, importedTo)
      draft.put(orderCounters, { year: own.year, lastNumber: 0, importedTo })
    }
    draft.change({ type: "orders.import", entityType: "order", entityId: orderId, payload: order })
    return Result.succeed("new")
  })
})

/** A product missing from the catalog gets an id that resolves to nothing, like a deleted one. */
const newOrder = (
  { email: _, ...content }: OrderContent,
  customerId: string | null,
  products: ReadonlyArray<Sellable | string>,
  { now, organizationId }: BatchContext
): Order => {
  const id = newId()
  const lineItems = content.lineItems.map((line, index): OrderLine => {
    const product = products[index]
    const { entityId, variantId } = typeof product === "object" ? product : { entityId: newId(), variantId: null }
    return { ...line, id: newId(), orderId: id, entityId, variantId, isCustomPrice: false, metadata: {} }
  })
  const unpaid = { paymentIntentId: null, paymentMethodId: null, idempotencyKey: null }
  return { ...content, id, organizationId, customerId, ...unpaid, importedAt: now, updatedAt: now, lineItems }
}

/** Refunds made elsewhere, so that the next refund here takes only what remains. */
const refundedElsewhere = (order: Order) => {
  const refundable: RefundableOrder = {
    currency: order.currency,
    captured: order.amountCaptured ?? 0,
    uncaptured: false,
    refunded: order.refundedTotal,
    pending: 0,
    shippingTotal: order.shippingTotal,
    refundedShipping: 0,
    taxIncluded: order.taxIncluded,
    lines: order.lineItems.map(({ entityId, ...line }) => ({
      ...line,
      sellable: line.variantId ?? entityId,
      refundedQuantity: 0,
      refundedValue: 0,
      unsent: 0
    }))
  }
  const shares = capturedShares(refundable)
  const refundedValues = refundable.lines.map((line, index) =>
    nextValue(line, shares.lines.get(line.id) ?? 0, order.lineItems[index]?.refundedQuantity ?? 0)
  )
  const ofLines = refundedValues.reduce((sum, value) => sum + value, 0)
  return { refundedValues, refundedShipping: Math.min(shares.shipping, Math.max(0, order.refundedTotal - ofLines)) }
}
