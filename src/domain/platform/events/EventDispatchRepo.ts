import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Uuid } from "../ids/Id.ts"
import { decoding } from "../records/Rows.ts"
import { columnsOf, Table } from "../records/Table.ts"
import { Time } from "../text/Time.ts"
import { eventColumns } from "./EventRepo.ts"
import { SequencedEvent } from "./EventSubscribers.ts"

export const EventDispatch = Schema.Struct({
  organizationId: Schema.String,
  subscription: Schema.String,
  entityType: Schema.String,
  entityId: Schema.String,
  sequence: Schema.Int
})
export type EventDispatch = typeof EventDispatch.Type

const StoredDispatch = Schema.Struct({
  ...EventDispatch.fields,
  eventId: Uuid,
  givenUp: Schema.Boolean,
  touchedAt: Time
})

export const eventDispatches = new Table("event_dispatches", StoredDispatch, {
  casts: { sequence: "float8" },
  unset: ["givenUp"]
})

interface SubscribedEvent {
  readonly eventId: string
  readonly subscriptions: ReadonlyArray<string>
}

export interface Condition {
  readonly subscription: string
  readonly concerns: Statement.Fragment
}

type Wake = (dispatches: ReadonlyArray<EventDispatch>) => Effect.Effect<void>

const columns = columnsOf(EventDispatch.fields)

const atOnce = 500

/**
 * Tracks events that subscriptions must still handle. Only a record's oldest open dispatch has a job; finishing it
 * enqueues the next. Both lock that first row, so every dispatch gets a job.
 */
export class EventDispatchRepo
  extends Context.Service<EventDispatchRepo>()("stoa/domain/platform/events/EventDispatchRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...handling(sql), ...keeping(sql) }))
  })
{
  static readonly layer = Layer.effect(EventDispatchRepo, EventDispatchRepo.make)
}

const first = (lock: "for update" | "") =>
  `(select * from event_dispatches d where d.organization_id = k."organizationId" and d.subscription = k.subscription
    and d.entity_type = k."entityType" and d.entity_id = k."entityId" and not d.given_up order by d.sequence limit 1 ${lock})`

const dispatchOf = (sql: SqlClient.SqlClient, now: Date) =>
  eventDispatches.insert(sql, {
    organizationId: "e.organization_id",
    subscription: "s",
    entityType: "e.entity_type",
    entityId: "e.entity_id",
    sequence: "e.event_sequence",
    eventId: "e.id",
    touchedAt: sql`${now}::timestamptz`
  })

const handling = (sql: SqlClient.SqlClient) => {
  const dispatches = decoding(sql, EventDispatch)
  const begun = decoding(sql, Schema.Struct({ event: Schema.NullOr(SequencedEvent) }))
  const ended = decoding(sql, Schema.Struct({ wasOpen: Schema.Boolean }))

  const record = sql.literal(`k("organizationId" text, subscription text, "entityType" text, "entityId" text)`)
  const rowOf = ({ entityId, entityType, organizationId, sequence, subscription }: EventDispatch) =>
    sql`organization_id = ${organizationId} and subscription = ${subscription} and entity_type = ${entityType}
      and entity_id = ${entityId} and sequence = ${sequence}::bigint`

  const concerns = (conditions: ReadonlyArray<Condition>) =>
    conditions.length === 0
      ? sql.literal("")
      : sql`where case s ${
        sql.join(" ", false)(
          conditions.map(({ concerns, subscription }) => sql`when ${subscription} then coalesce(${concerns}, true)`)
        )
      } else true end`

  /**
   * Writes dispatches in the relay's transaction and returns those that need a job. Waits for ending dispatches of the
   * same records.
   */
  const open = Effect.fn("EventDispatchRepo.open")(function*(
    events: ReadonlyArray<SubscribedEvent>,
    now: Date,
    conditions: ReadonlyArray<Condition> = []
  ) {
    const made = yield* dispatches`with wanted as materialized (
        select * from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as w("eventId" uuid, subscriptions jsonb))
      insert into event_dispatches ${
      dispatchOf(sql, now)
    } from wanted w cross join lateral jsonb_array_elements_text(w.subscriptions) s
      join outbox_events_read e on e.id = w."eventId" and e.id = any(array(select "eventId" from wanted))
      ${concerns(conditions)} on conflict do nothing returning ${sql.literal(columns)}`
    if (made.length === 0) return []
    const firsts = yield* dispatches`select ${sql.literal(columnsOf(EventDispatch.fields, "f"))}
      from (select distinct * from jsonb_to_recordset(${
      JSON.stringify(made)
    }::jsonb) as ${record} order by 1, 2, 3, 4) k
        cross join lateral ${sql.literal(first("for update"))} f`
    const fresh = new Set(
      made.map(({ organizationId, sequence, subscription }) => JSON.stringify([organizationId, subscription, sequence]))
    )
    return firsts.filter(({ organizationId, sequence, subscription }) =>
      fresh.has(JSON.stringify([organizationId, subscription, sequence]))
    )
  }, Effect.orDie)

  /** The event; null when the change log has purged it, undefined when it is already handled. */
  const begin = Effect.fn("EventDispatchRepo.begin")(function*(dispatch: EventDispatch, now: Date) {
    const [found] = yield* begun`with mine as (update event_dispatches set touched_at = ${now}::timestamptz
        where ${rowOf(dispatch)} returning organization_id, event_id)
      select (select to_jsonb(x) from (select ${sql.literal(eventColumns)} from outbox_events_read e
        where e.organization_id = mine.organization_id and e.id = mine.event_id) x) as event from mine`
    return found
  }, Effect.orDie)

  /** Ends a dispatch; the record's next one gets its job in the same transaction. */
  const end = Effect.fn("EventDispatchRepo.end")(
    function*(dispatch: EventDispatch, outcome: "handled" | "givenUp", wake: Wake) {
      const [row] = yield* outcome === "handled"
        ? ended`delete from event_dispatches where ${rowOf(dispatch)} returning not given_up as "wasOpen"`
        : ended`update event_dispatches set given_up = true where ${rowOf(dispatch)} and not given_up
          returning true as "wasOpen"`
      if (row?.wasOpen !== true) return
      // A separate statement sees dispatches written while the row was locked.
      const next = yield* dispatches`select ${sql.literal(columnsOf(EventDispatch.fields, "f"))}
        from jsonb_to_recordset(${JSON.stringify([dispatch])}::jsonb) as ${record}
          cross join lateral ${sql.literal(first(""))} f`
      if (next.length > 0) yield* wake(next)
    },
    sql.withTransaction,
    Effect.orDie
  )
  return { open, begin, end }
}

const keeping = (sql: SqlClient.SqlClient) => {
  const dispatches = decoding(sql, EventDispatch)

  /** Wakes first dispatches whose jobs are lost; returns their number. */
  const revive = Effect.fn("EventDispatchRepo.revive")(
    function*(subscriptions: ReadonlyArray<string>, hours: number, now: Date, wake: Wake) {
      const lost = yield* dispatches`update event_dispatches set touched_at = ${now}::timestamptz
        where ctid = any(array(select d.ctid from event_dispatches d
          where d.touched_at < ${now}::timestamptz - make_interval(hours => ${hours}) and not d.given_up
            and d.subscription = any(${[...subscriptions]}::text[])
            and not exists (select 1 from event_dispatches b where b.organization_id = d.organization_id
              and b.subscription = d.subscription and b.entity_type = d.entity_type and b.entity_id = d.entity_id
              and not b.given_up and b.sequence < d.sequence)
          order by d.touched_at limit ${atOnce} for update skip locked))
        returning ${sql.literal(columns)}`
      if (lost.length > 0) yield* wake(lost)
      return lost.length
    },
    sql.withTransaction,
    Effect.orDie
  )

  const purge = Effect.fn("EventDispatchRepo.purge")(
    function*(subscriptions: ReadonlyArray<string>, days: number, now: Date) {
      const gone = yield* sql`delete from event_dispatches where ctid = any(array(select ctid from event_dispatches
        where touched_at < ${now}::timestamptz - make_interval(days => ${days})
          and (given_up or subscription <> all(${[...subscriptions]}::text[])) limit ${atOnce})) returning 1`
      return gone.length
    },
    Effect.orDie
  )
  return { revive, purge }
}
