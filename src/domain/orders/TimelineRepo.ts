import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { TimelineEntry } from "./Timeline.ts"

/** Reads an order's timeline from all its sources. */
export class TimelineRepo extends Context.Service<TimelineRepo, {
  /**
   * A page, oldest first, in one statement. Undefined when the organization has no
   * such order.
   */
  readonly of: (
    orderId: string,
    page: PageRequest
  ) => Effect.Effect<PageOf<TimelineEntry> | undefined, never, CurrentActor>
}>()("stoa/domain/orders/TimelineRepo") {}

interface EntryRow extends Omit<TimelineEntry, "id"> {
  readonly id: string | null
  readonly total: bigint
}

/** Excluded from the change log's entries: history and notes already contain these. */
const recordedElsewhere = ["orders.statusChange", "orders.addNote"]

/**
 * All sources in one form: `(rank, id, kind, type, at, actor, data)`. Events of the same moment sort by rank, lowest
 * first. Change log entries without a position in the chain are in a separate index.
 */
const sources = (sql: SqlClient.SqlClient, orderId: string, organization: string) => {
  const changeLog = (placed: "is null" | "is not null") =>
    sql`select 2, e.id::text, case when e.type = 'payments.capture' then 'payment' else 'change' end,
        case when e.type = 'payments.capture' then 'captured' else e.type end, e.created_at, e.actor_id,
        case when e.type = 'payments.capture' then jsonb_build_object('amount', e.payload->'amountCaptured',
            'paymentIntentId', e.payload->'paymentIntentId')
          else jsonb_strip_nulls(jsonb_build_object('grandTotal', e.payload->'grandTotal',
            'grandTotalBefore', e.before->'grandTotal')) end
      from outbox_events e where e.organization_id = ${organization} and e.entity_type = 'order'
        and e.entity_id = ${orderId} and e.position ${
      sql.literal(placed)
    } and e.type <> all(${recordedElsewhere}::text[])`
  const step = (type: string, column: string) =>
    sql`select 5, f.id::text || ${`:${type}`}, 'fulfillment', ${type}::text, ${sql.literal(column)}, null,
        jsonb_strip_nulls(jsonb_build_object('fulfillmentId', f.id, 'type', f.type, 'carrier', f.carrier,
          'trackingNumber', f.tracking_number))
      from fulfillments f join o on o.id = f.order_id where ${sql.literal(column)} is not null`
  const refund = (settled: boolean) =>
    sql`select ${settled ? 4 : 3}::int, r.id::text || ${settled ? ":end" : ""}, 'refund',
        ${
      settled
        ? sql`case when r.status = 'failed' then 'failed' when r.amount = 0 then 'voided' else 'settled' end`
        : sql`'pending'`
    }, ${sql.literal(settled ? "r.updated_at" : "r.created_at")}, r.performed_by,
        jsonb_strip_nulls(jsonb_build_object('refundId', r.id, 'amount', r.amount, 'reason', r.reason
          ${settled ? sql`, 'failure', r.failure` : sql.literal("")}))
      from refunds r join o on o.id = r.order_id ${sql.literal(settled ? "where r.status <> 'pending'" : "")}`
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
      from payment_events v join o on o.id = v.order_id and o.organization_id = v.organization_id
    union all select 7, m.id::text, 'mail', m.template, m.at, null,
        jsonb_strip_nulls(jsonb_build_object('outcome', m.outcome, 'failure', m.failure))
      from order_mails m join o on o.id = m.order_id
    union all ${changeLog("is not null")} union all ${changeLog("is null")}
    union all ${refund(false)} union all ${refund(true)}
    union all ${step("created", "f.created_at")} union all ${step("shipped", "f.shipped_at")}
    union all ${step("delivered", "f.delivered_at")}
    union all select 6, n.id::text, 'note', n.visibility, n.created_at, n.author_id,
        jsonb_build_object('text', n.text, 'authorName', n.author_name)
      from order_notes n join o on o.id = n.order_id`
}

/** `TimelineRepo` over the database of the process. */
export const timelineRepoLayer = Layer.effect(
  TimelineRepo,
  Effect.map(SqlClient.SqlClient, (sql) =>
    TimelineRepo.of({
      of: Effect.fn("TimelineRepo.of")(function*(orderId: string, page: PageRequest) {
        const organization = yield* currentOrganization
        const rows = yield* sql<EntryRow>`with o as materialized (select * from orders
            where id = ${orderId}::uuid and organization_id = ${organization}),
          entries as materialized (${sources(sql, orderId, organization)}),
          page as (select * from entries order by at, rank, id limit ${page.limit} offset ${offsetOf(page)})
          select p.id, p.kind, p.type, p.at, p.actor as "actorId", p.data, (select count(*) from entries) as total
          from o left join page p on true order by p.at, p.rank, p.id`
        const [first] = rows
        if (first === undefined) return undefined
        const items = rows.flatMap(({ total: _, id, ...entry }) => (id === null ? [] : [{ ...entry, id }]))
        return { ...page, items, total: Number(first.total) }
      }, Effect.orDie)
    }))
)
