import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { isoTime } from "../events/ChangeLogRepo.ts"
import type { Dispatch, Due } from "./WebhookDispatch.ts"
import { type EndpointRow, toStored, webhookIdOf } from "./WebhookRows.ts"

/** An active endpoint and the events it wants. */
export interface Wanting {
  readonly organizationId: string
  readonly endpointId: string
  readonly events: ReadonlyArray<string>
}

/** An event and who wants it. */
export interface WantedEvent {
  readonly eventId: string
  readonly endpointIds: ReadonlyArray<string>
}

interface DispatchRow {
  readonly organization_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly entity_type: string
  readonly entity_id: string
}

/** All SQL of what endpoints still have to get. */
export class WebhookDispatchRepo extends Context.Service<WebhookDispatchRepo, {
  /** The active endpoints of these organizations, in one statement. For the relay, which serves all organizations. */
  readonly wanting: (organizations: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<Wanting>>
  /**
   * Writes the messages and dispatches of sequenced events in one statement; returns the new dispatches. The database
   * builds the bodies from the change log, because they can be large.
   */
  readonly open: (events: ReadonlyArray<WantedEvent>, now: Date) => Effect.Effect<ReadonlyArray<Dispatch>>
  /** Endpoint, message and what is open of them, by one statement. */
  readonly due: (endpointId: string, eventId: string) => Effect.Effect<Due, never, CurrentActor>
  /**
   * Queues a dispatch behind an earlier open one of the same endpoint and record. False if there is none. Locks the
   * earlier one, so that settling it sees this one waiting.
   */
  readonly waitBehind: (endpointId: string, eventId: string, now: Date) => Effect.Effect<boolean, never, CurrentActor>
  /** Says of a dispatch that its job lives. */
  readonly touch: (endpointId: string, eventId: string, now: Date) => Effect.Effect<void, never, CurrentActor>
  /**
   * Deletes a dispatch and runs the callback for the next one waiting behind it, in one transaction. Does nothing
   * without a row.
   */
  readonly settle: (
    endpointId: string,
    eventId: string,
    now: Date,
    wake: (next: Dispatch) => Effect.Effect<void>
  ) => Effect.Effect<void, never, CurrentActor>
  /**
   * Runs the callback for dispatches of any organization that were not touched for `hours` and wait for no earlier one:
   * their job is lost. One transaction; returns the count.
   */
  readonly revive: (
    hours: number,
    now: Date,
    wake: (lost: ReadonlyArray<Dispatch>) => Effect.Effect<void>
  ) => Effect.Effect<number>
}>()("stoa/domain/webhooks/WebhookDispatchRepo") {}

const toDispatch = (row: DispatchRow): Dispatch => ({
  organizationId: row.organization_id,
  endpointId: row.endpoint_id,
  eventId: row.event_id,
  entityType: row.entity_type,
  entityId: row.entity_id
})

interface DueRow extends EndpointRow {
  readonly found_endpoint: boolean
  readonly found_message: boolean
  readonly event_type: string
  readonly event_sequence: bigint
  readonly event_body: string
  readonly event_at: Date
  readonly event_entity_type: string
  readonly event_entity_id: string
  readonly attempts: number | null
  readonly behind: boolean
}

const toDue = (row: DueRow, organizationId: string, eventId: string): Due => ({
  stored: row.found_endpoint ? toStored(row) : undefined,
  message: row.found_message
    ? {
      organizationId,
      eventId,
      type: row.event_type,
      entityType: row.event_entity_type,
      entityId: row.event_entity_id,
      sequence: Number(row.event_sequence),
      body: row.event_body,
      eventAt: row.event_at
    }
    : undefined,
  open: row.attempts === null ? undefined : { attempts: row.attempts, behind: row.behind }
})

/** The body of an entry of the change log `e`, in the form of `bodyOf`: an SQL text. */
const recordedBody = `'{"id":"${webhookIdOf("' || e.id || '")}","type":' || to_json(e.type)::text || ',"timestamp":"'
  || ${isoTime("e.created_at")} || '","data":' || e.payload::text || '}'`

/** What the relay's subscriber writes. */
const writing = (sql: SqlClient.SqlClient) => {
  const wanting = Effect.fn("WebhookDispatchRepo.wanting")(function*(organizations: ReadonlyArray<string>) {
    const rows = yield* sql<{ organization_id: string; id: string; events: ReadonlyArray<string> }>`
      select organization_id, id, events from webhook_endpoints
      where organization_id = any(${[...organizations]}::text[]) and is_active order by created_at, id`
    return rows.map((row) => ({ organizationId: row.organization_id, endpointId: row.id, events: row.events }))
  }, Effect.orDie)

  const open = Effect.fn("WebhookDispatchRepo.open")(
    function*(events: ReadonlyArray<WantedEvent>, now: Date) {
      const rows = yield* sql<DispatchRow>`with wanted as materialized (
          select * from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as w("eventId" uuid, "endpointIds" jsonb)
        ), written as (
          insert into webhook_messages (organization_id, event_id, type, entity_type, entity_id, sequence, body,
            event_at, created_at)
          select organization_id, id, type, entity_type, entity_id, event_sequence, ${sql.literal(recordedBody)},
            created_at, ${now}::timestamptz
          from outbox_events e where id = any(array(select "eventId" from wanted)) on conflict do nothing
        )
        insert into webhook_dispatches (organization_id, endpoint_id, event_id, entity_type, entity_id, sequence,
          touched_at)
        select e.organization_id, endpoint::uuid, e.id, e.entity_type, e.entity_id, e.event_sequence,
          ${now}::timestamptz
        from wanted w cross join lateral jsonb_array_elements_text(w."endpointIds") endpoint
        join outbox_events e on e.id = w."eventId" and e.id = any(array(select "eventId" from wanted))
        order by e.organization_id, e.event_sequence, endpoint
        on conflict do nothing returning organization_id, endpoint_id, event_id, entity_type, entity_id`
      return rows.map(toDispatch)
    },
    Effect.orDie
  )
  return { wanting, open }
}

/** The queries of a delivery. */
const asking = (sql: SqlClient.SqlClient) => {
  const due = Effect.fn("WebhookDispatchRepo.due")(function*(endpointId: string, eventId: string) {
    const organization = yield* currentOrganization
    const rows = yield* sql<DueRow>`select e.*, e.id is not null as found_endpoint,
        m.event_id is not null as found_message, m.type as event_type, m.sequence as event_sequence,
        m.body as event_body, m.event_at as event_at, m.entity_type as event_entity_type,
        m.entity_id as event_entity_id, d.attempts, coalesce((select true from webhook_dispatches b
          where b.organization_id = d.organization_id and b.endpoint_id = d.endpoint_id
            and b.entity_type = d.entity_type and b.entity_id = d.entity_id and b.sequence < d.sequence limit 1),
          false) as behind
      from (select ${organization}::text as organization, ${endpointId}::uuid as endpoint, ${eventId}::uuid as event) asked
      left join webhook_endpoints e on e.organization_id = asked.organization and e.id = asked.endpoint
      left join webhook_messages m on m.organization_id = asked.organization and m.event_id = asked.event
      left join webhook_dispatches d on d.organization_id = asked.organization and d.endpoint_id = asked.endpoint
        and d.event_id = asked.event`
    return rows[0] === undefined
      ? { stored: undefined, message: undefined, open: undefined }
      : toDue(rows[0], organization, eventId)
  }, Effect.orDie)

  const waitBehind = Effect.fn("WebhookDispatchRepo.waitBehind")(
    function*(endpointId: string, eventId: string, now: Date) {
      const organization = yield* currentOrganization
      const rows = yield* sql`with own as (
          select * from webhook_dispatches where organization_id = ${organization}
            and endpoint_id = ${endpointId}::uuid and event_id = ${eventId}::uuid
        ), earlier as (
          select b.event_id from webhook_dispatches b, own where b.organization_id = own.organization_id
            and b.endpoint_id = own.endpoint_id and b.entity_type = own.entity_type
            and b.entity_id = own.entity_id and b.sequence < own.sequence
          order by b.sequence limit 1 for update of b
        )
        update webhook_dispatches set state = 'waiting', touched_at = ${now}::timestamptz
        where organization_id = ${organization} and endpoint_id = ${endpointId}::uuid
          and event_id = ${eventId}::uuid and exists (select 1 from earlier)
        returning 1`
      return rows.length === 1
    },
    Effect.orDie
  )

  const touch = Effect.fn("WebhookDispatchRepo.touch")(function*(endpointId: string, eventId: string, now: Date) {
    yield* sql`update webhook_dispatches set touched_at = ${now}::timestamptz
      where organization_id = ${yield* currentOrganization} and endpoint_id = ${endpointId}::uuid
        and event_id = ${eventId}::uuid`
  }, Effect.orDie)
  return { due, waitBehind, touch }
}

/** What ends a dispatch, or takes up one that was lost. */
const ending = (sql: SqlClient.SqlClient) => {
  const settle = Effect.fn("WebhookDispatchRepo.settle")(
    function*(endpointId: string, eventId: string, now: Date, wake: (next: Dispatch) => Effect.Effect<void>) {
      const organization = yield* currentOrganization
      const gone = yield* sql<DispatchRow>`delete from webhook_dispatches where organization_id = ${organization}
        and endpoint_id = ${endpointId}::uuid and event_id = ${eventId}::uuid returning *`
      if (gone[0] === undefined) return
      // A separate statement sees dispatches that queued behind this one while it was locked.
      const next = yield* sql<DispatchRow>`update webhook_dispatches set state = 'pending',
          touched_at = ${now}::timestamptz
        where organization_id = ${organization} and endpoint_id = ${endpointId}::uuid and event_id = (
          select event_id from webhook_dispatches where organization_id = ${organization}
            and endpoint_id = ${endpointId}::uuid and entity_type = ${gone[0].entity_type}
            and entity_id = ${gone[0].entity_id} and state = 'waiting' order by sequence limit 1)
        returning *`
      if (next[0] !== undefined) yield* wake(toDispatch(next[0]))
    },
    sql.withTransaction,
    Effect.orDie
  )

  const revive = Effect.fn("WebhookDispatchRepo.revive")(
    function*(hours: number, now: Date, wake: (lost: ReadonlyArray<Dispatch>) => Effect.Effect<void>) {
      const rows = yield* sql<DispatchRow>`update webhook_dispatches set state = 'pending',
          touched_at = ${now}::timestamptz
        where ctid = any(array(select d.ctid from webhook_dispatches d
          where d.touched_at < ${now}::timestamptz - make_interval(hours => ${hours})
            and not exists (select 1 from webhook_dispatches b where b.organization_id = d.organization_id
              and b.endpoint_id = d.endpoint_id and b.entity_type = d.entity_type and b.entity_id = d.entity_id
              and b.sequence < d.sequence)
          order by d.touched_at limit 500 for update skip locked))
        returning *`
      if (rows.length > 0) yield* wake(rows.map(toDispatch))
      return rows.length
    },
    sql.withTransaction,
    Effect.orDie
  )
  return { settle, revive }
}

/** `WebhookDispatchRepo` over the database of the process. */
export const webhookDispatchRepoLayer = Layer.effect(
  WebhookDispatchRepo,
  Effect.map(
    SqlClient.SqlClient,
    (sql) => WebhookDispatchRepo.of({ ...writing(sql), ...asking(sql), ...ending(sql) })
  )
)
