import { Effect, Schema } from "effect"
import { CustomerId, EntityId, OrderId, type PluginDatabase, rowsOf, statement, VariantId } from "stoa/plugin"

const numbers = rowsOf(Schema.Struct({ number: Schema.NullOr(Schema.String) }))

/** Reads at which tables the guests of these transactions sit, or sat last: of the first one that has tables. */
export const tableNumbersOf = statement(
  "Kitchen.tableNumbers",
  function*(sql, organizationId, transactionIds: ReadonlyArray<string>) {
    const [row] = yield* numbers(sql`select string_agg(seated.number, ', ' order by seated.number) as number
      from (select t.number, rank() over (order by array_position(${transactionIds}::uuid[], a.transaction_id),
          a.left_at is not null, a.left_at desc) as place
        from pos_table_assignments a join pos_tables t on t.id = a.table_id
        where t.organization_id = ${organizationId} and a.transaction_id = any(${transactionIds}::uuid[])) seated
      where seated.place = 1`)
    return row?.number?.slice(0, 255) ?? null
  }
)

const metadata = Schema.Record(Schema.String, Schema.Unknown)

const orders = rowsOf(Schema.Struct({
  id: OrderId,
  customerId: Schema.NullOr(CustomerId),
  isCancelled: Schema.Boolean,
  isPaid: Schema.Boolean,
  isShipped: Schema.Boolean,
  metadata
}))

/** Locks an order that was not sold at a till; undefined without it. */
export const lockOnlineOrder = statement("Kitchen.lockOrder", function*(sql, organizationId, id: string) {
  const [order] = yield* orders(sql`select o.id, o.customer_id as "customerId", o.status = 'cancelled' as "isCancelled",
      coalesce(o.amount_captured, 0) >= o.grand_total as "isPaid", o.shipping_address is not null as "isShipped",
      o.metadata
    from plugin_orders o
    where o.organization_id = ${organizationId} and o.id = ${id}::uuid and not o.is_draft and o.imported_at is null
      and o.metadata->>'channel' is distinct from 'pos'
    for update of o`)
  return order
})

const lines = rowsOf(Schema.Struct({
  id: Schema.String,
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  quantity: Schema.Int,
  notes: Schema.NullOr(Schema.String),
  metadata
}))

/** Reads the lines of an order. */
export const orderLinesOf = statement("Kitchen.orderLines", function*(sql, organizationId, orderId: OrderId) {
  return yield* lines(sql`select id::text, entity_id as "entityId", variant_id as "variantId", quantity, notes, metadata
    from plugin_order_lines where organization_id = ${organizationId} and order_id = ${orderId}::uuid
    order by position, id`)
})

/** What a screen of a station knows: `version` is another one after every change of its tickets. */
export const Screen = Schema.Struct({
  stationId: Schema.String,
  pending: Schema.Int,
  preparing: Schema.Int,
  ready: Schema.Int,
  version: Schema.String
})
export type Screen = typeof Screen.Type

const screens = rowsOf(Screen)

/** The open tickets of these stations, of any organizations, in one statement. */
export const screensOf = Effect.fn("Kitchen.screens")(
  function*(
    { sql }: Pick<PluginDatabase, "sql">,
    owners: ReadonlyArray<{ readonly organizationId: string; readonly stationId: string }>
  ) {
    return yield* screens(sql`select watched.station_id as "stationId",
        count(t.id) filter (where t.status = 'pending')::int4 as pending,
        count(t.id) filter (where t.status = 'preparing')::int4 as preparing,
        count(t.id) filter (where t.status = 'ready')::int4 as ready,
        md5(coalesce(string_agg(concat_ws(' ', t.id, t.status, t.priority, i.cooked), ',' order by t.id), '')) as version
      from unnest(${owners.map(({ organizationId }) => organizationId)}::text[],
          ${owners.map(({ stationId }) => stationId)}::uuid[]) as watched(organization_id, station_id)
        left join kds_tickets t on t.organization_id = watched.organization_id and t.station_id = watched.station_id
          and t.served_at is null
        left join lateral (
          select string_agg(concat_ws(' ', id, status, quantity, cancelled_quantity), ',' order by id) as cooked
          from kds_ticket_items where ticket_id = t.id) i on true
      group by watched.station_id`)
  },
  Effect.orDie
)

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** Deletes tickets that were fired before, with their items. */
export const forgetTickets = statement("Kitchen.forget", function*(sql, organizationId, before: Date, limit: number) {
  const gone = yield* ids(sql`delete from kds_tickets where organization_id = ${organizationId}
      and id = any(array(select id from kds_tickets where organization_id = ${organizationId} and fired_at < ${before}
        order by fired_at limit ${limit} for update skip locked)) returning id`)
  return gone.length
})
