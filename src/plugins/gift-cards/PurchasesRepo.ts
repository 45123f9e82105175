import { Schema } from "effect"
import { CustomerId, OrderId, OrderLineId, type RequestedRefund, rowsOf, statement } from "stoa/plugin"

const Metadata = Schema.Record(Schema.String, Schema.Unknown)

/** A sold line whose cards are still to be issued, or to be withdrawn or brought back. */
const SoldLine = Schema.Struct({
  id: OrderLineId,
  orderId: OrderId,
  customerId: Schema.NullOr(CustomerId),
  /** The order's address, else the customer's. */
  email: Schema.NullOr(Schema.String),
  currency: Schema.String,
  /** What was paid for all units, minor units. */
  paid: Schema.Int,
  quantity: Schema.Int,
  /** Sold and not given back. */
  units: Schema.Int,
  isIssued: Schema.Boolean,
  metadata: Metadata,
  orderMetadata: Metadata
})
export type SoldLine = typeof SoldLine.Type

/** A card that was issued for a unit of a line. */
const SoldCard = Schema.Struct({
  id: Schema.String,
  lineId: OrderLineId,
  orderId: OrderId,
  isWithdrawn: Schema.Boolean,
  /** What can be taken off it, or what was. */
  worth: Schema.Int,
  /** Less than all is left on it. */
  isSpent: Schema.Boolean,
  /** An order that is not captured yet holds a part of it. */
  isHeld: Schema.Boolean
})
export type SoldCard = typeof SoldCard.Type

/** Minor units that would be given for this many cards of a line, and what was given for the line before. */
const RefundedLine = Schema.Struct({ id: OrderLineId, units: Schema.Int, amount: Schema.Int, given: Schema.Int })

const refundedCardLines = rowsOf(RefundedLine)
const soldLines = rowsOf(SoldLine)
const soldCards = rowsOf(SoldCard)
const addresses = rowsOf(Schema.Struct({ email: Schema.NullOr(Schema.String) }))

const joins = "left join plugin_customers p on p.id = o.customer_id and p.organization_id = o.organization_id"
const address = "coalesce(nullif(o.email, ''), p.email)"

/**
 * Lines of these orders that do not have the cards they should: none yet and paid in full, or not as many as units that are
 * sold. An order that is cancelled, or whose whole payment goes back, has sold none.
 */
export const unsettledLines = statement(
  "Purchases.unsettled",
  function*(sql, organizationId, orderIds: ReadonlyArray<OrderId>, productType: string) {
    return yield* soldLines(sql`select l.id, o.id as "orderId", o.customer_id as "customerId", o.currency,
        (l.total_price - l.discount_amount)::float8 as paid, l.quantity, sold.units, issued.cards > 0 as "isIssued", l.metadata,
        o.metadata as "orderMetadata", ${sql.literal(address)} as email
      from plugin_orders o join plugin_order_lines l on l.order_id = o.id ${sql.literal(joins)}
        cross join lateral (select coalesce(sum(r.amount), 0) as amount from plugin_refunds r
          where r.organization_id = o.organization_id and r.order_id = o.id and r.status in ('pending', 'completed')) back
        cross join lateral (select case when o.status in ('cancelled', 'refunded')
          or back.amount > 0 and back.amount >= o.amount_captured then 0
          else l.quantity - l.refunded_quantity end as units) sold
        cross join lateral (select count(*) as cards, count(*) filter (where g.withdrawn_at is null) as open
          from gift_cards g where g.organization_id = o.organization_id and g.order_line_id = l.id) issued
      where o.organization_id = ${organizationId} and o.id = any(${orderIds}::uuid[]) and l.entity_type = ${productType}
        and l.total_price > l.discount_amount and o.imported_at is null and case when issued.cards > 0 then issued.open <> sold.units
          else sold.units > 0 and o.amount_captured >= o.grand_total end
      order by l.id`)
  }
)

/** The cards of these lines, locked until the transaction ends, the fullest first: a unit goes back whose card is unspent. */
export const lockedCards = statement(
  "Purchases.lockedCards",
  function*(sql, organizationId, lineIds: ReadonlyArray<OrderLineId>) {
    return yield* soldCards(sql`with locked as materialized (select * from gift_cards
        where organization_id = ${organizationId} and order_line_id = any(${lineIds}::uuid[]) order by id for update)
      select id, order_line_id as "lineId", source_order_id as "orderId", withdrawn_at is not null as "isWithdrawn",
        case when withdrawn_at is null then balance - held else (select -coalesce(sum(e.amount), 0)
          from gift_card_entries e where e.account_id = locked.id and e.type = 'withdraw') end::float8 as worth,
        balance - held < initial_amount as "isSpent", held > 0 as "isHeld"
      from locked order by worth desc, id`)
  }
)

/** Lines with cards for which a refund gives money, and how much: what is named, and the rest of all where all goes back. */
export const refundedLines = statement(
  "Purchases.refunded",
  function*(sql, organizationId, { isAll, lines, orderId }: RequestedRefund) {
    return yield* refundedCardLines(
      sql`select l.id, case when ${isAll}::boolean then l.quantity else a.quantity end as units,
        coalesce(a.amount, l.total_price - l.discount_amount + case when o.tax_included then 0 else l.tax_amount end
          - before.given)::float8 as amount, before.given::float8 as given
      from plugin_orders o join plugin_order_lines l on l.order_id = o.id
        cross join lateral (select coalesce(sum(p.amount), 0) as given from plugin_refund_lines p
          join plugin_refunds r on r.id = p.refund_id
          where p.order_line_id = l.id and r.status in ('pending', 'completed')) before
        left join jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) a("lineItemId" uuid, quantity int, amount bigint)
          on a."lineItemId" = l.id
      where o.organization_id = ${organizationId} and o.id = ${orderId}::uuid and (${isAll}::boolean or a.amount is not null)
        and exists (select from gift_cards g where g.organization_id = o.organization_id and g.order_line_id = l.id)
      order by l.id`
    )
  }
)

/** Where mails about an order go. */
export const orderAddress = statement("Purchases.address", function*(sql, organizationId, orderId: OrderId) {
  const [row] = yield* addresses(sql`select ${sql.literal(address)} as email from plugin_orders o ${sql.literal(joins)}
      where o.organization_id = ${organizationId} and o.id = ${orderId}::uuid`)
  return row?.email ?? null
})
