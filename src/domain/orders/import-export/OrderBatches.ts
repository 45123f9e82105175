import { Context, DateTime, Effect, Layer, Result } from "effect"
import { CurrentActor } from "../../access/Actor.ts"
import { type Sellable, Sellables } from "../../catalog/Sellables.ts"
import { CustomerImport } from "../../customers/CustomerImport.ts"
import { newId } from "../../ids/Id.ts"
import { type BatchResult, type ImportResult, refusedFor } from "../../import-export/ImportBatch.ts"
import { capturedShares, nextValue, type RefundableOrder } from "../../payments/RefundShares.ts"
import type { Order, OrderLine } from "../Order.ts"
import { type ImportedOrder, OrderBatchRepo, type OrderBatchState } from "./OrderBatchRepo.ts"
import { type OrderContent, orderContent, sameOrder } from "./OrderContent.ts"
import type { OrderRecord } from "./OrderRecord.ts"
import { numberProblem, ownNumberOf } from "./OwnNumber.ts"

/**
 * Imports orders of another system as records (docs/import-export.md): captures no money, uses no stock or promotion,
 * runs no checkout hooks, and sends no mail or webhook.
 */
export class OrderBatches extends Context.Service<OrderBatches, {
  /** One outcome for each, by a constant number of statements; to be called inside of a transaction. */
  readonly apply: (records: ReadonlyArray<OrderRecord>) => Effect.Effect<BatchResult, never, CurrentActor>
}>()("stoa/domain/orders/import-export/OrderBatches") {
  static readonly layer = Layer.effect(
    OrderBatches,
    Effect.gen(function*() {
      const repo = yield* OrderBatchRepo
      const sellables = yield* Sellables
      const customers = yield* CustomerImport

      const apply = Effect.fn("OrderBatches.apply")(function*(records: ReadonlyArray<OrderRecord>) {
        const { organizationId } = yield* CurrentActor
        const year = DateTime.toDateUtc(yield* DateTime.now).getUTCFullYear()
        const numbers = records.map(({ orderNumber }) => orderNumber)
        const owns = numbers.flatMap((number) => ownNumberOf(number, year) ?? [])
        const years = new Set(owns.filter((own) => own.year <= year).map((own) => own.year))
        const state = yield* repo.read(numbers, [...years])
        const owners = yield* customers.ownersOf(records.flatMap(({ email }) => email ?? []))
        const found = yield* sellables.find(records.flatMap(({ lineItems }) => lineItems))
        const made: Array<ImportedOrder> = []
        let line = 0
        const results = records.map((record): ImportResult => {
          const things = found.slice(line, line += record.lineItems.length)
          const content = planned(record, state, year)
          if (!("orderNumber" in content)) return content
          const customerId = owners.get(content.email?.toLowerCase() ?? "") ?? null
          made.push(importedOrder(content, things, { organizationId, customerId, now: state.now, year }))
          return { _tag: "created" }
        })
        yield* repo.write(made)
        const result: BatchResult = { results, afterCommit: Effect.void }
        return result
      })

      return { apply }
    })
  )
}

/** A new order, or the result for its record. */
const planned = (
  record: OrderRecord,
  { counters, now, orders }: OrderBatchState,
  year: number
): OrderContent | ImportResult => {
  const content = orderContent(record, now)
  if (Result.isFailure(content)) return { _tag: "refused", issues: content.failure }
  const stored = orders.get(record.orderNumber)
  if (stored !== undefined) {
    return !stored.isDraft && sameOrder(content.success, stored.record)
      ? { _tag: "unchanged" }
      : refusedFor("orderNumber", "belongs to another order, and an order is never overwritten", "taken")
  }
  const problem = numberProblem(ownNumberOf(record.orderNumber, year), counters, year)
  return problem === undefined ? content.success : refusedFor("orderNumber", problem, "taken")
}

/** Owner and import time of an order. */
interface Arrival {
  readonly organizationId: string
  readonly customerId: string | null
  readonly now: Date
  /** Of the clock by which the store numbers its orders. */
  readonly year: number
}

/** A product missing from the catalog gets an id that resolves to nothing, like a deleted one. */
const gone = (): Sellable => ({ entityId: newId(), variantId: null })

const importedOrder = (
  { email, ...content }: OrderContent,
  things: ReadonlyArray<Sellable | string>,
  { customerId, now, organizationId, year }: Arrival
): ImportedOrder => {
  const id = newId()
  const order: Order = {
    ...content,
    id,
    organizationId,
    customerId,
    paymentIntentId: null,
    paymentMethodId: null,
    idempotencyKey: null,
    importedAt: now,
    updatedAt: now,
    lineItems: content.lineItems.map((line, index): OrderLine => {
      const thing = things[index]
      const { entityId, variantId } = thing === undefined || typeof thing === "string" ? gone() : thing
      return { ...line, id: newId(), orderId: id, entityId, variantId, isCustomPrice: false, metadata: {} }
    })
  }
  return { order, email, own: ownNumberOf(order.orderNumber, year), ...givenBack(order) }
}

/** Refunds made elsewhere, so that the next refund here takes only what remains. */
const givenBack = (order: Order): Pick<ImportedOrder, "refundedShipping" | "refundedValues"> => {
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
