import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { RefundableOrder } from "./RefundShares.ts"

/**
 * Reads the input of a refund calculation in one statement; undefined if the organization has no such order. A line
 * marked fulfilled has no unsent units, even if fulfillments record fewer.
 */
export const readRefundable = (sql: SqlClient.SqlClient, organization: string, orderId: string) =>
  sql<RefundableOrder>`select o.currency, coalesce(o.amount_captured, 0)::float8 as captured,
      o.refunded_total::float8 as refunded, o.shipping_total::float8 as "shippingTotal",
      o.payment_intent_id is not null and o.amount_captured is null as uncaptured,
      o.refunded_shipping::float8 as "refundedShipping", o.tax_included as "taxIncluded",
      coalesce((select sum(r.amount) from refunds r where r.order_id = ${orderId}::uuid and r.status = 'pending'), 0)::float8
        as pending,
      coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'sellable', coalesce(l.variant_id, l.entity_id),
          'quantity', l.quantity, 'refundedQuantity', l.refunded_quantity, 'refundedValue', l.refunded_value,
          'totalPrice', l.total_price, 'discountAmount', l.discount_amount, 'taxAmount', l.tax_amount,
          'unsent', case when l.fulfillment_status = 'fulfilled' then 0
            else greatest(0, l.quantity - l.refunded_quantity - coalesce(sent.quantity, 0)) end) order by l.position)
        from order_lines_read l left join (
          select fl.order_line_id, sum(fl.quantity)::int4 as quantity
          from fulfillments_read f join fulfillment_lines_read fl on fl.fulfillment_id = f.id
          where f.order_id = ${orderId}::uuid and f.status <> 'cancelled' group by fl.order_line_id
        ) sent on sent.order_line_id = l.id
        where l.order_id = o.id), '[]') as lines
    from orders_read o where o.id = ${orderId}::uuid and o.organization_id = ${organization}`.pipe(
    Effect.map(([row]) => row)
  )

/**
 * Locks an order's money until the transaction ends. A separate statement, so that the next one sees every refund
 * decided or settled before it.
 */
export const lockMoney = (sql: SqlClient.SqlClient, organization: string, orderId: string) =>
  sql`select 1 from orders_read where id = ${orderId}::uuid and organization_id = ${organization} for update`
