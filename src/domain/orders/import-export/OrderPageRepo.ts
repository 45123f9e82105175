import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { isoTime } from "../../events/JournalRepo.ts"

/** Where a page of orders begins: behind this one. */
export interface OrderCursor {
  readonly placedAt: string
  readonly id: string
}

/** Orders as files carry them, and where the next page begins. */
export interface OrderPage {
  readonly records: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly last: OrderCursor | undefined
}

/** Reads the orders of an organization from one end to the other. */
export class OrderPageRepo extends Context.Service<OrderPageRepo, {
  /** So many behind a cursor, oldest first; one statement. */
  readonly after: (cursor: OrderCursor, limit: number) => Effect.Effect<OrderPage, never, CurrentActor>
}>()("stoa/domain/orders/import-export/OrderPageRepo") {
  static readonly layer = Layer.effect(OrderPageRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

interface Row {
  readonly cursor: OrderCursor
  readonly record: Readonly<Record<string, unknown>>
}

/** What a line `l` is of: the slug of its entity, and the options of a variant that has no SKU; null where it is gone. */
const named = `'slug', (select e.slug from catalog_entities e
      where e.id = l.entity_id and e.organization_id = l.organization_id),
    'options', (select jsonb_object_agg(t.name, w.value) from variants v
      join variant_option_values x on x.variant_id = v.id and x.organization_id = v.organization_id
      join option_values w on w.id = x.option_value_id join option_types t on t.id = w.option_type_id
      where v.id = l.variant_id and v.organization_id = l.organization_id and v.sku is null)`

const lines =
  `(select coalesce(jsonb_agg(jsonb_build_object('sku', l.sku, ${named}, 'title', l.title, 'entityType', l.entity_type,
    'quantity', l.quantity, 'unitPrice', l.unit_price, 'totalPrice', l.total_price, 'discountAmount', l.discount_amount,
    'taxAmount', l.tax_amount, 'refundedQuantity', l.refunded_quantity, 'fulfillmentStatus', l.fulfillment_status)
    order by l.position), '[]')
  from order_lines l where l.order_id = o.id and l.organization_id = o.organization_id)`

/** An order as files carry it: an SQL text over a row `o` of `orders`. Nothing of it is an id: ids are a store's own. */
export const orderRecordJson = `jsonb_build_object('orderNumber', o.order_number, 'status', o.status,
  'placedAt', ${isoTime("o.placed_at")}, 'email', coalesce(o.email, (select c.email from customers c
    where c.id = o.customer_id and c.organization_id = o.organization_id)),
  'currency', o.currency, 'subtotal', o.subtotal, 'discountTotal', o.discount_total, 'shippingTotal', o.shipping_total,
  'taxTotal', o.tax_total, 'taxIncluded', o.tax_included, 'grandTotal', o.grand_total,
  'amountCaptured', o.amount_captured, 'refundedTotal', o.refunded_total, 'fulfilledAt', ${isoTime("o.fulfilled_at")},
  'cancelledAt', ${isoTime("o.cancelled_at")}, 'shippingAddress', o.shipping_address, 'metadata', o.metadata,
  'lineItems', ${lines})`

const make = (sql: SqlClient.SqlClient): OrderPageRepo["Service"] => {
  const after = Effect.fn("OrderPageRepo.after")(function*(cursor: OrderCursor, limit: number) {
    const organization = yield* currentOrganization
    // The cursor has all digits of the time: of two orders of one millisecond none is left out.
    const rows = yield* sql<Row>`select jsonb_build_object('placedAt', o.placed_at::text, 'id', o.id) as cursor,
        ${sql.literal(orderRecordJson)} as record
      from (select * from orders where organization_id = ${organization} and not is_draft
          and (placed_at, id) > (${cursor.placedAt}::text::timestamptz, ${cursor.id}::uuid)
        order by placed_at, id limit ${limit}) o
      order by o.placed_at, o.id`
    const page: OrderPage = { records: rows.map((row) => row.record), last: rows.at(-1)?.cursor }
    return page
  }, Effect.orDie)

  return { after }
}
