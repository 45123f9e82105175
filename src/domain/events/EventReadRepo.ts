import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import type { EventName } from "./Event.ts"
import type { SequencedEvent } from "./EventSubscribers.ts"

/** The position of a reader of an organization's events: the last sequence it has read. */
export interface Cursor {
  readonly organizationId: string
  readonly after: number
}

const columns = `e.organization_id as "organizationId", e.event_sequence::float8 as sequence, e.id, e.type,
  e.entity_type as "entityType", e.entity_id as "entityId", e.payload, e.created_at as "createdAt",
  e.actor_id as "actorId", e.request_id as "requestId"`

/** Reads emitted events in order. */
export class EventReadRepo extends Context.Service<EventReadRepo>()("stoa/domain/events/EventReadRepo", {
  make: Effect.gen(function*() {
    const [sql, lookup] = [yield* SqlClient.SqlClient, yield* lookupSql]

    /** The events after a sequence, oldest first, at most `limit`, optionally of one type. */
    const after = Effect.fn("EventReadRepo.after")(function*(sequence: number, limit: number, type?: EventName) {
      const organization = yield* currentOrganization
      return yield* sql<SequencedEvent>`select ${sql.literal(columns)} from outbox_events e
        where e.organization_id = ${organization} and e.event_sequence > ${sequence}::bigint
          ${type === undefined ? sql.literal("") : sql`and e.type = ${type}`}
        order by e.event_sequence limit ${limit}`
    }, Effect.orDie)

    /** Sequence of the newest event of the organization; 0 when there is none. */
    const latest = Effect.gen(function*() {
      const organization = yield* currentOrganization
      const rows = yield* lookup<{ readonly latest: number }>`select event_sequence::float8 as latest
        from outbox_cursors where organization_id = ${organization}`
      return rows[0]?.latest ?? 0
    }).pipe(Effect.orDie, Effect.withSpan("EventReadRepo.latest"))

    /** The events after each of the cursors, at most `limit` for each, in one statement. */
    const afterAll = Effect.fn("EventReadRepo.afterAll")(
      (cursors: ReadonlyArray<Cursor>, limit: number) =>
        sql<SequencedEvent>`select ${sql.literal(columns)}
        from jsonb_to_recordset(${JSON.stringify(cursors)}::jsonb) as c("organizationId" text, after bigint)
        cross join lateral (select * from outbox_events x where x.organization_id = c."organizationId"
          and x.event_sequence > c.after order by x.event_sequence limit ${limit}) e
        order by e.organization_id, e.event_sequence`,
      Effect.orDie
    )

    return { after, latest, afterAll }
  })
}) {
  static readonly layer = Layer.effect(EventReadRepo, EventReadRepo.make)
}
