import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import type { Change, ChangeType } from "../platform/events/Event.ts"
import type { WebhookDeliveryId, WebhookEndpointId } from "../platform/ids/Id.ts"
import { nextCursorOf, pageParts } from "../platform/paging/CursorRepo.ts"
import { totalOf } from "../platform/paging/ListTotalsRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { Table } from "../platform/records/Table.ts"
import { recordRepo } from "../platform/resources/RecordRepo.ts"
import { Encrypted } from "./SecretEncryption.ts"
import { WebhookDelivery } from "./WebhookDelivery.ts"
import { type DisabledReason, WebhookEndpoint } from "./WebhookEndpoint.ts"

export const webhookEndpoints = new Table("webhook_endpoints", WebhookEndpoint)

/** An endpoint with its encrypted secrets; never leaves the service. */
export const StoredEndpoint = Schema.Struct({
  ...WebhookEndpoint.fields,
  secret: Encrypted,
  previousSecret: Schema.NullOr(Encrypted)
})
export type StoredEndpoint = typeof StoredEndpoint.Type

export const storedEndpoints = new Table("webhook_endpoints", StoredEndpoint, {
  computed: {
    secret: "json_build_object('keyId', e.secret_key_id, 'text', e.secret)",
    previousSecret: `case when e.previous_secret_until > now()
      then json_build_object('keyId', e.previous_secret_key_id, 'text', e.previous_secret) end`
  }
})

export const webhookDeliveries = new Table("webhook_deliveries", WebhookDelivery, {
  computed: { webhookId: "'evt_' || d.event_id", payload: "m.body::json" }
})

interface Rotation {
  readonly secret: Encrypted
  readonly previousUntil: Date
  readonly now: Date
}

/** The relay matches every event with all endpoints. Concurrent registrations can exceed the limit by a few. */
export const maxEndpoints = 100

/** Webhook endpoints. Every change writes a change log entry in the same transaction, without secrets. */
export class WebhookEndpointRepo
  extends Context.Service<WebhookEndpointRepo>()("stoa/domain/webhooks/WebhookEndpointRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => endpointsOf(sql))
  })
{
  static readonly layer = Layer.effect(WebhookEndpointRepo, WebhookEndpointRepo.make)
}

const endpointEvent = (
  type: Extract<ChangeType, `webhooks.${string}`>,
  endpoint: WebhookEndpoint,
  before: WebhookEndpoint | null = null
): Change => ({ type, entityType: "webhook_endpoint", entityId: endpoint.id, payload: endpoint, before })

const endpointsOf = (sql: SqlClient.SqlClient) => {
  const endpoint = webhookEndpoints.rows(sql)
  const withSecrets = storedEndpoints.rows(sql)
  const columns = sql.literal(webhookEndpoints.columns())
  const { change, find, list } = recordRepo(sql, {
    table: webhookEndpoints,
    order: "created_at desc, id desc",
    entityType: "webhook_endpoint",
    changes: { create: "webhooks.create", update: "webhooks.update", delete: "webhooks.delete" }
  }, Effect.die)

  const findWithSecrets = Effect.fn("WebhookEndpointRepo.findWithSecrets")(function*(id: WebhookEndpointId) {
    const [found] = yield* withSecrets`select ${sql.literal(storedEndpoints.columns("e"))}
      from webhook_endpoints e where organization_id = ${yield* currentOrganization} and id = ${id}::uuid`
    return found
  }, Effect.orDie)

  /** False if the organization has reached `maxEndpoints`. */
  const insert = Effect.fn("WebhookEndpointRepo.insert")(function*(sent: WebhookEndpoint, secret: Encrypted) {
    const actor = yield* CurrentActor
    const made = { ...sent, organizationId: actor.organizationId }
    const rows = yield* sql`with made as (
        insert into webhook_endpoints (${sql.literal(webhookEndpoints.names)}, secret, secret_key_id)
        select e.*, ${secret.text}, ${secret.keyId} from (${webhookEndpoints.values(sql, [made])}) e
        where (select count(*) from webhook_endpoints where organization_id = ${actor.organizationId}) < ${maxEndpoints}
        returning id),
      event as (${changeLogInsert(sql, actor, [endpointEvent("webhooks.create", made)], "made")})
      select id from made`
    return rows.length === 1
  }, Effect.orDie)

  const recorded = Effect.fnUntraced(
    function*(
      type: "webhooks.rotateSecret" | "webhooks.delete",
      statement: (organization: string) => Effect.Effect<ReadonlyArray<WebhookEndpoint>, SqlError.SqlError>
    ) {
      const actor = yield* CurrentActor
      const [found] = yield* statement(actor.organizationId)
      if (found !== undefined) yield* changeLogInsert(sql, actor, [endpointEvent(type, found, found)])
      return found
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )

  const rotate = Effect.fn("WebhookEndpointRepo.rotate")((
    id: WebhookEndpointId,
    { now, previousUntil, secret }: Rotation
  ) =>
    recorded(
      "webhooks.rotateSecret",
      (organization) =>
        endpoint`update webhook_endpoints set previous_secret = secret, previous_secret_key_id = secret_key_id,
          previous_secret_until = ${previousUntil}::timestamptz, secret = ${secret.text},
          secret_key_id = ${secret.keyId}, updated_at = ${now}::timestamptz
        where organization_id = ${organization} and id = ${id}::uuid returning ${columns}`
    )
  )

  const remove = Effect.fn("WebhookEndpointRepo.remove")((id: WebhookEndpointId) =>
    // Lock in the order of the events, like the settlement of a dispatch that wakes the next one.
    recorded("webhooks.delete", (organization) =>
      endpoint`with open as materialized (select event_id from webhook_dispatches
          where organization_id = ${organization} and endpoint_id = ${id}::uuid order by sequence for update),
        removed as (delete from webhook_dispatches where organization_id = ${organization}
          and endpoint_id = ${id}::uuid and event_id = any(array(select event_id from open)))
        delete from webhook_endpoints where organization_id = ${organization} and id = ${id}::uuid
        returning ${columns}`)
  )
  return { list, find, change, findWithSecrets, insert, rotate, remove }
}

export class WebhookDeliveryRepo
  extends Context.Service<WebhookDeliveryRepo>()("stoa/domain/webhooks/WebhookDeliveryRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...healthOf(sql), ...deliveriesOf(sql) }))
  })
{
  static readonly layer = Layer.effect(WebhookDeliveryRepo, WebhookDeliveryRepo.make)
}

const healthOf = (sql: SqlClient.SqlClient) => {
  const since = decoding(sql, Schema.Struct({ since: Schema.Date }))

  const recovered = Effect.fn("WebhookDeliveryRepo.recovered")(function*(endpointId: WebhookEndpointId) {
    yield* sql`update webhook_endpoints set failing_since = null
      where organization_id = ${yield* currentOrganization} and id = ${endpointId}::uuid and failing_since is not null`
  }, Effect.orDie)

  /** Starts or continues a series of failures; returns its start. */
  const failed = Effect.fn("WebhookDeliveryRepo.failed")(function*(endpointId: WebhookEndpointId, at: Date) {
    // The row is written once per series of failures, not once per failure: deliveries would queue on it.
    const [row] = yield* since`with begun as (
        update webhook_endpoints set failing_since = ${at}::timestamptz
        where organization_id = ${yield* currentOrganization} and id = ${endpointId}::uuid and failing_since is null
        returning failing_since)
      select failing_since as since from begun
      union all
      select failing_since from webhook_endpoints where organization_id = ${yield* currentOrganization}
        and id = ${endpointId}::uuid and failing_since is not null`
    return row?.since
  }, Effect.orDie)

  /**
   * Switches an endpoint off, once. False if it was off, or its address changed since the attempt began: the old
   * receiver's answer does not apply to the new one.
   */
  const disable = Effect.fn("WebhookDeliveryRepo.disable")(
    function*(endpoint: WebhookEndpoint, reason: DisabledReason, at: Date) {
      const actor = yield* CurrentActor
      const after = { ...endpoint, isActive: false, disabledAt: at, disabledReason: reason, updatedAt: at }
      const rows = yield* sql`with off as (
          update webhook_endpoints set is_active = false, disabled_at = ${at}::timestamptz,
            disabled_reason = ${reason}, updated_at = ${at}::timestamptz
          where organization_id = ${actor.organizationId} and id = ${endpoint.id}::uuid and is_active
            and url = ${endpoint.url} returning id
        ), event as (${changeLogInsert(sql, actor, [endpointEvent("webhooks.disable", after, endpoint)], "off")})
        select id from off`
      return rows.length === 1
    },
    Effect.orDie
  )
  return { recovered, failed, disable }
}

const deliveriesOf = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(webhookDeliveries.columns("d"))
  const messages: Statement.Fragment = sql.literal(
    "left join webhook_messages m on m.organization_id = d.organization_id and m.event_id = d.event_id"
  )
  const withRecord = decoding(
    sql,
    Schema.Struct({
      ...WebhookDelivery.fields,
      entityType: Schema.NullOr(Schema.String),
      entityId: Schema.NullOr(Schema.String)
    })
  )

  /** Records an attempt, even of a deleted endpoint, and counts it for the open event. */
  const record = Effect.fn("WebhookDeliveryRepo.record")(function*(d: WebhookDelivery) {
    yield* sql`with counted as (
        update webhook_dispatches set attempts = attempts + 1, touched_at = ${d.createdAt}::timestamptz
        where organization_id = ${d.organizationId} and endpoint_id = ${d.endpointId}::uuid
          and event_id = ${d.eventId}::uuid)
      insert into webhook_deliveries (${sql.literal(webhookDeliveries.names)}) ${webhookDeliveries.values(sql, [d])}`
  }, Effect.orDie)

  const list = Effect.fn("WebhookDeliveryRepo.list")(function*(endpointId: WebhookEndpointId, page: PageRequest) {
    const organization = yield* currentOrganization
    const where = sql`organization_id = ${organization} and endpoint_id = ${endpointId}::uuid`
    const { after, cursor, slice } = pageParts(sql, page, { time: "created_at", id: "id" })
    const [rows, counted] = yield* Effect.all([
      sql`select ${columns}, d.cursor from (select * ${cursor} from webhook_deliveries where ${
        sql.and([where, ...after])
      }
          order by created_at desc, id desc ${slice}) d ${messages}
        order by d.created_at desc, d.id desc`,
      sql`select ${totalOf(sql, organization, "webhook_deliveries", [endpointId])} as count`
    ], { concurrency: "unbounded" })
    const items = webhookDeliveries.decode(rows)
    return { ...page, items, total: Number(counted[0]?.["count"] ?? 0), nextCursor: nextCursorOf(rows, page) }
  }, Effect.orDie)

  const find = Effect.fn("WebhookDeliveryRepo.find")(function*(id: WebhookDeliveryId) {
    const [found] = yield* withRecord`select ${columns}, m.entity_type as "entityType", m.entity_id as "entityId"
      from webhook_deliveries d ${messages}
      where d.organization_id = ${yield* currentOrganization} and d.id = ${id}::uuid`
    return found
  }, Effect.orDie)

  const hasArrived = Effect.fn("WebhookDeliveryRepo.hasArrived")(
    function*(endpointId: WebhookEndpointId, eventId: string, eventAt: Date) {
      // The time bounds how much of the endpoint's log is read; the hour is for clocks that differ.
      const arrived = yield* sql`select 1 from webhook_deliveries where organization_id = ${yield* currentOrganization}
        and endpoint_id = ${endpointId}::uuid and created_at > ${eventAt}::timestamptz - interval '1 hour'
        and event_id = ${eventId}::uuid and delivered_at is not null limit 1`
      return arrived.length === 1
    },
    Effect.orDie
  )

  /** Deletes at most `limit` attempts and messages per call; returns the larger of the two counts. */
  const purge = Effect.fn("WebhookDeliveryRepo.purge")(function*(days: number, limit: number) {
    const removed = yield* Effect.forEach(
      ["webhook_deliveries", "webhook_messages"],
      (table) =>
        sql`delete from ${sql(table)} where ctid = any(array(select ctid from ${sql(table)}
        where created_at < now() - make_interval(days => ${days}) order by created_at limit ${limit}::int)) returning 1`
    )
    return Math.max(...removed.map(({ length }) => length))
  }, Effect.orDie)
  return { record, list, find, hasArrived, purge }
}
