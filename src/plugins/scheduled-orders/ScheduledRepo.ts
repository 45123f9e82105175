import { DateTime, Schema } from "effect"
import { type CartId, type CustomerId, OrderId, rowsOf, statement } from "stoa/plugin"

const ids = rowsOf(Schema.Struct({ id: Schema.String }))
const orderIds = rowsOf(Schema.Struct({ id: OrderId }))
const slotRows = rowsOf(Schema.Struct({
  startsAt: Schema.Date,
  capacity: Schema.NullOr(Schema.Int),
  taken: Schema.Int
}))
const capacities = rowsOf(Schema.Struct({ capacity: Schema.Int }))

/** Locks a slot until the caller's transaction ends and gives its capacity; a slot that no one has used yet gets this one. */
export const lockSlot = statement(
  "ScheduledOrders.lockSlot",
  function*(sql, organizationId, startsAt: Date, capacity: number) {
    const now = yield* DateTime.nowAsDate
    yield* sql`insert into scheduled_order_slots (id, organization_id, starts_at, capacity, created_at, updated_at)
      values (gen_random_uuid(), ${organizationId}, ${startsAt}, ${capacity}, ${now}, ${now}) on conflict do nothing`
    const [slot] = yield* capacities(sql`select capacity from scheduled_order_slots
      where organization_id = ${organizationId} and starts_at = ${startsAt} for update`)
    return slot?.capacity ?? capacity
  }
)

/** Of these slots how many orders each has, but for one, and its capacity where someone has used it. */
export const takenSlots = statement(
  "ScheduledOrders.takenSlots",
  function*(sql, organizationId, starts: ReadonlyArray<Date>, without: string | null) {
    if (starts.length === 0) return []
    return yield* slotRows(sql`select i.at as "startsAt", s.capacity, (
        select count(*) from scheduled_orders o where o.organization_id = ${organizationId} and o.slot_start = i.at
          and o.status not in ('cancelled', 'expired') and o.id is distinct from ${without}::uuid)::int4 as taken
      from unnest(${starts.map((at) => at.toISOString())}::text[]::timestamptz[]) as i(at)
        left join scheduled_order_slots s on s.organization_id = ${organizationId} and s.starts_at = i.at`)
  }
)

/** What is still to come of customers whose personal data were erased. */
export const openOfErased = statement("ScheduledOrders.openOfErased", function*(sql, organizationId) {
  return yield* ids(sql`select o.id from scheduled_orders o
      join plugin_customers c on c.organization_id = o.organization_id and c.id = o.customer_id and c.erased_at is not null
      where o.organization_id = ${organizationId} and o.status in ('scheduled', 'paused', 'price_review', 'failed')`)
})

const units = rowsOf(Schema.Struct({ units: Schema.Int }))

/** The units in orders to come of a customer, without this one. Others that count them wait until the transaction ends. */
export const unitsToCome = statement(
  "ScheduledOrders.unitsToCome",
  function*(sql, organizationId, customerId: CustomerId, without: string) {
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${`scheduled units ${organizationId} ${customerId}`}, 0))`
    const [row] = yield* units(sql`select coalesce(sum((i.item->>'quantity')::int8), 0)::float8 as units
      from scheduled_orders o cross join lateral jsonb_array_elements(o.items) as i (item)
      where o.organization_id = ${organizationId} and o.customer_id = ${customerId}::uuid and o.status = 'scheduled'
        and o.id <> ${without}::uuid`)
    return row?.units ?? 0
  }
)

/** The order that a cart became. */
export const orderOfCart = statement("ScheduledOrders.orderOfCart", function*(sql, organizationId, cartId: CartId) {
  const [order] = yield* orderIds(sql`select id from plugin_orders
      where organization_id = ${organizationId} and cart_id = ${cartId} and status <> 'cancelled'`)
  return order?.id
})

/**
 * Deletes addresses, notes, texts of lines and means of payment of up to `limit` orders that ended before, or whose customer
 * was erased; gives how many.
 */
export const forgetEnded = statement(
  "ScheduledOrders.forgetEnded",
  function*(sql, organizationId, before: Date, limit: number) {
    const rows = yield* ids(sql`update scheduled_orders
      set delivery_address = null, notes = null, payment_method_token = null,
        items = (select jsonb_agg(i.item || '{"notes": null, "metadata": {}}' order by i.n)
          from jsonb_array_elements(items) with ordinality i (item, n))
      where organization_id = ${organizationId} and id = any(array(select o.id from scheduled_orders o
        where o.organization_id = ${organizationId} and o.status in ('completed', 'cancelled', 'expired', 'failed')
          and o.due_at is null
          and (o.updated_at < ${before} or exists (select 1 from plugin_customers c
            where c.organization_id = o.organization_id and c.id = o.customer_id and c.erased_at is not null))
          and (num_nonnulls(o.delivery_address, o.notes, o.payment_method_token) > 0 or exists (
            select 1 from jsonb_array_elements(o.items) i where i->'notes' <> 'null' or i->'metadata' <> '{}'))
        limit ${limit} for update skip locked)) returning id`)
    return rows.length
  }
)
