import { Schema } from "effect"
import { CustomerId, EntityId, OrderId, rowsOf, statement } from "stoa/plugin"

const purchases = rowsOf(Schema.Struct({ orderId: OrderId, isVerified: Schema.Boolean }))

/** The customer's order that is named, else their last fulfilled one that contains the entity. */
export const purchaseOf = statement(
  "Reviews.purchase",
  function*(sql, organizationId, customerId: CustomerId, entityId: EntityId, orderId?: OrderId) {
    const [row] = yield* purchases(sql`select "orderId", "isVerified" from (
        select o.id as "orderId", o.placed_at, o.status = 'fulfilled' and exists (select 1 from plugin_order_lines l
          where l.organization_id = o.organization_id and l.order_id = o.id and l.entity_id = ${entityId}::uuid)
          as "isVerified"
        from plugin_orders o where o.organization_id = ${organizationId} and o.customer_id = ${customerId}::uuid
          and ${orderId === undefined ? sql`o.status = 'fulfilled'` : sql`o.id = ${orderId}::uuid`}) o
      where ${orderId === undefined ? sql`"isVerified"` : sql`true`} order by placed_at desc, "orderId" desc limit 1`)
    return row
  }
)

const requests = rowsOf(Schema.Struct({
  email: Schema.NullOr(Schema.String),
  isGuest: Schema.Boolean,
  number: Schema.String,
  isFulfilled: Schema.Boolean,
  /** A parcel is still on its way. */
  isUnderWay: Schema.Boolean,
  deliveredAt: Schema.NullOr(Schema.Date),
  things: Schema.Array(Schema.String)
}))

/** What a request for reviews of an order needs: `things` are the titles of what its buyer has not reviewed. */
export const requestOf = statement("Reviews.request", function*(sql, organizationId, orderId: OrderId) {
  const [row] = yield* requests(sql`select case when o.customer_id is null then o.email else c.email end as email,
        o.customer_id is null as "isGuest", o.order_number as number, o.status = 'fulfilled' as "isFulfilled",
        coalesce(f.open, false) as "isUnderWay", f.delivered_at as "deliveredAt", coalesce(l.things, '{}') as things
      from plugin_orders o
        left join plugin_customers c on c.organization_id = o.organization_id and c.id = o.customer_id and c.erased_at is null
        left join lateral (select bool_or(status in ('pending', 'processing', 'shipped')) as open,
            max(delivered_at) as delivered_at
          from plugin_fulfillments where organization_id = o.organization_id and order_id = o.id) f on true
        left join lateral (select array_agg(title order by position) as things from (
          select distinct on (entity_id) title, position from plugin_order_lines l
          where l.organization_id = o.organization_id and l.order_id = o.id and not exists (
            select 1 from customer_reviews r where r.organization_id = o.organization_id
              and (r.customer_id = o.customer_id or r.order_id = o.id) and r.entity_id = l.entity_id)
          order by entity_id, position) l) l on true
      where o.organization_id = ${organizationId} and o.id = ${orderId}::uuid`)
  return row
})

const LinkedOrder = Schema.Struct({
  id: OrderId,
  number: Schema.String,
  customerId: Schema.NullOr(CustomerId),
  things: Schema.Array(Schema.Struct({ entityId: EntityId, title: Schema.String }))
})
export type LinkedOrder = typeof LinkedOrder.Type

const linkedOrders = rowsOf(LinkedOrder)

/** An order that a link is about, locked; `things` are delivered. Undefined after an erasure, which takes the address. */
export const linkedOrder = statement("Reviews.linkedOrder", function*(sql, organizationId, orderId: OrderId) {
  const [row] = yield* linkedOrders(sql`select o.id, o.order_number as number, o.customer_id as "customerId",
        coalesce(l.things, '[]') as things
      from plugin_orders o
        left join lateral (
          select jsonb_agg(jsonb_build_object('entityId', entity_id, 'title', title) order by position) as things
          from (select distinct on (entity_id) entity_id, title, position from plugin_order_lines l
            where l.organization_id = o.organization_id and l.order_id = o.id and l.entity_id is not null
            order by entity_id, position) lines) l on o.status = 'fulfilled'
      where o.organization_id = ${organizationId} and o.id = ${orderId}::uuid and o.email is not null
      for share of o`)
  return row
})

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** The reviews of a customer, and those of their orders that they wrote as a guest. */
export const reviewsOf = statement("Reviews.ofCustomer", function*(sql, organizationId, customerId: CustomerId) {
  const rows = yield* ids(sql`select id from customer_reviews where organization_id = ${organizationId}
      and (customer_id = ${customerId}::uuid or customer_id is null and order_id in (select id from plugin_orders
        where organization_id = ${organizationId} and customer_id = ${customerId}::uuid))`)
  return rows.map(({ id }) => id)
})

const erased = rowsOf(Schema.Struct({ isErased: Schema.Boolean }))

/** Whether the personal data of this customer were erased. */
export const isErased = statement("Reviews.isErased", function*(sql, organizationId, customerId: CustomerId) {
  const [row] = yield* erased(sql`select erased_at is not null as "isErased" from plugin_customers
      where organization_id = ${organizationId} and id = ${customerId}::uuid`)
  return row?.isErased === true
})
