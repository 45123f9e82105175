import { Schema } from "effect"
import { EntityId, type Order, OrderId, rowsOf, statement, Time, VariantId } from "stoa/plugin"
import { FulfillableLine, SoldOrder } from "./SubOrderShares.ts"

/** A line of an order, and whose it is; null: the store's own. */
const VendorLine = Schema.Struct({
  ...FulfillableLine.fields,
  vendorId: Schema.NullOr(Schema.String),
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  title: Schema.String,
  variantTitle: Schema.NullOr(Schema.String),
  quantity: Schema.Int
})
export type VendorLine = typeof VendorLine.Type

/** An order of the core as it is by now. */
const OrderFacts = Schema.Struct({
  ...SoldOrder.fields,
  id: OrderId,
  currency: Schema.String,
  isCancelled: Schema.Boolean,
  /** Why it was cancelled, as given by the caller who cancelled it. */
  cancellationReason: Schema.NullOr(Schema.String),
  lines: Schema.Array(VendorLine)
})
export type OrderFacts = typeof OrderFacts.Type

const facts = rowsOf(OrderFacts)
const owned = rowsOf(Schema.Struct({ entity_id: Schema.String, vendor_id: Schema.String, created_at: Time }))

/**
 * Reads orders of the core, which the caller has locked, in one statement. A line keeps its vendor. A new line gets the
 * vendor that its entity had when the order was created, or edited before payment: an entity that gets another vendor
 * later takes no past sale along. Imported orders belong to the store.
 */
export const readOrders = statement(
  "OrderFactsRepo.read",
  function*(sql, organizationId, orderIds: ReadonlyArray<OrderId>) {
    return yield* facts(sql`select o.id, o.currency, o.status = 'cancelled' as "isCancelled",
        o.tax_included as "taxIncluded", o.shipping_total::float8 as "shippingTotal",
        o.amount_captured::float8 as captured, coalesce(r.amount, 0)::float8 as "givenBack",
        coalesce(r.shipping, 0)::float8 as "shippingGivenBack",
        case when o.status = 'cancelled' then (select h.reason from plugin_order_status_changes h
          where h.order_id = o.id and h.to_status = 'cancelled' order by h.changed_at desc limit 1) end as "cancellationReason",
        coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'entityId', l.entity_id, 'variantId', l.variant_id,
              'title', l.title, 'variantTitle', l.variant_title, 'quantity', l.quantity, 'totalPrice', l.total_price,
              'discountAmount', l.discount_amount, 'taxAmount', l.tax_amount,
              'givenBack', coalesce((select sum(rl.amount) from plugin_refund_lines rl join plugin_refunds f on f.id = rl.refund_id
                where rl.order_line_id = l.id and f.order_id = o.id and f.status in ('pending', 'completed')), 0),
              'vendorId', coalesce(s.vendor_id, e.vendor_id)) order by l.position)
          from plugin_order_lines l
          left join marketplace_sub_order_lines sl on sl.order_line_id = l.id
          left join marketplace_vendor_sub_orders s on s.id = sl.sub_order_id
          left join marketplace_vendor_entities e on e.organization_id = ${organizationId} and e.entity_id = l.entity_id
            and o.imported_at is null and e.created_at <= case
              when o.revision > 0 and o.amount_captured is null then o.updated_at else o.placed_at end
          where l.order_id = o.id), '[]') as lines
      from plugin_orders o left join lateral (
        select sum(f.amount) as amount, sum(f.shipping_amount) as shipping from plugin_refunds f
        where f.order_id = o.id and f.status in ('pending', 'completed')) r on true
      where o.organization_id = ${organizationId} and o.id = any(${orderIds}::uuid[])
      order by o.id`)
  }
)

/** The same for orders that a checkout is about to create: nothing of them is paid or given back. One statement. */
export const factsOfNew = statement(
  "OrderFactsRepo.ofNew",
  function*(sql, organizationId, orders: ReadonlyArray<Order>) {
    const entityIds = [...new Set(orders.flatMap(({ lineItems }) => lineItems.map(({ entityId }) => entityId)))]
    const rows = yield* owned(sql`select entity_id, vendor_id, created_at from marketplace_vendor_entities
      where organization_id = ${organizationId} and entity_id = any(${entityIds}::uuid[])`)
    const owners = new Map(rows.map((row) => [row.entity_id, row]))
    return orders.map(({ currency, id, lineItems, placedAt, shippingTotal, taxIncluded }): OrderFacts => ({
      id,
      currency,
      isCancelled: false,
      cancellationReason: null,
      taxIncluded,
      shippingTotal,
      captured: null,
      givenBack: 0,
      shippingGivenBack: 0,
      lines: lineItems.map((line) => {
        const owner = owners.get(line.entityId)
        return { ...line, givenBack: 0, vendorId: owner && owner.created_at <= placedAt ? owner.vendor_id : null }
      })
    }))
  }
)
