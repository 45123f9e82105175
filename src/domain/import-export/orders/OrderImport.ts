import { Array, Effect, Result, Schema, Struct } from "effect"
import { type Sellable, Sellables } from "../../catalog/Sellables.ts"
import { type BuyerProfile, buyerShown } from "../../customers/BuyerProfile.ts"
import { type Order, orderNumber, StoredLine } from "../../orders/Order.ts"
import { StatusChange, storedOrder } from "../../orders/OrderTable.ts"
import { shownOrder } from "../../orders/ShownOrder.ts"
import { noPayment } from "../../orders/Tender.ts"
import { capturedShares, nextValue, type RefundableOrder } from "../../payments/RefundCalculation.ts"
import { CurrentActor } from "../../platform/access/Actor.ts"
import { linkTable, RowTable } from "../../platform/batching/RowBatch.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import { newId, type OrderId } from "../../platform/ids/Id.ts"
import { Amount } from "../../platform/money/Money.ts"
import { Table } from "../../platform/records/Table.ts"
import { today } from "../../platform/text/BusinessDate.ts"
import { emailKey, normalizedMailbox } from "../../platform/text/Email.ts"
import { Time } from "../../platform/text/Time.ts"
import { orderOwners } from "../CustomerImport.ts"
import { type BatchContext, refused, upsertOf } from "../Upsert.ts"
import { type OrderContent, orderContent, sameOrder } from "./OrderContent.ts"
import { type NumberCounter, orderReads } from "./OrderImportRepo.ts"
import type { OrderRecord } from "./OrderRecord.ts"
import { putReturns } from "./OrderReturns.ts"

export const importedOrders = new Table(
  "orders",
  Schema.Struct({
    ...Struct.omit(storedOrder, ["idempotencyKey", "paymentIntentId", "paymentMethodId"]),
    importedAt: Schema.NullOr(Time),
    email: Schema.NullOr(Schema.String),
    refundedShipping: Amount
  })
)

export const importedLines = new Table(
  "order_lines",
  Schema.Struct({ ...StoredLine.fields, position: Schema.Int, refundedValue: Amount })
)

const orderHistory = linkTable(
  "order_status_history",
  "id",
  StatusChange.mapFields(Struct.omit(["organizationId", "changedAt"]))
)

const orderCounters = new RowTable(
  "order_counters",
  Schema.Struct({ year: Schema.Int, lastNumber: Schema.Int, importedTo: Schema.Int }),
  {
    key: "organization_id, year",
    updates: "imported_to = greatest(t.imported_to, excluded.imported_to)"
  }
)

/**
 * Imports orders of another system as records (docs/import-export.md): no money, stock, promotions, checkout hooks,
 * mails or webhooks.
 */
export const orderImport = Effect.gen(function*() {
  const read = yield* orderReads
  const ownersOf = yield* orderOwners
  const sellables = yield* Sellables

  const load = Effect.fn("OrderImport.load")(function*(records: ReadonlyArray<OrderRecord>) {
    const { userId } = yield* CurrentActor
    const year = Number((yield* today).slice(0, 4))
    const numbers = records.map(({ orderNumber }) => orderNumber)
    const years = numbers.flatMap((number) => ownNumberOf(number, year)?.year ?? []).filter((own) => own <= year)
    const stored = yield* read(numbers, [...new Set(years)])
    const owners = yield* ownersOf(records.flatMap(({ email }) => email ?? []))
    const products = (yield* sellables.findSold(records.flatMap(({ lineItems }) => lineItems))).values()
    const found = records.map(({ lineItems }) => lineItems.map(() => products.next().value ?? ""))
    return { ...stored, owners, found, year, userId, highest: new Map<number, number>() }
  })

  return yield* upsertOf(load, (record, state, draft, index) => {
    const content = orderContent(record, state.now)
    if (Result.isFailure(content)) return Result.fail(content.failure)
    draft.warnings.push(...unaddressed(record), ...malformed(content.success))
    const stored = state.orders.get(record.orderNumber)
    if (stored !== undefined) {
      return !stored.isDraft && sameOrder(content.success, stored.record)
        ? Result.succeed("stored")
        : refused("orderNumber", "orderNumber belongs to another order, and orders are not overwritten.", "taken")
    }
    const own = ownNumberOf(record.orderNumber, state.year)
    const problem = numberProblem(own, state.counters, state.year)
    if (problem !== undefined) return refused("orderNumber", problem, "taken")
    const owner = state.owners.get(emailKey(record.email ?? "")) ?? null
    const order = newOrder(record, content.success, owner, state.found[index] ?? [], state)
    const { refundedShipping, refundedValues } = refundedElsewhere(order)
    draft.put(importedOrders, { ...order, importedAt: state.now, email: record.email ?? null, refundedShipping })
    const lines = Array.zipWith(order.lineItems, refundedValues, (line, refundedValue) => ({ ...line, refundedValue }))
    draft.put(importedLines, ...lines.map((line, at) => ({ ...line, position: at + 1 })))
    putReturns(draft, order, content.success.returns ?? [], state.now)
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

/** An old order keeps what it has instead of an address; no mail can go there. */
const unaddressed = ({ email }: OrderRecord): ReadonlyArray<Issue> =>
  !email || normalizedMailbox(email) !== undefined ? [] : [{
    path: "email",
    message: "email is no e-mail address. It is kept as given, and the order gets no mail.",
    code: "format"
  }]

const malformed = ({ shippingAddress }: OrderContent): ReadonlyArray<Issue> =>
  shippingAddress?.["unchecked"] !== true ? [] : [{
    path: "shippingAddress",
    message: "shippingAddress does not have the form of its country. It is kept as given.",
    code: "format"
  }]

/** A product missing from the catalog gets an id that resolves to nothing, like a deleted one. */
const newOrder = (
  record: OrderRecord,
  { email, returns: _, ...content }: OrderContent,
  owner: BuyerProfile | null,
  products: ReadonlyArray<Sellable | string>,
  { now, organizationId }: BatchContext
): Order => {
  const id = newId<OrderId>()
  const lineItems = content.lineItems.map((line, index): StoredLine => {
    const product = products[index]
    const { entityId, variantId }: Sellable = typeof product === "object"
      ? product
      : { entityId: newId(), variantId: null }
    const { options, slug = null } = record.lineItems[index] ?? {}
    return {
      ...line,
      id: newId(),
      orderId: id,
      entityId,
      variantId,
      options: Object.entries(options ?? {}).map(([name, value]) => ({ name, value })),
      slug,
      image: null,
      isCustomPrice: false,
      taxes: []
    }
  })
  const unpaid = { paymentIntentId: null, paymentMethodId: null, idempotencyKey: null, taxExemption: null }
  const buyer = { customerId: owner?.id ?? null, ...buyerShown(email, owner) }
  const order = { ...content, id, organizationId, ...buyer, ...unpaid, importedAt: now, updatedAt: now, lineItems }
  return shownOrder(order, noPayment)
}

/** Refunds made elsewhere: the next refund here takes only what remains. */
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

interface OwnNumber {
  readonly year: number
  readonly sequence: number
}

/** A larger number would take those of all later orders with it. */
const largestSequence = 999_999_999

const form = /^ORD-(\d{4})-(\d{6,19})$/

/** Older years get no counter: it would never hand out a number, and look-ups by digits query every counter. */
const oldestYears = 100

const ownNumberOf = (text: string, now: number): OwnNumber | undefined => {
  const [, year = "", digits = ""] = form.exec(text) ?? []
  const own = { year: Number(year), sequence: Number(digits) }
  const isOwn = year !== "" && own.sequence > 0 && own.year > now - oldestYears &&
    (own.sequence > largestSequence || orderNumber(own.year, own.sequence) === text)
  return isOwn ? own : undefined
}

const numberProblem = (
  own: OwnNumber | undefined,
  counters: ReadonlyMap<number, NumberCounter>,
  now: number
): string | undefined => {
  if (own === undefined) return undefined
  if (own.year > now) return "must not be of a year to come."
  if (own.sequence > largestSequence) return `must not be above ${largestSequence} orders in a year.`
  const { given, skipped } = counters.get(own.year) ?? { given: 0, skipped: [] }
  const isFree = own.sequence > given || skipped.some(([first, last]) => own.sequence >= first && own.sequence <= last)
  return isFree ? undefined : "must not be one that this store gives to orders."
}
