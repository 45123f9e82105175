import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../../domain/platform/access/Actor.ts"
import { isoTime } from "../../domain/platform/events/ChangeLogRepo.ts"
import { WebhookEndpointId } from "../../domain/platform/ids/Id.ts"
import { decoding } from "../../domain/platform/records/Rows.ts"
import { columnsOf } from "../../domain/platform/records/Table.ts"
import { Dispatch, webhookIdOf } from "../../domain/webhooks/WebhookDelivery.ts"
import { StoredEndpoint, storedEndpoints } from "../../domain/webhooks/WebhookRepo.ts"
import { webhookDispatches, webhookMessages } from "../../domain/webhooks/WebhookTables.ts"

const Subscription = Schema.Struct({
  organizationId: Schema.String,
  endpointId: WebhookEndpointId,
  events: Schema.Array(Schema.String)
})

interface SubscribedEvent {
  readonly eventId: string
  readonly endpointIds: ReadonlyArray<WebhookEndpointId>
}

const Due = Schema.Struct({
  endpoint: Schema.NullOr(StoredEndpoint),
  /** The same bytes in every attempt. Null once purged. */
  message: Schema.NullOr(Schema.Struct({ type: Schema.String, body: Schema.String, eventAt: Schema.Date })),
  open: Schema.NullOr(Schema.Struct({ attempts: Schema.Int, behind: Schema.Boolean }))
})
export type Due = typeof Due.Type

export class WebhookDispatchRepo
  extends Context.Service<WebhookDispatchRepo>()("stoa/layers/webhooks/WebhookDispatchRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...writing(sql), ...asking(sql), ...ending(sql) }))
  })
{
  static readonly layer = Layer.effect(WebhookDispatchRepo, WebhookDispatchRepo.make)
}

const dispatchColumns = columnsOf(Dispatch.fields)

const recordedBody = `'{"id":"${webhookIdOf("' || e.id || '")}","type":' || to_json(e.type)::text || ',"timestamp":"'
  || ${isoTime("e.created_at")} || '","data":' || e.payload::text || '}'`

const writing = (sql: SqlClient.SqlClient) => {
  const subscription = decoding(sql, Subscription)
  const dispatches = decoding(sql, Dispatch)

  const subscriptions = Effect.fn("WebhookDispatchRepo.subscriptions")(
    (organizations: ReadonlyArray<string>) =>
      subscription`select organization_id as "organizationId", id as "endpointId", events from webhook_endpoints
        where organization_id = any(${[...organizations]}::text[]) and is_active order by created_at, id`,
    Effect.orDie
  )

  /**
   * Writes messages and dispatches in one statement; returns the dispatches. The database builds the bodies, since they
   * can be large.
   */
  const open = Effect.fn("WebhookDispatchRepo.open")(
    (events: ReadonlyArray<SubscribedEvent>, now: Date) =>
      dispatches`with wanted as materialized (
          select * from jsonb_to_recordset(${JSON.stringify(events)}::jsonb) as w("eventId" uuid, "endpointIds" jsonb)
        ), written as (
          insert into webhook_messages ${
        webhookMessages.insert(sql, {
          organizationId: "organization_id",
          eventId: "id",
          type: "type",
          entityType: "entity_type",
          entityId: "entity_id",
          sequence: "event_sequence",
          body: recordedBody,
          eventAt: "created_at",
          createdAt: sql`${now}::timestamptz`
        })
      } from outbox_events_read e where id = any(array(select "eventId" from wanted)) on conflict do nothing
        )
        insert into webhook_dispatches ${
        webhookDispatches.insert(sql, {
          organizationId: "e.organization_id",
          endpointId: "endpoint::uuid",
          eventId: "e.id",
          entityType: "e.entity_type",
          entityId: "e.entity_id",
          sequence: "e.event_sequence",
          touchedAt: sql`${now}::timestamptz`
        })
      } from wanted w cross join lateral jsonb_array_elements_text(w."endpointIds") endpoint
        join outbox_events_read e on e.id = w."eventId" and e.id = any(array(select "eventId" from wanted))
        order by e.organization_id, e.event_sequence, endpoint
        on conflict do nothing returning ${sql.literal(dispatchColumns)}`,
    Effect.orDie
  )
  return { subscriptions, open }
}

const asking = (sql: SqlClient.SqlClient) => {
  const dues = decoding(sql, Due)

  const due = Effect.fn("WebhookDispatchRepo.due")(function*(endpointId: WebhookEndpointId, eventId: string) {
    const organization = yield* currentOrganization
    const [found] = yield* dues`select
        case when e.id is not null then ${sql.literal(storedEndpoints.json("e"))} end as endpoint,
        case when m.event_id is not null then jsonb_build_object('type', m.type, 'body', m.body, 'eventAt', m.event_at)
          end as message,
        case when d.event_id is not null then jsonb_build_object('attempts', d.attempts,
          'behind', exists (select 1 from webhook_dispatches b
            where b.organization_id = d.organization_id and b.endpoint_id = d.endpoint_id
              and b.entity_type = d.entity_type and b.entity_id = d.entity_id and b.sequence < d.sequence)) end as open
      from (select ${organization}::text as organization, ${endpointId}::uuid as endpoint, ${eventId}::uuid as event) asked
      left join webhook_endpoints e on e.organization_id = asked.organization and e.id = asked.endpoint
      left join webhook_messages m on m.organization_id = asked.organization and m.event_id = asked.event
      left join webhook_dispatches d on d.organization_id = asked.organization and d.endpoint_id = asked.endpoint
        and d.event_id = asked.event`
    return found ?? { endpoint: null, message: null, open: null }
  }, Effect.orDie)

  /**
   * Queues a dispatch behind an earlier open one of its endpoint and record; false without one. Locks the earlier one:
   * settling it sees this one.
   */
  const waitBehind = Effect.fn("WebhookDispatchRepo.waitBehind")(
    function*(endpointId: WebhookEndpointId, eventId: string, now: Date) {
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

  const touch = Effect.fn("WebhookDispatchRepo.touch")(
    function*(endpointId: WebhookEndpointId, eventId: string, now: Date) {
      yield* sql`update webhook_dispatches set touched_at = ${now}::timestamptz
      where organization_id = ${yield* currentOrganization} and endpoint_id = ${endpointId}::uuid
        and event_id = ${eventId}::uuid`
    },
    Effect.orDie
  )
  return { due, waitBehind, touch }
}

const ending = (sql: SqlClient.SqlClient) => {
  const dispatches = decoding(sql, Dispatch)

  /** Deletes a dispatch and runs the callback for the next one in its transaction. Does nothing without a row. */
  const settle = Effect.fn("WebhookDispatchRepo.settle")(
    function*(
      endpointId: WebhookEndpointId,
      eventId: string,
      now: Date,
      wake: (next: Dispatch) => Effect.Effect<void>
    ) {
      const organization = yield* currentOrganization
      const [settled] = yield* decoding(
        sql,
        Dispatch
      )`delete from webhook_dispatches where organization_id = ${organization}
        and endpoint_id = ${endpointId}::uuid and event_id = ${eventId}::uuid returning ${sql.literal(dispatchColumns)}`
      if (settled === undefined) return
      // A separate statement sees dispatches that queued while this one was locked.
      const [next] = yield* dispatches`update webhook_dispatches set state = 'pending',
          touched_at = ${now}::timestamptz
        where organization_id = ${organization} and endpoint_id = ${endpointId}::uuid and event_id = (
          select event_id from webhook_dispatches where organization_id = ${organization}
            and endpoint_id = ${endpointId}::uuid and entity_type = ${settled.entityType}
            and entity_id = ${settled.entityId} and state = 'waiting' order by sequence limit 1)
        returning ${sql.literal(dispatchColumns)}`
      if (next !== undefined) yield* wake(next)
    },
    sql.withTransaction,
    Effect.orDie
  )

  /**
   * Runs the callback for first dispatches not touched for `hours`, whose job is lost. One transaction; returns the
   * count.
   */
  const revive = Effect.fn("WebhookDispatchRepo.revive")(
    function*(hours: number, now: Date, wake: (lost: ReadonlyArray<Dispatch>) => Effect.Effect<void>) {
      const lost = yield* dispatches`update webhook_dispatches set state = 'pending',
          touched_at = ${now}::timestamptz
        where ctid = any(array(select d.ctid from webhook_dispatches d
          where d.touched_at < ${now}::timestamptz - make_interval(hours => ${hours})
            and not exists (select 1 from webhook_dispatches b where b.organization_id = d.organization_id
              and b.endpoint_id = d.endpoint_id and b.entity_type = d.entity_type and b.entity_id = d.entity_id
              and b.sequence < d.sequence)
          order by d.touched_at limit 500 for update skip locked))
        returning ${sql.literal(dispatchColumns)}`
      if (lost.length > 0) yield* wake(lost)
      return lost.length
    },
    sql.withTransaction,
    Effect.orDie
  )
  return { settle, revive }
}
