import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrderGoods } from "./OrderGoods.ts"

/** Units of each order line in fulfillments that were not cancelled, by `order_line_id`: an SQL fragment. */
const covered = (sql: SqlClient.SqlClient, organization: string, orderId: string) =>
  sql`select fl.order_line_id, sum(fl.quantity)::int4 as units
    from fulfillments f join fulfillment_lines fl on fl.fulfillment_id = f.id
    where f.order_id = ${orderId}::uuid and f.organization_id = ${organization} and f.status <> 'cancelled'
    group by fl.order_line_id`

/** Locks an order until the transaction ends, so that later reads in it stay true. */
export const lockOrder = (sql: SqlClient.SqlClient, organization: string, orderId: string) =>
  sql`select 1 from orders_read where id = ${orderId}::uuid and organization_id = ${organization} for update`

/** The goods of an order, in one statement; undefined when the organization has no such order. */
export const readGoods = (sql: SqlClient.SqlClient, organization: string, orderId: string) =>
  Effect.map(
    sql<OrderGoods>`select o.id as "orderId", o.status, o.amount_captured is not null or o.grand_total = 0 as paid,
        o.customer_id as "customerId",
        coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'entityId', l.entity_id, 'entityType', l.entity_type,
            'variantId', l.variant_id, 'sku', l.sku, 'title', l.title, 'quantity', l.quantity,
            'refundedQuantity', l.refunded_quantity, 'fulfillmentStatus', l.fulfillment_status,
            'covered', coalesce(c.units, 0)) order by l.position)
          from order_lines_read l left join (${covered(sql, organization, orderId)}) c on c.order_line_id = l.id
          where l.order_id = o.id and l.organization_id = o.organization_id), '[]') as lines
      from orders_read o where o.id = ${orderId}::uuid and o.organization_id = ${organization}`,
    ([goods]) => goods
  )

/**
 * Fulfilled units that did not leave stock, which holds for digital goods with stock until their order ends: those of
 * fulfilled lines without a shipment.
 */
export const unshelvedUnits = (sql: SqlClient.SqlClient, organization: string, orderId: string) =>
  sql<{ readonly sellable: string; readonly quantity: number }>`select coalesce(l.variant_id, l.entity_id) as sellable,
      sum(l.quantity)::int4 as quantity
    from order_lines_read l
    where l.order_id = ${orderId}::uuid and l.organization_id = ${organization} and l.fulfillment_status = 'fulfilled'
      and not exists (select 1 from fulfillments f join fulfillment_lines fl on fl.fulfillment_id = f.id
        where f.order_id = ${orderId}::uuid and fl.order_line_id = l.id and f.order_line_id is null
          and f.status <> 'cancelled')
    group by 1`
