import type { SqlClient } from "effect/sql"
import type { Actor } from "../access/Actor.ts"
import { newId } from "../ids/Id.ts"
import type { Order } from "../orders/Order.ts"
import type { Decision } from "./Checkout.ts"

/** An order to be placed: the record as it will be, and what its placing consumes. */
export interface Placement {
  readonly order: Order
  readonly decision: Decision
  readonly cartId: string
  readonly idempotencyKey: string | null
  readonly provider: string
}

export interface PlacedRow {
  readonly placed: boolean
  readonly existed: boolean
}

/**
 * Counters of promotions, each limited by a constraint of its table, so that 10 × L buyers use a code exactly L times.
 * Rows are locked by id, so that two checkouts with the same promotions never wait for each other in a circle.
 */
const usage = (sql: SqlClient.SqlClient, { customerId, promotions }: Decision, orderId: string) => {
  const ids = promotions.map((one) => one.promotionId)
  const limited = customerId === null ? [] : promotions
  return sql`locked as (select p.id from promotions p, cart where p.id = any(${ids}::uuid[]) order by p.id for update of p),
    used as (update promotions p set used_count = p.used_count + 1 from locked
      where p.id = locked.id and p.id = any(${ids}::uuid[]) returning p.id),
    usages as (insert into promotion_usages (organization_id, promotion_id, order_id, customer_id)
      select cart.organization_id, used.id, ${orderId}::uuid, ${customerId}::uuid from used, cart),
    counted as (insert into promotion_customer_usages as u (promotion_id, customer_id, used_count, usage_limit)
      select (l->>'promotionId')::uuid, ${customerId}::uuid, 1, (l->>'perCustomer')::int
      from jsonb_array_elements(${JSON.stringify(limited)}::jsonb) l, cart order by 1
      on conflict (promotion_id, customer_id) do update
        set used_count = u.used_count + 1, usage_limit = excluded.usage_limit),`
}

/**
 * The one statement that makes an order: its stock, the end of its cart, promotion usage, order, lines, history and
 * announcement. Everything hangs on `hold` and `cart`: a reservation that has run out, or a cart that is not this
 * checkout's any more, and nothing is written. The order travels as one JSON value, however many lines it has.
 * Lock order: hold, cart, promotions by id, then inserts.
 */
export const placeStatement = (sql: SqlClient.SqlClient, actor: Actor, placement: Placement) => {
  const { cartId, decision, idempotencyKey, order, provider } = placement
  return sql<PlacedRow>`with
    input as materialized (select ${JSON.stringify(order)}::jsonb as o),
    hold as (update holds set state = 'sold', expires_at = null, updated_at = now()
      where organization_id = ${actor.organizationId} and holder = ${order.id} and state = 'held'
        and exists (select 1 from carts where id = ${cartId}::uuid and organization_id = ${actor.organizationId}
          and checkout_id = ${order.id}::uuid and status = 'checking_out') returning 1),
    cart as (update carts set status = 'checked_out', version = version + 1, updated_at = now()
      where id = ${cartId}::uuid and organization_id = ${actor.organizationId} and checkout_id = ${order.id}::uuid
        and status = 'checking_out' and exists (select 1 from hold) returning id, organization_id),
    ${decision.promotions.length === 0 ? sql.literal("") : usage(sql, decision, order.id)}
    placed as (insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
        shipping_total, discount_total, grand_total, payment_intent_id, payment_method_id, payment_provider,
        idempotency_key, cart_id, cart_secret_hash, shipping_address, metadata, placed_at, updated_at)
      select (o->>'id')::uuid, cart.organization_id, o->>'orderNumber', (o->>'customerId')::uuid, 'pending',
        o->>'currency', (o->>'subtotal')::bigint, (o->>'taxTotal')::bigint, (o->>'shippingTotal')::bigint,
        (o->>'discountTotal')::bigint, (o->>'grandTotal')::bigint, o->>'paymentIntentId', o->>'paymentMethodId',
        ${provider}, ${idempotencyKey}::text, cart.id, ${decision.cartSecretHash},
        nullif(o->'shippingAddress', 'null'), o->'metadata', (o->>'placedAt')::timestamptz, (o->>'placedAt')::timestamptz
      from cart, input returning id, organization_id),
    lines as (insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, variant_id, sku,
        title, quantity, unit_price, total_price, tax_amount, discount_amount)
      select (l->>'id')::uuid, p.organization_id, p.id, n, (l->>'entityId')::uuid, l->>'entityType',
        (l->>'variantId')::uuid, l->>'sku', l->>'title', (l->>'quantity')::int, (l->>'unitPrice')::bigint,
        (l->>'totalPrice')::bigint, (l->>'taxAmount')::bigint, (l->>'discountAmount')::bigint
      from placed p, input, jsonb_array_elements(input.o->'lineItems') with ordinality t(l, n)),
    history as (insert into order_status_history
        (id, organization_id, order_id, from_status, to_status, reason, changed_by)
      select ${newId()}::uuid, organization_id, id, 'pending', 'pending', 'order_created', ${actor.userId}::text
      from placed),
    event as (insert into outbox_events
        (id, organization_id, type, entity_type, entity_id, payload, actor_id, request_id)
      select ${newId()}::uuid, organization_id, 'orders.create', 'order', id::text, input.o, ${actor.userId}::text,
        ${actor.requestId}::text
      from placed, input)
    select exists (select 1 from placed) as placed,
      exists (select 1 from orders where id = ${order.id}::uuid
        and organization_id = ${actor.organizationId}) as existed`
}
