import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { WebhookDelivery } from "./WebhookDelivery.ts"
import type { Attempt, WebhookMessage } from "./WebhookDispatch.ts"
import type { DisabledReason, WebhookEndpoint } from "./WebhookEndpoint.ts"
import { endpointEvent } from "./WebhookEndpointRepo.ts"
import { type DeliveryRow, toDelivery } from "./WebhookRows.ts"

/** All SQL of attempts. */
export class WebhookDeliveryRepo extends Context.Service<WebhookDeliveryRepo, {
  /**
   * Records an attempt, even if its endpoint was deleted meanwhile, and counts it for the open event. Does not update
   * the endpoint's health.
   */
  readonly record: (attempt: Attempt) => Effect.Effect<WebhookDelivery, never, CurrentActor>
  /** Ends a row of failures. */
  readonly recovered: (endpointId: string) => Effect.Effect<void, never, CurrentActor>
  /** Starts a series of failures or continues the current one; returns its start. */
  readonly failed: (endpointId: string, at: Date) => Effect.Effect<Date | undefined, never, CurrentActor>
  /**
   * Switches an active endpoint off and writes a change log entry, once. False if it was off, or its address changed
   * since the attempt began: the old receiver's answer does not apply to the new one.
   */
  readonly disable: (
    endpoint: WebhookEndpoint,
    reason: DisabledReason,
    at: Date
  ) => Effect.Effect<boolean, never, CurrentActor>
  /** Newest first. */
  readonly list: (endpointId: string, page: PageRequest) => Effect.Effect<PageOf<WebhookDelivery>, never, CurrentActor>
  /** Whether an attempt that is still in the log delivered this event to the endpoint. */
  readonly hasArrived: (endpointId: string, message: WebhookMessage) => Effect.Effect<boolean, never, CurrentActor>
  readonly find: (id: string) => Effect.Effect<WebhookDelivery | undefined, never, CurrentActor>
  /**
   * Deletes attempts and messages older than so many days, also of deleted endpoints; at most `limit` of each per call.
   * Returns the larger of the two counts.
   */
  readonly purge: (olderThanDays: number, limit: number) => Effect.Effect<number>
}>()("stoa/domain/webhooks/WebhookDeliveryRepo") {}

const recording = (sql: SqlClient.SqlClient) => {
  const record = Effect.fn("WebhookDeliveryRepo.record")(function*(a: Attempt) {
    const organization = yield* currentOrganization
    const rows = yield* sql<DeliveryRow>`with counted as (
        update webhook_dispatches set attempts = attempts + 1, touched_at = ${a.at}::timestamptz
        where organization_id = ${organization} and endpoint_id = ${a.endpointId}::uuid
          and event_id = ${a.eventId}::uuid)
      insert into webhook_deliveries (organization_id, id, endpoint_id, event_id, event_name, attempt_count, status_code,
        duration_ms, error, response_snippet, delivered_at, failed_at, next_retry_at, created_at)
      values (${organization}, ${a.id}::uuid, ${a.endpointId}::uuid, ${a.eventId}::uuid, ${a.eventName},
        ${a.attemptCount}::int, ${a.statusCode}::int, ${a.durationMs}::int, ${a.error}, ${a.snippet},
        ${a.delivered ? a.at : null}::timestamptz, ${a.delivered ? null : a.at}::timestamptz,
        ${a.nextRetryAt}::timestamptz, ${a.at}::timestamptz)
      returning *`
    return rows.map(toDelivery)[0] ?? (yield* Effect.die(new Error("An insert gave no row.")))
  }, Effect.orDie)

  const recovered = Effect.fn("WebhookDeliveryRepo.recovered")(function*(endpointId: string) {
    yield* sql`update webhook_endpoints set failing_since = null
      where organization_id = ${yield* currentOrganization} and id = ${endpointId}::uuid and failing_since is not null`
  }, Effect.orDie)

  const failed = Effect.fn("WebhookDeliveryRepo.failed")(function*(endpointId: string, at: Date) {
    // The row is written once a row of failures, not once a failure: deliveries would queue on it.
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
  const list = Effect.fn("WebhookDeliveryRepo.list")(function*(endpointId: string, page: PageRequest) {
    const where = sql`organization_id = ${yield* currentOrganization} and endpoint_id = ${endpointId}::uuid`
    const [rows, counted] = yield* Effect.all([
      sql<DeliveryRow>`select d.*, m.body::json as payload from (select * from webhook_deliveries where ${where}
          order by created_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}) d
        left join webhook_messages m on m.organization_id = d.organization_id and m.event_id = d.event_id
        order by d.created_at desc, d.id desc`,
      sql<{ readonly count: bigint }>`select count(*) as count from webhook_deliveries where ${where}`
    ], { concurrency: "unbounded" })
    return { items: rows.map(toDelivery), ...page, total: Number(counted[0]?.count ?? 0) }
  }, Effect.orDie)

  const hasArrived = Effect.fn("WebhookDeliveryRepo.hasArrived")(
    function*(endpointId: string, message: WebhookMessage) {
      // The time bounds how much of the endpoint's log is read; the hour is for clocks that differ.
      const rows = yield* sql`select 1 from webhook_deliveries where organization_id = ${yield* currentOrganization}
      and endpoint_id = ${endpointId}::uuid and created_at > ${message.eventAt}::timestamptz - interval '1 hour'
      and event_id = ${message.eventId}::uuid and delivered_at is not null limit 1`
      return rows.length === 1
    },
    Effect.orDie
  )

  const find = Effect.fn("WebhookDeliveryRepo.find")(function*(id: string) {
    const rows = yield* sql<DeliveryRow>`select * from webhook_deliveries
      where organization_id = ${yield* currentOrganization} and id = ${id}::uuid`
    return rows.map(toDelivery)[0]
  }, Effect.orDie)

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

/** `WebhookDeliveryRepo` over the database of the process. */
export const webhookDeliveryRepoLayer = Layer.effect(
  WebhookDeliveryRepo,
  Effect.map(SqlClient.SqlClient, (sql) => WebhookDeliveryRepo.of({ ...recording(sql), ...reading(sql) }))
)
