import { Schema } from "effect"
import {
  type Actor,
  CustomerId,
  type Database,
  isSignedIn,
  isUuid,
  offsetOf,
  OrderId,
  type PageRequest,
  rowsOf,
  statement,
  type Table
} from "stoa/plugin"

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
const pages = rowsOf(Schema.Struct({ total: Schema.Int, ids: Schema.Array(Schema.String) }))

const userOf = (actor: Actor): string | null => isSignedIn(actor) ? actor.userId : null
const vendorOf = ({ vendorId }: Actor): string | null => vendorId !== null && isUuid(vendorId) ? vendorId : null

const orderedSubOrders = (sql: Database, actor: Actor) =>
  sql`select s.id from marketplace_vendor_sub_orders s
      where s.organization_id = ${actor.organizationId} and s.vendor_id = ${vendorOf(actor)}::uuid`

/** Sub-orders of the actor's own vendor, and sub-orders that the actor bought. */
const ownSubOrders = (sql: Database, actor: Actor) =>
  sql`${orderedSubOrders(sql, actor)}
    union all
    select s.id from plugin_customers c
      join plugin_orders o on o.organization_id = c.organization_id and o.customer_id = c.id
      join marketplace_vendor_sub_orders s on s.organization_id = o.organization_id and s.order_id = o.id
      where c.organization_id = ${actor.organizationId} and c.user_id = ${userOf(actor)}`

/** Who bought and who sells a sub-order; undefined when the organization has none such. */
export const ownership = statement("PartyRepo.ownership", function*(sql, organizationId, subOrderId: string) {
  const [row] = yield* owners(sql`select s.order_id as "orderId", s.vendor_id as "vendorId",
      o.customer_id as "customerId", c.user_id as "buyerUserId"
    from marketplace_vendor_sub_orders s
    left join plugin_orders o on o.id = s.order_id and o.organization_id = s.organization_id
    left join plugin_customers c on c.id = o.customer_id and c.organization_id = s.organization_id
    where s.id = ${subOrderId}::uuid and s.organization_id = ${organizationId}`)
  return row
})

/** The ids of a page of the rows that hang on sub-orders that the actor sells, or sells and bought, newest first. */
export const ownRows = statement(
  "PartyRepo.own",
  function*(
    sql,
    organizationId,
    actor: Actor,
    as: "seller" | "party",
    { name }: Table,
    { status, subOrderId }: Readonly<Record<string, unknown>>,
    page: PageRequest
  ) {
    const where = sql.and([
      sql`t.organization_id = ${organizationId}`,
      // An array is looked up in the index however the planner estimates it.
      sql`t.sub_order_id = any(array(${(as === "seller" ? orderedSubOrders : ownSubOrders)(sql, actor)}))`,
      ...(status === undefined ? [] : [sql`t.status = ${String(status)}`]),
      ...(subOrderId === undefined ? [] : [sql`t.sub_order_id = ${String(subOrderId)}::uuid`])
    ])
    const [found] = yield* pages(sql`select (select count(*) from ${sql(name)} t where ${where}) as total,
      array(select t.id from ${sql(name)} t where ${where}
        order by t.created_at desc, t.id desc limit ${page.limit} offset ${offsetOf(page)}) as ids`)
    return found ?? { total: 0, ids: [] }
  }
)
