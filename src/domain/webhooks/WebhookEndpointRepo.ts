import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change, ChangeType } from "../events/Event.ts"
import { isSameRecord } from "../events/Unchanged.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { Encrypted } from "./SecretEncryption.ts"
import type { WebhookEndpoint } from "./WebhookEndpoint.ts"
import { type EndpointRow, type StoredEndpoint, toEndpoint, toStored } from "./WebhookRows.ts"

/** A new secret, and until when the previous one signs as well. */
export interface Rotation {
  readonly secret: Encrypted
  readonly previousUntil: Date
  readonly now: Date
}

/**
 * Maximum number of endpoints of an organization. The relay matches every event with all of them in a transaction
 * shared by all organizations. Concurrent registrations can exceed it by a few.
 */
export const mostEndpoints = 100

/** All SQL of webhook endpoints. Every change writes a change log entry in the same statement, without secrets. */
export class WebhookEndpointRepo extends Context.Service<WebhookEndpointRepo, {
  /** False, with nothing written, if the organization has reached its limit of endpoints (`mostEndpoints`). */
  readonly insert: (endpoint: WebhookEndpoint, secret: Encrypted) => Effect.Effect<boolean, never, CurrentActor>
  /** Newest first. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<WebhookEndpoint>, never, CurrentActor>
  readonly find: (id: string) => Effect.Effect<StoredEndpoint | undefined, never, CurrentActor>
  /**
   * Applies a rule to the current endpoint with its row locked; without a change nothing is written. Undefined for an
   * unknown one.
   */
  readonly change: (
    id: string,
    rule: (before: WebhookEndpoint) => WebhookEndpoint
  ) => Effect.Effect<WebhookEndpoint | undefined, never, CurrentActor>
  /** Puts a new secret in the place of the present one, which becomes the previous one. Undefined for an unknown one. */
  readonly rotate: (id: string, rotation: Rotation) => Effect.Effect<WebhookEndpoint | undefined, never, CurrentActor>
  /** Deletes an endpoint and what it still had to get; its deliveries go with the next purge. False when unknown. */
  readonly remove: (id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/webhooks/WebhookEndpointRepo") {}

/** The change log entry of an endpoint: the record, which has no secret. */
export const endpointEvent = (
  type: Extract<ChangeType, `webhooks.${string}`>,
  endpoint: WebhookEndpoint,
  before: WebhookEndpoint | null = null
): Change => ({ type, entityType: "webhook_endpoint", entityId: endpoint.id, payload: endpoint, before })

const reading = (sql: SqlClient.SqlClient) => {
  const list = Effect.fn("WebhookEndpointRepo.list")(function*(page: PageRequest) {
    const organization = yield* currentOrganization
    const [rows, counted] = yield* Effect.all([
      sql<EndpointRow>`select * from webhook_endpoints where organization_id = ${organization}
        order by created_at desc, id desc limit ${page.limit} offset ${offsetOf(page)}`,
      sql<{ readonly count: bigint }>`select count(*) as count from webhook_endpoints
        where organization_id = ${organization}`
    ], { concurrency: "unbounded" })
    return { items: rows.map(toEndpoint), ...page, total: Number(counted[0]?.count ?? 0) }
  }, Effect.orDie)

  const find = Effect.fn("WebhookEndpointRepo.find")(function*(id: string) {
    const rows = yield* sql<EndpointRow>`select * from webhook_endpoints
      where organization_id = ${yield* currentOrganization} and id = ${id}::uuid`
    return rows[0] && toStored(rows[0])
  }, Effect.orDie)
  return { list, find }
}

const writing = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fn("WebhookEndpointRepo.insert")(function*(e: WebhookEndpoint, secret: Encrypted) {
    const event = changeLogInsert(sql, yield* CurrentActor, [endpointEvent("webhooks.create", e)], "made")
    const rows =
      yield* sql`with made as (insert into webhook_endpoints (organization_id, id, url, description, events, is_active, secret, secret_key_id,
        metadata, created_at, updated_at)
      select ${e.organizationId}, ${e.id}::uuid, ${e.url}, ${e.description}, ${[...e.events]}::text[],
        ${e.isActive}, ${secret.text}, ${secret.keyId}, ${JSON.stringify(e.metadata)}::jsonb,
        ${e.createdAt}::timestamptz, ${e.updatedAt}::timestamptz
      where (select count(*) from webhook_endpoints where organization_id = ${e.organizationId}) < ${mostEndpoints}
      returning id), event as (${event}) select id from made`
    return rows.length === 1
  }, Effect.orDie)

  const change = Effect.fn("WebhookEndpointRepo.change")(
    function*(id: string, rule: (before: WebhookEndpoint) => WebhookEndpoint) {
      const actor = yield* CurrentActor
      const rows = yield* sql<EndpointRow>`select * from webhook_endpoints
        where organization_id = ${actor.organizationId} and id = ${id}::uuid for update`
      if (rows[0] === undefined) return undefined
      const before = toEndpoint(rows[0])
      const e = rule(before)
      if (isSameRecord(before, e)) return before
      yield* sql`with event as (${changeLogInsert(sql, actor, [endpointEvent("webhooks.update", e, before)])})
        update webhook_endpoints set url = ${e.url}, description = ${e.description}, events = ${[
        ...e.events
      ]}::text[],
          is_active = ${e.isActive}, failing_since = ${e.failingSince}::timestamptz,
          disabled_at = ${e.disabledAt}::timestamptz, disabled_reason = ${e.disabledReason},
          metadata = ${JSON.stringify(e.metadata)}::jsonb, updated_at = ${e.updatedAt}::timestamptz
        where organization_id = ${actor.organizationId} and id = ${id}::uuid`
      return e
    },
    sql.withTransaction,
    Effect.orDie
  )

  const rotate = Effect.fn("WebhookEndpointRepo.rotate")(
    function*(id: string, { now, previousUntil, secret }: Rotation) {
      const actor = yield* CurrentActor
      const rows = yield* sql<EndpointRow>`update webhook_endpoints set previous_secret = secret,
          previous_secret_key_id = secret_key_id, previous_secret_until = ${previousUntil}::timestamptz,
          secret = ${secret.text}, secret_key_id = ${secret.keyId}, updated_at = ${now}::timestamptz
        where organization_id = ${actor.organizationId} and id = ${id}::uuid returning *`
      if (rows[0] === undefined) return undefined
      const endpoint = toEndpoint(rows[0])
      yield* changeLogInsert(sql, actor, [endpointEvent("webhooks.rotateSecret", endpoint, endpoint)])
      return endpoint
    },
    sql.withTransaction,
    Effect.orDie
  )

  const remove = Effect.fn("WebhookEndpointRepo.remove")(
    function*(id: string) {
      const actor = yield* CurrentActor
      // Lock in the order of the events, like the settlement of a dispatch that wakes the next one.
      const rows = yield* sql<EndpointRow>`with open as materialized (select event_id from webhook_dispatches
          where organization_id = ${actor.organizationId} and endpoint_id = ${id}::uuid order by sequence for update),
        forgotten as (delete from webhook_dispatches where organization_id = ${actor.organizationId}
          and endpoint_id = ${id}::uuid and event_id = any(array(select event_id from open)))
        delete from webhook_endpoints where organization_id = ${actor.organizationId} and id = ${id}::uuid returning *`
      if (rows[0] === undefined) return false
      const endpoint = toEndpoint(rows[0])
      yield* changeLogInsert(sql, actor, [endpointEvent("webhooks.delete", endpoint, endpoint)])
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )
  return { insert, change, rotate, remove }
}

/** `WebhookEndpointRepo` over the database of the process. */
export const webhookEndpointRepoLayer = Layer.effect(
  WebhookEndpointRepo,
  Effect.map(SqlClient.SqlClient, (sql) => WebhookEndpointRepo.of({ ...reading(sql), ...writing(sql) }))
)
