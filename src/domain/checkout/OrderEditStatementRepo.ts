import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import type { Order } from "../orders/Order.ts"
import type { PricedCart } from "./Checkout.ts"
import { usage, usageReturned } from "./CreateOrderStatementRepo.ts"

/**
 * Updates the totals and lines of a pending order of this revision whose payment has not begun: an authorization of
 * another amount must not exist. Lines keep their positions, new ones come last. No row when a guard refuses.
 */
export const orderUpdated = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  order: Order,
  revision: number,
  taxProvider: string | null
) =>
  sql`with input as materialized (select ${JSON.stringify(order)}::jsonb as o),
    edited as (
      update orders set subtotal = (o->>'subtotal')::bigint, tax_total = (o->>'taxTotal')::bigint,
        tax_included = (o->>'taxIncluded')::boolean, tax_provider = ${taxProvider}::text,
        shipping_total = (o->>'shippingTotal')::bigint, discount_total = (o->>'discountTotal')::bigint,
        grand_total = (o->>'grandTotal')::bigint, metadata = o->'metadata', revision = revision + 1,
        updated_at = (o->>'updatedAt')::timestamptz
      from input where id = ${order.id}::uuid and organization_id = ${actor.organizationId} and revision = ${revision}
        and status = 'pending' and payment_intent_id is null and amount_captured is null
      returning id, organization_id),
    wanted as materialized (
      select (l->>'id')::uuid as id, l from edited, input, jsonb_array_elements(o->'lineItems') l),
    gone as (
      delete from order_lines where order_id = (select id from edited) and id <> all(array(select id from wanted))),
    kept as (
      insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku, title,
        quantity, unit_price, total_price, is_custom_price, tax_amount, discount_amount, metadata)
      select w.id, e.organization_id, e.id,
        coalesce((select position from order_lines x where x.order_id = e.id and x.id = w.id),
          (select max(position) + 1 from order_lines x where x.order_id = e.id)),
        (l->>'entityId')::uuid, l->>'entityType', (l->>'variantId')::uuid, l->>'sku', l->>'title',
        (l->>'quantity')::int, (l->>'unitPrice')::bigint, (l->>'totalPrice')::bigint, (l->>'isCustomPrice')::boolean,
        (l->>'taxAmount')::bigint, (l->>'discountAmount')::bigint, l->'metadata'
      from wanted w, edited e
      on conflict (id) do update set quantity = excluded.quantity, unit_price = excluded.unit_price,
        total_price = excluded.total_price, is_custom_price = excluded.is_custom_price,
        tax_amount = excluded.tax_amount, discount_amount = excluded.discount_amount, metadata = excluded.metadata)
    select id from edited`

/** Returns the usage of promotions that the order no longer uses. */
export const promotionsReturned = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  orderId: string,
  promotions: ReadonlyArray<string>
) =>
  sql`with usages as (
      delete from promotion_usages where order_id = ${orderId}::uuid and promotion_id = any(${[...promotions]}::uuid[])
      returning promotion_id, buyers),
    ${usageReturned(sql, actor.organizationId)}
    select 1`

/** Counts the usage of newly applied promotions, within their limits. */
export const promotionsUsed = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  order: Order,
  promotions: PricedCart["promotions"]
) =>
  sql`with input as materialized (
      select 0 as n, ${order.id}::uuid as id, ${actor.organizationId}::text as organization,
        ${order.customerId}::uuid as customer, ${JSON.stringify(promotions)}::jsonb as promotions),
    cart as (select 0 as n, (select email from orders where id = ${order.id}::uuid) as email),
    ${usage(sql)}
    select 1`
