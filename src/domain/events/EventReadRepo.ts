import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { EventName, Subject } from "./Event.ts"
import type { SequencedEvent } from "./EventSubscribers.ts"

/** The position of a reader of an organization's events: the last sequence it has read. */
export interface Cursor {
  readonly organizationId: string
  readonly after: number
}

/** Reads emitted events in order. */
export class EventReadRepo extends Context.Service<EventReadRepo, {
  /** The events after a sequence, oldest first, at most `limit`, optionally of one type. */
  readonly after: (
    sequence: number,
    limit: number,
    type?: EventName
  ) => Effect.Effect<ReadonlyArray<SequencedEvent>, never, CurrentActor>
  /** Sequence of the newest event of the organization; 0 when there is none. */
  readonly latest: Effect.Effect<number, never, CurrentActor>
  /** The events after each of the cursors, at most `limit` for each, in one statement. */
  readonly afterAll: (
    cursors: ReadonlyArray<Cursor>,
    limit: number
  ) => Effect.Effect<ReadonlyArray<SequencedEvent>>
}>()("stoa/domain/events/EventReadRepo") {}

interface EventRow {
  readonly organization_id: string
  readonly event_sequence: bigint
  readonly id: string
  readonly type: EventName
  readonly entity_type: Subject
  readonly entity_id: string
  readonly payload: object
  readonly created_at: Date
  readonly actor_id: string | null
  readonly request_id: string | null
}

const toEvent = (row: EventRow): SequencedEvent => ({
  organizationId: row.organization_id,
  sequence: Number(row.event_sequence),
  id: row.id,
  type: row.type,
  entityType: row.entity_type,
  entityId: row.entity_id,
  payload: row.payload,
  createdAt: row.created_at,
  actorId: row.actor_id,
  requestId: row.request_id
})

const columns = `e.organization_id, e.event_sequence, e.id, e.type, e.entity_type, e.entity_id, e.payload, e.created_at,
  e.actor_id, e.request_id`

/** `EventReadRepo` over the database of the process. */
export const eventReadRepoLayer = Layer.effect(
  EventReadRepo,
  Effect.map(Effect.all([SqlClient.SqlClient, lookupSql]), ([sql, lookup]) => {
    const after = Effect.fn("EventReadRepo.after")(function*(sequence: number, limit: number, type?: EventName) {
      const organization = yield* currentOrganization
      const rows = yield* sql<EventRow>`select ${sql.literal(columns)} from outbox_events e
        where e.organization_id = ${organization} and e.event_sequence > ${sequence}::bigint
          ${type === undefined ? sql.literal("") : sql`and e.type = ${type}`}
        order by e.event_sequence limit ${limit}`
      return rows.map(toEvent)
    }, Effect.orDie)

    const latest = Effect.gen(function*() {
      const organization = yield* currentOrganization
      const rows = yield* lookup<{ readonly event_sequence: bigint }>`select event_sequence from outbox_cursors
        where organization_id = ${organization}`
      return Number(rows[0]?.event_sequence ?? 0n)
    }).pipe(Effect.orDie, Effect.withSpan("EventReadRepo.latest"))

    const afterAll = Effect.fn("EventReadRepo.afterAll")(function*(cursors: ReadonlyArray<Cursor>, limit: number) {
      const rows = yield* sql<EventRow>`select ${sql.literal(columns)}
        from jsonb_to_recordset(${JSON.stringify(cursors)}::jsonb) as c("organizationId" text, after bigint)
        cross join lateral (select * from outbox_events x where x.organization_id = c."organizationId"
          and x.event_sequence > c.after order by x.event_sequence limit ${limit}) e
        order by e.organization_id, e.event_sequence`
      return rows.map(toEvent)
    }, Effect.orDie)

    return EventReadRepo.of({ after, latest, afterAll })
  })
)
