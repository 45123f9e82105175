import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import {
  type Actor,
  CustomerId,
  isSignedIn,
  isUuid,
  offsetOf,
  OrderId,
  type PageRequest,
  type PluginDatabase,
  rowsOf
} from "stoa/plugin"

/** Whose a sub-order is. */
const Ownership = Schema.Struct({
  orderId: OrderId,
  vendorId: Schema.String,
  /** Null: the order of a guest. */
  customerId: Schema.NullOr(CustomerId),
  /** The user account of that customer; null: the customer has none. */
  buyerUserId: Schema.NullOr(Schema.String)
})
export type Ownership = typeof Ownership.Type

const owners = rowsOf(Ownership)
const totals = rowsOf(Schema.Struct({ total: Schema.Int }))
const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** Rows to look for among one's own; a column that is undefined does not filter. */
export interface OwnFilter {
  readonly subOrderId?: string | undefined
  readonly status?: string | undefined
}

/** Tables whose rows hang on a sub-order. */
export type OfSubOrders = "marketplace_disputes" | "marketplace_return_requests"

const userOf = (actor: Actor): string | null => isSignedIn(actor) ? actor.userId : null
const vendorOf = ({ vendorId }: Actor): string | null => vendorId !== null && isUuid(vendorId) ? vendorId : null

/** Sub-orders of the actor's own vendor, by their ids. */
const orderedSubOrders = (sql: SqlClient.SqlClient, actor: Actor) =>
  sql`select s.id from marketplace_vendor_sub_orders s
      where s.organization_id = ${actor.organizationId} and s.vendor_id = ${vendorOf(actor)}::uuid`

/** Those, and the ones that the actor bought. */
const ownSubOrders = (sql: SqlClient.SqlClient, actor: Actor) =>
  sql`${orderedSubOrders(sql, actor)}
    union all
    select s.id from customers c
      join orders o on o.organization_id = c.organization_id and o.customer_id = c.id
      join marketplace_vendor_sub_orders s on s.organization_id = o.organization_id and s.order_id = o.id
      where c.organization_id = ${actor.organizationId} and c.user_id = ${userOf(actor)}`

/** Who bought and who sells a sub-order. Buyers are known by the core's orders and customers alone. */
export const partyRepo = ({ sql }: PluginDatabase["Service"]) => ({
  /** Undefined when the organization has no such sub-order. */
  ownership: Effect.fn("PartyRepo.ownership")(function*(organizationId: string, subOrderId: string) {
    const [row] = yield* owners(sql)`select s.order_id as "orderId", s.vendor_id as "vendorId",
        o.customer_id as "customerId", c.user_id as "buyerUserId"
      from marketplace_vendor_sub_orders s
      left join orders o on o.id = s.order_id and o.organization_id = s.organization_id
      left join customers c on c.id = o.customer_id and c.organization_id = s.organization_id
      where s.id = ${subOrderId}::uuid and s.organization_id = ${organizationId}`
    return row
  }, Effect.orDie),

  /** The ids of a page of the rows that hang on sub-orders that the actor sells, or sells and bought, newest first. */
  own: Effect.fn("PartyRepo.own")(
    function*(
      actor: Actor,
      as: "seller" | "party",
      table: OfSubOrders,
      { status, subOrderId }: OwnFilter,
      page: PageRequest
    ) {
      const where = sql.and([
        sql`t.organization_id = ${actor.organizationId}`,
        sql`t.sub_order_id in (${(as === "seller" ? orderedSubOrders : ownSubOrders)(sql, actor)})`,
        ...(status === undefined ? [] : [sql`t.status = ${status}`]),
        ...(subOrderId === undefined ? [] : [sql`t.sub_order_id = ${subOrderId}::uuid`])
      ])
      const [[counted], rows] = yield* Effect.all([
        totals(sql)`select count(*) as total from ${sql(table)} t where ${where}`,
        ids(sql)`select t.id from ${sql(table)} t where ${where}
          order by t.created_at desc, t.id desc limit ${page.limit} offset ${offsetOf(page)}`
      ])
      return { ids: rows.map(({ id }) => id), total: counted?.total ?? 0 }
    },
    Effect.orDie
  )
})
