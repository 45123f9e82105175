import { Schema } from "effect"
import { type OrderId, rowsOf, statement } from "stoa/plugin"

/** What decides how a part of an order can be given back or cancelled. `captured`: something of its payment was taken. */
const locked = rowsOf(Schema.Struct({ captured: Schema.Boolean, lines: Schema.Int }))

/**
 * Keeps an order's money from others until the caller's transaction ends, as the core's refunds do: what is then read of
 * it stays so. Orders are locked before sub-orders and accounts. Undefined: the organization has none such.
 */
export const lockOrder = statement("OrderLockRepo.lock", function*(sql, organizationId, orderId: OrderId) {
  const [row] = yield* locked(sql`select o.amount_captured is not null as captured,
      (select count(*)::int4 from plugin_order_lines l where l.order_id = o.id) as lines
    from plugin_orders o where o.id = ${orderId}::uuid and o.organization_id = ${organizationId} for update of o`)
  return row
})
