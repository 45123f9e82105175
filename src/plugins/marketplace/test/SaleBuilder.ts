import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { buildOrder, type BuiltLine } from "../../../../test/support/OrderBuilder.ts"
import { sharedClient } from "../../../../test/support/SharedClients.ts"
import { asCustomer, inOrganization, TestApp, theOrganization } from "../../../../test/support/TestApp.ts"
import type { Actor } from "../../../domain/access/Actor.ts"
import { newId } from "../../../domain/ids/Id.ts"
import { rowsOf } from "../../kit/tables/PluginDatabase.ts"
import { asVendor, insertVendor } from "./MarketBuilder.ts"

/** Runs statements on the database of the running service. */
export const inDatabase = <A, E>(work: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(
    TestApp,
    ({ databaseUrl }) => Effect.provide(work, sharedClient(databaseUrl))
  ).pipe(Effect.orDie)

/** A sub-order to be made, as its buyer has paid it. */
export interface SaleSpec {
  readonly organizationId?: string
  readonly lines?: ReadonlyArray<BuiltLine>
  /** How many lines of the order, from the first one on, are the vendor's; the others are the store's. Default all. */
  readonly vendorLines?: number
  readonly status?: "pending" | "confirmed" | "shipped" | "delivered" | "cancelled"
  /** Days ago. Default 1, for what is delivered. */
  readonly deliveredDaysAgo?: number
  /** Days ago that it was sold and shipped. Default today and not. */
  readonly soldDaysAgo?: number
  readonly shippedDaysAgo?: number
  /** Vendor and customer; absent: new ones. */
  readonly vendorId?: string
  readonly userId?: string
  readonly onHand?: number
}

/** A line of a sale: `worth` is what all its units cost, minor units. */
export interface SaleLine {
  readonly id: string
  readonly entityId: string
  readonly quantity: number
}

export interface Sale {
  readonly orderId: string
  readonly subOrderId: string
  readonly vendorId: string
  readonly customerId: string
  readonly lines: ReadonlyArray<SaleLine>
  readonly buyer: Partial<Actor>
  readonly vendor: Partial<Actor>
}

const daysAgo = (days: number | undefined): Date | null =>
  days === undefined ? null : new Date(Date.now() - days * 86_400_000)

const ids = rowsOf(Schema.Struct({ id: Schema.String }))
const Refund = Schema.Struct({ id: Schema.String, amount: Schema.Int, status: Schema.String, lines: Schema.Int })
const refunds = rowsOf(Refund)

const aCustomerRow = Effect.fnUntraced(function*(organizationId: string, userId: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* ids(sql)`
    insert into customers (id, organization_id, user_id) values (${newId()}::uuid, ${organizationId}, ${userId})
    on conflict (organization_id, user_id) do update set updated_at = now() returning id`
  return row?.id ?? ""
})

/** Lines of a vendor with a commission of a tenth, as splitting an order leaves them. */
const insertLines = Effect.fnUntraced(function*(subOrderId: string, orderId: string, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into marketplace_sub_order_lines (id, sub_order_id, order_line_id, entity_id, title, quantity,
      total_price, rate_bps, commission_amount)
    select gen_random_uuid(), ${subOrderId}::uuid, l.id, l.entity_id, l.title, l.quantity, l.total_price, 1000,
      l.total_price / 10
    from order_lines l where l.order_id = ${orderId}::uuid order by l.position limit ${count}`
  yield* sql`update marketplace_vendor_sub_orders s set subtotal = l.total, commission_amount = l.commission,
      payout_amount = l.total - l.commission
    from (select sum(total_price) as total, sum(commission_amount) as commission from marketplace_sub_order_lines
      where sub_order_id = ${subOrderId}::uuid) l where s.id = ${subOrderId}::uuid`
})

const insertSale = Effect.fnUntraced(function*(spec: SaleSpec) {
  const sql = yield* SqlClient.SqlClient
  const { status = "delivered", userId = `buyer-${newId()}` } = spec
  const organizationId = spec.organizationId ?? (yield* theOrganization)
  const vendorId = spec.vendorId ?? (yield* insertVendor({ organizationId }))
  const customerId = yield* aCustomerRow(organizationId, userId)
  const order = yield* buildOrder({
    organizationId,
    customerId,
    status: "confirmed",
    lines: spec.lines ?? [{ unitPrice: 1_000, quantity: 2 }, { unitPrice: 500 }],
    ...(spec.onHand === undefined ? {} : { onHand: spec.onHand })
  })
  const count = spec.vendorLines ?? order.lines.length
  const subOrderId = newId()
  const deliveredAt = status === "delivered" ? daysAgo(spec.deliveredDaysAgo ?? 1) : null
  yield* sql`insert into marketplace_vendor_sub_orders (id, organization_id, order_id, vendor_id, currency, status,
      subtotal, commission_amount, payout_amount, shipped_at, delivered_at, created_at)
    values (${subOrderId}::uuid, ${organizationId}, ${order.id}::uuid, ${vendorId}::uuid, 'USD', ${status}, 0, 0, 0,
      ${daysAgo(spec.shippedDaysAgo)}, ${deliveredAt}, ${daysAgo(spec.soldDaysAgo ?? 0)})`
  yield* insertLines(subOrderId, order.id, count)
  const sale: Sale = {
    orderId: order.id,
    subOrderId,
    vendorId,
    customerId,
    lines: order.lines.slice(0, count),
    buyer: inOrganization(organizationId, asCustomer(userId)),
    vendor: asVendor(vendorId, organizationId)
  }
  return sale
})

/** Sells something of a vendor to a customer. */
export const aSale = (spec: SaleSpec = {}) => inDatabase(insertSale(spec))

/** Inserts a dispute in a state; its sub-order is on hold while it is open. */
export const aDispute = Effect.fnUntraced(
  function*(sale: Sale, status = "vendor_response_pending", deadlineInDays = 3, within?: string) {
    const id = newId()
    const organizationId = within ?? (yield* theOrganization)
    yield* inDatabase(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into marketplace_disputes (id, organization_id, sub_order_id, opened_by, reason, status, deadline_at)
        values (${id}::uuid, ${organizationId}, ${sale.subOrderId}::uuid, 'somebody', 'defective', ${status},
          ${daysAgo(-deadlineInDays)})`
      yield* sql`update marketplace_vendor_sub_orders set on_hold = ${status !== "resolved"}
        where id = ${sale.subOrderId}::uuid`
    }))
    return id
  }
)

/** Inserts a return of one unit of each line in a state. */
export const aReturn = Effect.fnUntraced(
  function*(sale: Sale, status = "requested", deadlineInDays = 5, within?: string) {
    const id = newId()
    const organizationId = within ?? (yield* theOrganization)
    const units = sale.lines.map(({ entityId }) => ({ entityId, quantity: 1 }))
    yield* onDatabase((sql) =>
      sql`insert into marketplace_return_requests (id, organization_id, sub_order_id, customer_id, reason, status,
          line_items, deadline_at)
        values (${id}::uuid, ${organizationId}, ${sale.subOrderId}::uuid, ${sale.customerId}::uuid, 'defective',
          ${status}, ${JSON.stringify(units)}::jsonb, ${daysAgo(-deadlineInDays)})`
    )
    return id
  }
)

/** Refunds of an order: what each gives back, minor units, and its state. */
export const refundsOf = ({ orderId }: Sale) =>
  onDatabase((sql) =>
    refunds(sql)`
      select r.id, r.amount::int4 as amount, r.status,
        (select count(*)::int4 from refund_lines l where l.refund_id = r.id) as lines
      from refunds r where r.order_id = ${orderId}::uuid order by r.created_at`
  )

/** Whether nothing of a sub-order may be paid out because of a dispute. */
export const isOnHold = ({ subOrderId }: Sale) =>
  onDatabase((sql) =>
    sql`select on_hold as held from marketplace_vendor_sub_orders
      where id = ${subOrderId}::uuid`
  ).pipe(Effect.map(([row]) => row?.["held"]))
