import { Effect, Schema } from "effect"
import { CurrentActor, CustomerId, OrderId, OrderLineId, type PluginDatabase, rowsOf } from "stoa/plugin"

const Metadata = Schema.Record(Schema.String, Schema.Unknown)

/** A sold line whose gift cards are still to be issued. */
const SoldLine = Schema.Struct({
  id: OrderLineId,
  orderId: OrderId,
  customerId: Schema.NullOr(CustomerId),
  /** The order's address, else the customer's. */
  email: Schema.NullOr(Schema.String),
  currency: Schema.String,
  unitPrice: Schema.Int,
  units: Schema.Int,
  metadata: Metadata,
  orderMetadata: Metadata
})
export type SoldLine = typeof SoldLine.Type

const soldLines = rowsOf(SoldLine)
const addresses = rowsOf(Schema.Struct({ email: Schema.NullOr(Schema.String) }))

const joins = "left join plugin_customers p on p.id = o.customer_id and p.organization_id = o.organization_id"
const address = "coalesce(nullif(o.email, ''), p.email)"

/** Lines of these orders that are paid in full and have no cards yet; units that were refunded get none. */
export const unissuedLines = Effect.fn("Purchases.unissued")(
  function*({ sql }: PluginDatabase["Service"], orderIds: ReadonlyArray<OrderId>, productType: string) {
    const { organizationId } = yield* CurrentActor
    return yield* soldLines(sql)`select l.id, o.id as "orderId", o.customer_id as "customerId", o.currency,
        l.unit_price::float8 as "unitPrice", l.quantity - l.refunded_quantity as units, l.metadata,
        o.metadata as "orderMetadata", ${sql.literal(address)} as email
      from plugin_orders o join plugin_order_lines l on l.order_id = o.id ${sql.literal(joins)}
      where o.organization_id = ${organizationId} and o.id = any(${orderIds}::uuid[]) and l.entity_type = ${productType}
        and l.unit_price > 0 and l.quantity > l.refunded_quantity and o.amount_captured >= o.grand_total
        and o.status <> 'cancelled' and o.imported_at is null
        and not exists (select 1 from gift_cards g where g.organization_id = o.organization_id and g.order_line_id = l.id)
      order by l.id`
  },
  Effect.orDie
)

/** Where mails about an order go. */
export const orderAddress = Effect.fn("Purchases.address")(
  function*({ sql }: PluginDatabase["Service"], orderId: OrderId) {
    const [row] = yield* addresses(sql)`select ${sql.literal(address)} as email from plugin_orders o ${
      sql.literal(joins)
    }
      where o.organization_id = ${(yield* CurrentActor).organizationId} and o.id = ${orderId}::uuid`
    return row?.email ?? null
  },
  Effect.orDie
)
