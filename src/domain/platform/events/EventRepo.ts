import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { lookupSql } from "../database/DatabaseRepo.ts"
import type { CartId, CustomerId, OrderId } from "../ids/Id.ts"
import { decoding } from "../records/Rows.ts"
import { columnsOf } from "../records/Table.ts"
import type { EventName } from "./Event.ts"
import { SequencedEvent } from "./EventSubscribers.ts"

/** The last sequence that a reader has read. */
export interface Cursor {
  readonly organizationId: string
  readonly after: number
}

export const eventColumns = columnsOf(SequencedEvent.fields, "e", {
  sequence: "e.event_sequence",
  timestamp: "e.created_at",
  data: "e.payload"
})

const Latest = Schema.Struct({ latest: Schema.Int })
const Due = Schema.Struct({ organization: Schema.String, upto: Schema.Int })

export class EventRepo extends Context.Service<EventRepo>()("stoa/domain/platform/events/EventRepo", {
  make: Effect.gen(function*() {
    const [sql, lookup] = [yield* SqlClient.SqlClient, yield* lookupSql]
    const events = decoding(sql, SequencedEvent)
    const cursor = decoding(lookup, Latest)

    const after = Effect.fn("EventRepo.after")(function*(sequence: number, limit: number, type?: EventName) {
      const organization = yield* currentOrganization
      return yield* events`select ${sql.literal(eventColumns)} from outbox_events e
        where e.organization_id = ${organization} and e.event_sequence > ${sequence}::bigint
          ${type === undefined ? sql.literal("") : sql`and e.type = ${type}`}
        order by e.event_sequence limit ${limit}`
    }, Effect.orDie)

    const latest = Effect.gen(function*() {
      const organization = yield* currentOrganization
      const [row] = yield* cursor`select event_sequence as latest from outbox_cursors
        where organization_id = ${organization}`
      return row?.latest ?? 0
    }).pipe(Effect.orDie, Effect.withSpan("EventRepo.latest"))

    const afterAll = Effect.fn("EventRepo.afterAll")(
      (cursors: ReadonlyArray<Cursor>, limit: number) =>
        events`select ${sql.literal(eventColumns)}
        from jsonb_to_recordset(${JSON.stringify(cursors)}::jsonb) as c("organizationId" text, after bigint)
        cross join lateral (select * from outbox_events x where x.organization_id = c."organizationId"
          and x.event_sequence > c.after order by x.event_sequence limit ${limit}) e
        order by e.organization_id, e.event_sequence`,
      Effect.orDie
    )

    return { after, latest, afterAll, purge: purging(sql) }
  })
}) {
  static readonly layer = Layer.effect(EventRepo, EventRepo.make)
}

/**
 * Deletes at most `limit` of the oldest entries. `outbox_cursors` counts them: the audit trail subtracts them from its
 * total.
 */
const purging = (sql: SqlClient.SqlClient) => {
  const purgeOne = Effect.fnUntraced(function*(limit: number, days: number) {
    // Locks the next organization with entries to purge. Waits for the relay, which locks a cursor only briefly.
    const [next] = yield* decoding(sql, Due)`select h.organization_id as organization, old.upto
      from outbox_cursors h
        join outbox_events first on first.organization_id = h.organization_id
          and first.position = h.purged_position + 1 and first.created_at < now() - make_interval(days => ${days})
        cross join lateral (select coalesce(min(e.position) filter (where e.created_at >= now()
              - make_interval(days => ${days})) - 1, max(e.position)) as upto
          from (select position, created_at from outbox_events n where n.organization_id = h.organization_id
            and n.position > h.purged_position order by n.position limit ${limit}) e) old
        limit 1 for update of h`
    if (next === undefined) return 0
    const { organization, upto } = next
    yield* sql`select set_config('stoa.outbox_purge', 'on', true)`
    // First the cursor: the trigger refuses deletes past its position.
    yield* sql`update outbox_cursors set purged_position = ${upto}::bigint where organization_id = ${organization}`
    const gone = yield* sql`delete from outbox_events where organization_id = ${organization}
      and position <= ${upto}::bigint returning 1`
    return gone.length
  })

  return Effect.fn("EventRepo.purge")(function*(limit: number, olderThanDays: number) {
    let purged = 0
    while (purged < limit) {
      const count = yield* sql.withTransaction(purgeOne(limit - purged, olderThanDays))
      if (count === 0) break
      purged += count
    }
    return purged
  }, Effect.orDie)
}

export interface Redaction {
  readonly organizationId: string
  readonly customerId: CustomerId
  readonly orderIds: ReadonlyArray<OrderId>
  readonly cartIds: ReadonlyArray<CartId>
  /** Ids by the change log's name of the kind. */
  readonly others: ReadonlyArray<{ readonly entityType: string; readonly ids: ReadonlyArray<string> }>
  /** Its address and user agent are removed from all changes. */
  readonly actorId: string
}

/**
 * By subject and author: of a purged cart only the entry names the customer. Entries without a position are in another
 * index.
 */
const entriesOf = (sql: SqlClient.SqlClient, redaction: Redaction) => {
  const { actorId, cartIds, customerId, orderIds, organizationId, others } = redaction
  const kinds = [
    { entityType: "customer", ids: [customerId] },
    { entityType: "order", ids: orderIds },
    { entityType: "cart", ids: cartIds },
    ...others
  ].map(({ entityType, ids }) => sql`entity_type = ${entityType} and entity_id = any(${[...ids]}::text[])`)
  const about = kinds.map((kind) =>
    sql`select id, true as about from outbox_events where organization_id = ${organizationId} and position is not null
      and ${kind} union all`
  )
  return sql`${sql.join(" ", false)(about)} select id,
        entity_type in ('order', 'cart') and payload->>'customerId' = ${customerId}
      from outbox_events where organization_id = ${organizationId} and position is not null and actor_id = ${actorId}
    union all select id, ${sql.or(kinds.map((kind) => sql`(${kind})`))}
      from outbox_events where position is null and organization_id = ${organizationId}`
}

/** Keys that become null, beside those that `outbox_anonymous` knows. */
const personalKeys = [
  "billingAddress",
  "customer",
  "givenOutside",
  "instructions",
  "labelUrl",
  "photos",
  "rejectionReason",
  "taxExemption"
]

/** Removes a person from the change log within the transaction that erases them; returns the number of entries. */
export const redactChangeLog = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, redaction: Redaction) {
  const { actorId, organizationId } = redaction
  yield* sql`insert into outbox_cursors as h (organization_id) values (${organizationId})
    on conflict (organization_id) do update set organization_id = excluded.organization_id`
  yield* sql`select set_config('stoa.outbox_redaction', 'on', true)`
  const rows = yield* sql`with
    mine as materialized (select id, coalesce(bool_or(about), false) as about from (${
    entriesOf(sql, redaction)
  }) x group by id),
    redacted as materialized (
      select e.id, case when mine.about then outbox_blanked(outbox_anonymous(e.payload), ${personalKeys}::text[])
          else e.payload end as payload,
        case when mine.about then outbox_blanked(outbox_anonymous(e.before), ${personalKeys}::text[])
          else e.before end as before
      from mine join outbox_events e on e.id = mine.id
      where mine.about or e.actor_id = ${actorId})
    update outbox_events e set payload = n.payload, before = n.before, ip = null, user_agent = null
      from redacted n where e.id = n.id and (e.ip is not null or e.user_agent is not null
        or e.payload <> n.payload or e.before is distinct from n.before)
      returning 1`
  yield* sql`select set_config('stoa.outbox_redaction', '', true)`
  return rows.length
})
