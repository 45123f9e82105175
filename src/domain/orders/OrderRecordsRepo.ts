import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogInsert, deleteRecorded } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import type { OrderId, OrderNoteId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import { offsetOf, type PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { emailKeyOf } from "../platform/text/Email.ts"
import { OrderHit } from "./Order.ts"
import { type NoteVisibility, OrderNote, TimelineEntry } from "./OrderHistory.ts"

export const orderNotes = new Table("order_notes", OrderNote)

export const lookupSize = 50

export interface LookupTerms {
  readonly number: string
  /** Digits filled up to six; null when the text is something else. */
  readonly digits: string | null
  readonly beginning: string
}

/** The change log records a note without its text, which stays deletable in the table. */
const toChange = (type: "orders.addNote" | "orders.removeNote", { text: _, ...note }: OrderNote) => ({
  type,
  entityType: "order" as const,
  entityId: note.orderId,
  payload: { note },
  ...(type === "orders.removeNote" ? { before: { note } } : {})
})

const last = "\u{10FFFF}"

const EntryRow = Schema.Struct({ entry: Schema.NullOr(TimelineEntry), total: Schema.Int })

const recordedElsewhere = ["orders.statusChange", "orders.cancel", "orders.addNote"]

/**
 * Sources as `(rank, id, kind, type, at, actor, data)`. Events of the same moment sort by rank. Change log entries
 * without a position in the chain are in a separate index.
 */
const sources = (sql: SqlClient.SqlClient, orderId: OrderId, organization: string) => {
  const changeLog = (placed: "is null" | "is not null") =>
    sql`select 2, e.id::text, case when e.type = 'payments.capture' then 'payment' else 'change' end,
        case when e.type = 'payments.capture' then 'captured' else e.type end, e.created_at, e.actor_id,
        case when e.type = 'payments.capture' then jsonb_build_object('amount', e.payload->'amountCaptured',
            'paymentIntentId', e.payload->'paymentIntentId')
          else jsonb_strip_nulls(jsonb_build_object('grandTotal', e.payload->'grandTotal',
            'grandTotalBefore', e.before->'grandTotal')) end
      from outbox_events_read e where e.organization_id = ${organization} and e.entity_type = 'order'
        and e.entity_id = ${orderId} and e.position ${
      sql.literal(placed)
    } and e.type <> all(${recordedElsewhere}::text[])`
  const ofReturn = (placed: "is null" | "is not null") =>
    sql.literal(`select e.id, e.payload, e.created_at, e.actor_id from outbox_events_read e
      where e.organization_id = o.organization_id and e.entity_type = 'return' and e.entity_id = r.id::text
        and e.position ${placed}`)
  const returns = sql`select 8, e.id::text, 'return', e.payload->>'status', e.created_at, e.actor_id,
        jsonb_strip_nulls(jsonb_build_object('returnId', r.id, 'number', r.number,
          'replacementOrderId', e.payload->'replacementOrderId'))
      from o join order_returns_read r on r.order_id = o.id
        cross join lateral (${ofReturn("is not null")} union all ${ofReturn("is null")}) e`
  const step = (type: string, column: string) =>
    sql`select 5, f.id::text || ${`:${type}`}, 'fulfillment', ${type}::text, ${sql.literal(column)}, null,
        jsonb_strip_nulls(jsonb_build_object('fulfillmentId', f.id, 'type', f.type, 'carrier', f.carrier,
          'trackingNumber', f.tracking_number))
      from fulfillments_read f join o on o.id = f.order_id where ${sql.literal(column)} is not null`
  const refund = (settled: boolean) =>
    sql`select ${settled ? 4 : 3}::int, r.id::text || ${settled ? ":end" : ""}, 'refund',
        ${
      settled
        ? sql`case when r.status = 'failed' then 'failed' when r.amount = 0 then 'voided' else 'settled' end`
        : sql`'pending'`
    }, ${sql.literal(settled ? "r.updated_at" : "r.created_at")}, r.performed_by,
        jsonb_strip_nulls(jsonb_build_object('refundId', r.id, 'amount', r.amount, 'reason', r.reason
          ${settled ? sql`, 'failure', r.failure` : sql.literal("")}))
      from refunds_read r join o on o.id = r.order_id ${sql.literal(settled ? "where r.status <> 'pending'" : "")}`
  return sql`select 0 as rank, h.id::text as id, 'status' as kind, h.to_status as type, h.changed_at as at,
        h.changed_by as actor,
        jsonb_build_object('fromStatus', h.from_status, 'toStatus', h.to_status, 'reason', h.reason) as data
      from order_status_history h join o on o.id = h.order_id
    union all select 1, o.id::text || ':authorized', 'payment', 'authorized', o.placed_at, null,
        jsonb_build_object('amount', o.grand_total, 'paymentIntentId', o.payment_intent_id,
          'provider', o.payment_provider)
      from o where o.payment_intent_id is not null
    union all select -1, v.provider || ':' || v.event_id, 'event', v.type, v.received_at, v.provider || '-webhook',
        jsonb_strip_nulls(jsonb_build_object('provider', v.provider, 'eventId', v.event_id, 'amount', v.amount))
      from payment_events_read v join o on o.id = v.order_id and o.organization_id = v.organization_id
    union all select 7, m.id::text, 'mail', m.template, m.at, null,
        jsonb_strip_nulls(jsonb_build_object('outcome', m.outcome, 'failure', m.failure))
      from order_mails m join o on o.id = m.order_id where m.outcome in ('sent', 'failed')
    union all ${changeLog("is not null")} union all ${changeLog("is null")}
    union all ${returns}
    union all ${refund(false)} union all ${refund(true)}
    union all ${step("created", "f.created_at")} union all ${step("shipped", "f.shipped_at")}
    union all ${step("delivered", "f.delivered_at")}
    union all select 6, n.id::text, 'note', n.visibility, n.created_at, n.author_id,
        jsonb_build_object('text', n.text, 'authorName', n.author_name)
      from order_notes n join o on o.id = n.order_id`
}

const notesOf = (sql: SqlClient.SqlClient) => {
  const of = (orderId: OrderId) => sql`order_id = ${orderId}::uuid`

  const notes = Effect.fn("OrderRecordsRepo.notes")(
    (orderId: OrderId, visibility: NoteVisibility | undefined, page: PageRequest) =>
      ownPage(sql, orderNotes, "created_at, id", page, [
        of(orderId),
        ...(visibility === undefined ? [] : [sql`visibility = ${visibility}`])
      ]),
    Effect.orDie
  )

  const insertNote = Effect.fn("OrderRecordsRepo.insertNote")(function*(note: OrderNote) {
    const actor = yield* CurrentActor
    const { organizationId } = actor
    // Lock the order so that an erasure of its person, which deletes the notes, cannot run at the same time.
    const rows = yield* sql`with noted as materialized (select id from orders where id = ${note.orderId}::uuid
        and organization_id = ${organizationId} for no key update),
      made as (insert into order_notes (${sql.literal(orderNotes.names)})
        ${orderNotes.values(sql, [{ ...note, organizationId }])} where exists (select 1 from noted) returning id),
      event as (${changeLogInsert(sql, actor, [toChange("orders.addNote", note)], "made")})${
      idempotencyRecord(sql, actor, "made")
    }
      select id from made`
    return rows.length === 1
  }, Effect.orDie)

  const removeNote = Effect.fn("OrderRecordsRepo.removeNote")(
    (orderId: OrderId, id: OrderNoteId) =>
      Effect.map(
        deleteRecorded(sql, orderNotes, id, (note: OrderNote) => toChange("orders.removeNote", note), of(orderId)),
        (note) => note !== undefined
      ),
    Effect.orDie
  )

  return { notes, insertNote, removeNote }
}

/** Look-ups, timelines and notes. The change log records notes as changes of their order. */
export class OrderRecordsRepo extends Context.Service<OrderRecordsRepo>()("stoa/domain/orders/OrderRecordsRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const lookup = Effect.fn("OrderRecordsRepo.lookup")(function*({ beginning, digits, number }: LookupTerms) {
      const organization = yield* currentOrganization
      // The indexes are sorted by bytes, so the comparison uses bytes as well, independent of the database's collation.
      const begins = (column: string) =>
        sql`${sql.literal(column)} ~>=~ ${beginning} and ${sql.literal(column)} ~<~ ${beginning + last}`
      return yield* decoding(sql, OrderHit)`with people as materialized (
          (select id from customers_read where organization_id = ${organization} and erased_at is null
            and ${begins(emailKeyOf("email"))} limit ${lookupSize})
          union (select id from customers_read where organization_id = ${organization} and erased_at is null
            and ${begins("lower(coalesce(first_name, '') || ' ' || coalesce(last_name, ''))")} limit ${lookupSize})
          union (select id from customers_read where organization_id = ${organization} and erased_at is null
            and ${begins("lower(last_name)")} limit ${lookupSize})),
        found as materialized (
          select id from orders where organization_id = ${organization} and order_number = ${number}
          union select o.id from order_counters c join orders o on o.organization_id = c.organization_id
            and o.order_number = 'ORD-' || lpad(c.year::text, 4, '0') || '-' || ${digits}::text
            where c.organization_id = ${organization} and ${digits}::text is not null
          union (select id from orders where organization_id = ${organization} and email is not null
            and ${begins(emailKeyOf("email"))} limit ${lookupSize})
          union select theirs.id from people p cross join lateral (select o.id from orders o
            where o.organization_id = ${organization} and o.customer_id = p.id and o.customer_id is not null
            order by o.placed_at desc, o.id desc limit ${lookupSize}) theirs)
        select o.id, o.order_number as "orderNumber", o.status, o.currency, o.grand_total as "grandTotal",
          o.customer_id as "customerId", nullif(trim(concat_ws(' ', c.first_name, c.last_name)), '') as "customerName",
          coalesce(nullif(o.email, ''), c.email) as email, o.placed_at as "placedAt"
        from orders o left join customers_read c on c.id = o.customer_id and c.organization_id = o.organization_id
        where o.id = any(array(select id from found)) and o.organization_id = ${organization}
        order by o.placed_at desc, o.id desc limit ${lookupSize}`
    }, Effect.orDie)

    const timeline = Effect.fn("OrderRecordsRepo.timeline")(function*(orderId: OrderId, page: PageRequest) {
      const organization = yield* currentOrganization
      const rows = yield* decoding(sql, EntryRow)`with o as materialized (select * from orders
          where id = ${orderId}::uuid and organization_id = ${organization}),
        entries as materialized (${sources(sql, orderId, organization)}),
        page as (select * from entries order by at, rank, id limit ${page.limit} offset ${offsetOf(page)})
        select case when p.id is not null then jsonb_build_object('id', p.id, 'kind', p.kind, 'type', p.type, 'at', p.at,
            'actorId', p.actor, 'data', p.data) end as entry, (select count(*) from entries) as total
        from o left join page p on true order by p.at, p.rank, p.id`
      const [first] = rows
      if (first === undefined) return undefined
      return { ...page, items: rows.flatMap(({ entry }) => entry ?? []), total: first.total }
    }, Effect.orDie)

    return { lookup, timeline, ...notesOf(sql) }
  })
}) {
  static readonly layer = Layer.effect(OrderRecordsRepo, OrderRecordsRepo.make)
}
