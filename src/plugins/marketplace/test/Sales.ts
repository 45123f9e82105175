import { Effect, Schema } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { type BuiltLine, orderInApp } from "../../../../test/support/OrderBuilder.ts"
import { asCustomer, inOrganization, theOrganization } from "../../../../test/support/TestApp.ts"
import { CustomerId, EntityId, newId, OrderId } from "../../../domain/platform/ids/Id.ts"
import { rowsOf } from "../../kit/tables/StatementRepo.ts"
import type { NewRowOf } from "../../kit/tables/Table.ts"
import { disputes } from "../disputes/Dispute.ts"
import type { Posting } from "../ledger/Ledger.ts"
import { post } from "../ledger/LedgerRepo.ts"
import { returns } from "../returns/Return.ts"
import { reviews } from "../reviews/Reviews.ts"
import { subOrderLines, subOrders } from "../suborders/SubOrder.ts"
import { asVendor } from "./Calls.ts"
import { aVendor } from "./Goods.ts"
import { onTables } from "./Market.ts"

/** A sub-order to be made, as its buyer has paid it: delivered yesterday unless the test says otherwise. */
export interface SaleSpec {
  readonly within?: string
  readonly lines?: ReadonlyArray<BuiltLine>
  /** How many lines of the order, from the first one on, are the vendor's; the others are the store's. Default all. */
  readonly vendorLines?: number
  readonly status?: NewRowOf<typeof subOrders>["status"]
  readonly deliveredDaysAgo?: number
  readonly soldDaysAgo?: number
  readonly shippedDaysAgo?: number
  /** Vendor and customer; absent: new ones. */
  readonly vendorId?: string
  readonly userId?: string
  /** Stock of each line, with its units reserved; absent: no stock is kept. */
  readonly onHand?: number
}

const customers = rowsOf(Schema.Struct({ id: Schema.String }))
const refunds = rowsOf(Schema.Struct({ id: Schema.String, amount: Schema.Int, status: Schema.String }))

export const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000)

type SubOrderRow = Omit<NewRowOf<typeof subOrders>, "commissionAmount" | "payoutAmount" | "currency">

/** A sub-order with a tenth of commission, sold at that time. */
const aSubOrder = Effect.fnUntraced(
  function*(row: SubOrderRow & { readonly currency?: string }, soldAt: Date, within?: string) {
    const commissionAmount = Math.round(row.subtotal / 10)
    const payoutAmount = row.subtotal - commissionAmount
    const { id } = yield* onTables(
      (db) => db.table(subOrders).insert({ currency: "USD", ...row, commissionAmount, payoutAmount }),
      within
    )
    yield* onDatabase((sql) =>
      sql`update marketplace_vendor_sub_orders set created_at = ${soldAt} where id = ${id}::uuid`
    )
    return { id, commissionAmount }
  }
)

/** Sells something of a vendor to a customer, without a cart and without entries of the ledger. */
export const aSale = Effect.fnUntraced(function*(spec: SaleSpec = {}) {
  const within = spec.within ?? (yield* theOrganization)
  const { lines: wanted = [{ unitPrice: 1_000, quantity: 2 }, { unitPrice: 500 }], status = "delivered" } = spec
  const { userId = `buyer-${newId()}`, vendorId = yield* aVendor({ within }) } = spec
  const [customer] = yield* onDatabase((sql) =>
    customers(sql`insert into customers (id, organization_id, user_id) values (${newId()}::uuid, ${within}, ${userId})
      on conflict (organization_id, user_id) do update set updated_at = now() returning id`)
  )
  const customerId = customer?.id ?? ""
  const stock = spec.onHand === undefined ? {} : { onHand: spec.onHand }
  const order = yield* orderInApp({ organizationId: within, customerId, status: "confirmed", lines: wanted, ...stock })
  const own = order.lines.slice(0, spec.vendorLines)
  const prices = wanted.map(({ quantity = 1, unitPrice = 1_000 }) => quantity * unitPrice)
  const subtotal = prices.slice(0, own.length).reduce((sum, price) => sum + price, 0)
  const shippedAt = spec.shippedDaysAgo === undefined ? null : daysAgo(spec.shippedDaysAgo)
  const deliveredAt = status === "delivered" ? daysAgo(spec.deliveredDaysAgo ?? 1) : null
  const row = { orderId: OrderId.make(order.id), vendorId, status, subtotal, shippedAt, deliveredAt }
  const { id: subOrderId } = yield* aSubOrder(row, daysAgo(spec.soldDaysAgo ?? 0), within)
  yield* onTables((db) =>
    db.table(subOrderLines).insertMany(own.map(({ entityId, id, quantity }, at) => ({
      subOrderId,
      orderLineId: id,
      entityId: EntityId.make(entityId),
      title: "Sold",
      quantity,
      totalPrice: prices[at] ?? 0,
      rateBps: 1_000,
      commissionAmount: (prices[at] ?? 0) / 10
    }))), within)
  const [buyer, vendor] = [inOrganization(within, asCustomer(userId)), asVendor(vendorId, "owner", within)]
  return { orderId: order.id, subOrderId, vendorId, customerId, lines: own, buyer, vendor, within }
})

export type Sale = Effect.Success<ReturnType<typeof aSale>>

/** A dispute about a sale in a state; its sub-order is on hold while it is open. */
export const aDispute = (
  { subOrderId, within }: Sale,
  status: NewRowOf<typeof disputes>["status"] = "vendor_response_pending",
  rest: Partial<NewRowOf<typeof disputes>> = {}
) =>
  onTables((db) =>
    Effect.gen(function*() {
      yield* db.table(subOrders).update(subOrderId, { onHold: status !== "resolved" })
      const row = {
        subOrderId,
        openedBy: "somebody",
        reason: "defective",
        status,
        deadlineAt: daysAgo(-3),
        ...rest
      } as const
      return (yield* db.table(disputes).insert(row)).id
    }), within)

/** A return of one unit of each line of a sale in a state. */
export const aReturn = (
  { customerId, lines, subOrderId, within }: Omit<Sale, "lines"> & {
    readonly lines: ReadonlyArray<{ entityId: string }>
  },
  status: NewRowOf<typeof returns>["status"] = "requested",
  rest: Partial<NewRowOf<typeof returns>> = {}
) => {
  const lineItems = lines.map(({ entityId }) => ({ entityId: EntityId.make(entityId), quantity: 1 }))
  const row = {
    subOrderId,
    customerId: CustomerId.make(customerId),
    reason: "defective",
    status,
    lineItems,
    ...rest
  } as const
  return onTables(
    (db) => Effect.map(db.table(returns).insert({ deadlineAt: daysAgo(-5), ...row }), ({ id }) => id),
    within
  )
}

/** A review of a sale. */
export const aReview = (
  { customerId, orderId, vendorId, within }: Sale,
  rating = 5,
  status: NewRowOf<typeof reviews>["status"] = "published"
) => {
  const of = { vendorId, customerId: CustomerId.make(customerId), orderId: OrderId.make(orderId) }
  return onTables((db) => Effect.map(db.table(reviews).insert({ ...of, rating, status }), ({ id }) => id), within)
}

/** Refunds of an order: what each gives back, minor units, and its state. */
export const refundsOf = ({ orderId }: { readonly orderId: string }) =>
  onDatabase((sql) =>
    refunds(sql`select id, amount::int4 as amount, status from refunds
      where order_id = ${orderId}::uuid order by created_at`)
  )

export const amountsOf = (sale: { readonly orderId: string }) =>
  Effect.map(refundsOf(sale), (all) => all.map(({ amount }) => amount))

/** Entries of the ledger, as the rest of the plugin writes them. */
export const postAll = (postings: ReadonlyArray<Posting>, within?: string) =>
  onTables((db) => db.use(post)(postings), within)

/** An entry of the ledger about no sub-order. */
export const adjusted = (vendorId: string, amountCents: number, currency = "USD"): Posting => {
  const reason = { type: "adjustment", referenceType: "adjustment", referenceId: newId() } as const
  return { vendorId, currency, amountCents, ...reason }
}

/** A sub-order to be sold for 100.00 with a tenth of commission, whose money has been available since yesterday. */
export interface SoldSpec {
  readonly within?: string
  readonly amount?: number
  readonly currency?: string
  /** Days since its money became available; negative: in so many days; null: not delivered. */
  readonly availableDaysAgo?: number | null
  readonly onHold?: boolean
  readonly shippedDaysAgo?: number
}

/** A sub-order whose order was captured, with the entries of its sale, but without an order; gives its id. */
export const sold = Effect.fnUntraced(function*(vendorId: string, spec: SoldSpec = {}) {
  const { amount = 10_000, availableDaysAgo: days = 1, currency = "USD", onHold = false, shippedDaysAgo = 9 } = spec
  const [status, availableAt] = days === null ? ["shipped", null] as const : ["delivered", daysAgo(days)] as const
  const shippedAt = daysAgo(shippedDaysAgo)
  const of = { orderId: OrderId.make(newId()), vendorId, currency, status, subtotal: amount }
  const { commissionAmount, id } = yield* aSubOrder({ ...of, shippedAt, availableAt, onHold }, shippedAt, spec.within)
  const entry = { vendorId, currency, subOrderId: id, referenceType: "sub_order", referenceId: id } as const
  const amounts = [["sale", amount], ["commission", -commissionAmount]] as const
  yield* postAll(amounts.map(([type, amountCents]) => ({ ...entry, type, amountCents })), spec.within)
  return id
})

/** A customer got all of a sub-order back. */
export const givenBack = (vendorId: string, subOrderId: string, amount = 10_000) => {
  const of = { vendorId, currency: "USD", subOrderId, referenceType: "refund", referenceId: newId() } as const
  return postAll([
    { ...of, type: "refund_deduction", amountCents: -amount },
    { ...of, type: "commission_reversal", amountCents: Math.round(amount / 10) }
  ])
}
