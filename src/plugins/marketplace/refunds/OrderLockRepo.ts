import { Effect, Schema } from "effect"
import { CurrentActor, type OrderId, type PluginDatabase, rowsOf } from "stoa/plugin"

/** What decides how a part of an order can be given back or cancelled. */
const locked = rowsOf(Schema.Struct({
  /** Something of its payment was taken. */
  captured: Schema.Boolean,
  lines: Schema.Int
}))

/**
 * Keeps an order's money from others until the caller's transaction ends, as the core's refunds do: what is then read of
 * it stays so. Orders are locked before sub-orders and accounts. Undefined: the organization has none such.
 */
export const lockOrder = Effect.fnUntraced(function*({ sql }: PluginDatabase["Service"], orderId: OrderId) {
  const { organizationId } = yield* CurrentActor
  const [row] = yield* locked(sql)`select o.amount_captured is not null as captured,
      (select count(*)::int4 from plugin_order_lines l where l.order_id = o.id) as lines
    from plugin_orders o where o.id = ${orderId}::uuid and o.organization_id = ${organizationId} for update of o`
  return row
}, Effect.orDie)
