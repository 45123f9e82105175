import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import { columnsOf } from "../records/Columns.ts"
import { WebhookDelivery } from "./WebhookDelivery.ts"
import type { DisabledReason, WebhookEndpoint } from "./WebhookEndpoint.ts"
import { endpointEvent } from "./WebhookEndpointRepo.ts"

/** A delivery and the record of its event; null when the event is no longer kept. */
export interface LoggedDelivery extends WebhookDelivery {
  readonly entityType: string | null
  readonly entityId: string | null
}

/** Attempts to deliver, and what they say about the health of their endpoint. */
export class WebhookDeliveryRepo
  extends Context.Service<WebhookDeliveryRepo>()("stoa/domain/webhooks/WebhookDeliveryRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...recording(sql), ...reading(sql) }))
  })
{
  static readonly layer = Layer.effect(WebhookDeliveryRepo, WebhookDeliveryRepo.make)
}

const recording = (sql: SqlClient.SqlClient) => {
  /** Records an attempt, even if its endpoint was deleted meanwhile, and counts it for the open event. */
  const record = Effect.fn("WebhookDeliveryRepo.record")(function*(d: WebhookDelivery) {
    yield* sql`with counted as (
        update webhook_dispatches set attempts = attempts + 1, touched_at = ${d.createdAt}::timestamptz
        where organization_id = ${d.organizationId} and endpoint_id = ${d.endpointId}::uuid
          and event_id = ${d.eventId}::uuid)
      insert into webhook_deliveries (organization_id, id, endpoint_id, event_id, event_name, attempt_count, status_code,
        duration_ms, error, response_snippet, delivered_at, failed_at, next_retry_at, created_at)
      values (${d.organizationId}, ${d.id}::uuid, ${d.endpointId}::uuid, ${d.eventId}::uuid, ${d.eventName},
        ${d.attemptCount}::int, ${d.statusCode}::int, ${d.durationMs}::int, ${d.error}, ${d.responseSnippet},
        ${d.deliveredAt}::timestamptz, ${d.failedAt}::timestamptz, ${d.nextRetryAt}::timestamptz,
        ${d.createdAt}::timestamptz)`
  }, Effect.orDie)

  /** Ends a series of failures. */
  const recovered = Effect.fn("WebhookDeliveryRepo.recovered")(function*(endpointId: string) {
    yield* sql`update webhook_endpoints set failing_since = null
      where organization_id = ${yield* currentOrganization} and id = ${endpointId}::uuid and failing_since is not null`
  }, Effect.orDie)

  /** Starts a series of failures or continues the current one; returns its start. */
  const failed = Effect.fn("WebhookDeliveryRepo.failed")(function*(endpointId: string, at: Date) {
    // The row is written once per series of failures, not once per failure: deliveries would queue on it.
    const rows = yield* sql<{ failing_since: Date }>`with begun as (
        update webhook_endpoints set failing_since = ${at}::timestamptz
        where organization_id = ${yield* currentOrganization} and id = ${endpointId}::uuid and failing_since is null
        returning failing_since)
      select failing_since from begun
      union all
      select failing_since from webhook_endpoints where organization_id = ${yield* currentOrganization}
        and id = ${endpointId}::uuid and failing_since is not null`
    return rows[0]?.failing_since
  }, Effect.orDie)

  /**
   * Switches an active endpoint off and writes a change log entry, once. False if it was off, or its address changed
   * since the attempt began: the old receiver's answer does not apply to the new one.
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
  return { record, recovered, failed, disable }
}

const reading = (sql: SqlClient.SqlClient) => {
  const columns = sql.literal(columnsOf(WebhookDelivery.fields, "d", {
    webhookId: "'evt_' || d.event_id",
    payload: "m.body::json"
  }))
  const messages = sql.literal(
    "left join webhook_messages m on m.organization_id = d.organization_id and m.event_id = d.event_id"
  )

  /** Newest first. */
  const list = Effect.fn("WebhookDeliveryRepo.list")(function*(endpointId: string, page: PageRequest) {
    const where = sql`organization_id = ${yield* currentOrganization} and endpoint_id = ${endpointId}::uuid`
    const [items, counted] = yield* Effect.all([
      sql<WebhookDelivery>`select ${columns} from (select * from webhook_deliveries where ${where}
          order by created_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}) d ${messages}
        order by d.created_at desc, d.id desc`,
      sql<{ readonly count: bigint }>`select count(*) as count from webhook_deliveries where ${where}`
    ], { concurrency: "unbounded" })
    return { items, ...page, total: Number(counted[0]?.count ?? 0) }
  }, Effect.orDie)

  /** Whether an attempt that is still in the log delivered this event of this time to the endpoint. */
  const hasArrived = Effect.fn("WebhookDeliveryRepo.hasArrived")(
    function*(endpointId: string, eventId: string, eventAt: Date) {
      // The time bounds how much of the endpoint's log is read; the hour is for clocks that differ.
      const rows = yield* sql`select 1 from webhook_deliveries where organization_id = ${yield* currentOrganization}
        and endpoint_id = ${endpointId}::uuid and created_at > ${eventAt}::timestamptz - interval '1 hour'
        and event_id = ${eventId}::uuid and delivered_at is not null limit 1`
      return rows.length === 1
    },
    Effect.orDie
  )

  const find = Effect.fn("WebhookDeliveryRepo.find")(function*(id: string) {
    const rows = yield* sql<LoggedDelivery>`select ${columns}, m.entity_type as "entityType", m.entity_id as "entityId"
      from webhook_deliveries d ${messages}
      where d.organization_id = ${yield* currentOrganization} and d.id = ${id}::uuid`
    return rows[0]
  }, Effect.orDie)

  /**
   * Deletes attempts and messages older than so many days, also of deleted endpoints; at most `limit` of each per call.
   * Returns the larger of the two counts.
   */
  const purge = Effect.fn("WebhookDeliveryRepo.purge")(function*(days: number, limit: number) {
    const old = sql`created_at < now() - make_interval(days => ${days})`
    const deliveries = yield* sql`delete from webhook_deliveries where ctid = any(array(
      select ctid from webhook_deliveries where ${old} order by created_at limit ${limit}::int)) returning 1`
    const messages = yield* sql`delete from webhook_messages where ctid = any(array(
      select ctid from webhook_messages where ${old} order by created_at limit ${limit}::int)) returning 1`
    return Math.max(deliveries.length, messages.length)
  }, Effect.orDie)
  return { list, find, hasArrived, purge }
}
