import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change, ChangeType } from "../events/Event.ts"
import { isSameRecord } from "../events/Unchanged.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { columnsOf } from "../records/Columns.ts"
import { Table } from "../records/Table.ts"
import type { Encrypted } from "./SecretEncryption.ts"
import { WebhookEndpoint } from "./WebhookEndpoint.ts"

/** An endpoint with its encrypted secrets; never leaves the service. */
export interface StoredEndpoint extends WebhookEndpoint {
  readonly secret: Encrypted
  /** The secret before the last rotation; null once it no longer signs. */
  readonly previousSecret: Encrypted | null
}

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
export const maxEndpoints = 100

/** All SQL of webhook endpoints. Every change writes a change log entry in the same transaction, without secrets. */
export class WebhookEndpointRepo
  extends Context.Service<WebhookEndpointRepo>()("stoa/domain/webhooks/WebhookEndpointRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({ ...reading(sql), ...writing(sql) }))
  })
{
  static readonly layer = Layer.effect(WebhookEndpointRepo, WebhookEndpointRepo.make)
}

/** The change log entry of an endpoint: the record, which has no secret. */
export const endpointEvent = (
  type: Extract<ChangeType, `webhooks.${string}`>,
  endpoint: WebhookEndpoint,
  before: WebhookEndpoint | null = null
): Change => ({ type, entityType: "webhook_endpoint", entityId: endpoint.id, payload: endpoint, before })

export const endpoints = new Table("webhook_endpoints", WebhookEndpoint)

/** The columns of a `StoredEndpoint` in the table `e`. */
export const storedColumns = columnsOf({ ...WebhookEndpoint.fields, secret: null, previousSecret: null }, "e", {
  secret: "json_build_object('keyId', e.secret_key_id, 'text', e.secret)",
  previousSecret: `case when e.previous_secret_until > now()
    then json_build_object('keyId', e.previous_secret_key_id, 'text', e.previous_secret) end`
})

const reading = (sql: SqlClient.SqlClient) => {
  /** Newest first. */
  const list = Effect.fn("WebhookEndpointRepo.list")((page: PageRequest) =>
    Effect.orDie(
      ownPage(sql, endpoints, "created_at desc, id desc", page)
    )
  )

  const find = Effect.fn("WebhookEndpointRepo.find")(function*(id: string) {
    const rows = yield* endpoints.rows(sql)`select ${sql.literal(endpoints.columns())} from webhook_endpoints
      where organization_id = ${yield* currentOrganization} and id = ${id}::uuid`
    return rows[0]
  }, Effect.orDie)

  const findWithSecrets = Effect.fn("WebhookEndpointRepo.findWithSecrets")(function*(id: string) {
    const rows = yield* sql<StoredEndpoint>`select ${sql.literal(storedColumns)} from webhook_endpoints e
      where organization_id = ${yield* currentOrganization} and id = ${id}::uuid`
    return rows[0]
  }, Effect.orDie)
  return { list, find, findWithSecrets }
}

const writing = (sql: SqlClient.SqlClient) => {
  /** False, with nothing written, if the organization has reached its limit of endpoints (`maxEndpoints`). */
  const insert = Effect.fn("WebhookEndpointRepo.insert")(function*(e: WebhookEndpoint, secret: Encrypted) {
    const event = changeLogInsert(sql, yield* CurrentActor, [endpointEvent("webhooks.create", e)], "made")
    const rows = yield* sql`with made as (
        insert into webhook_endpoints (organization_id, id, url, description, events, is_active, secret, secret_key_id,
          metadata, created_at, updated_at)
        select ${e.organizationId}, ${e.id}::uuid, ${e.url}, ${e.description}, ${[...e.events]}::text[],
          ${e.isActive}, ${secret.text}, ${secret.keyId}, ${JSON.stringify(e.metadata)}::jsonb,
          ${e.createdAt}::timestamptz, ${e.updatedAt}::timestamptz
        where (select count(*) from webhook_endpoints where organization_id = ${e.organizationId}) < ${maxEndpoints}
        returning id), event as (${event}) select id from made`
    return rows.length === 1
  }, Effect.orDie)

  /**
   * Applies a rule to the current endpoint with its row locked; without a change nothing is written. Undefined for an
   * unknown one.
   */
  const change = Effect.fn("WebhookEndpointRepo.change")(
    function*(id: string, rule: (before: WebhookEndpoint) => WebhookEndpoint) {
      const actor = yield* CurrentActor
      const [before] = yield* endpoints.rows(sql)`select ${sql.literal(endpoints.columns())} from webhook_endpoints
        where organization_id = ${actor.organizationId} and id = ${id}::uuid for update`
      if (before === undefined) return undefined
      const e = rule(before)
      if (isSameRecord(before, e)) return before
      yield* sql`with event as (${changeLogInsert(sql, actor, [endpointEvent("webhooks.update", e, before)])})
        update webhook_endpoints set url = ${e.url}, description = ${e.description}, events = ${[...e.events]}::text[],
          is_active = ${e.isActive}, failing_since = ${e.failingSince}::timestamptz,
          disabled_at = ${e.disabledAt}::timestamptz, disabled_reason = ${e.disabledReason},
          metadata = ${JSON.stringify(e.metadata)}::jsonb, updated_at = ${e.updatedAt}::timestamptz
        where organization_id = ${actor.organizationId} and id = ${id}::uuid`
      return e
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** Runs a statement that returns the endpoint, and records the change. */
  const recorded = Effect.fnUntraced(
    function*(
      type: "webhooks.rotateSecret" | "webhooks.delete",
      statement: (organization: string) => Statement.Statement<WebhookEndpoint>
    ) {
      const actor = yield* CurrentActor
      const [endpoint] = yield* statement(actor.organizationId)
      if (endpoint === undefined) return undefined
      yield* changeLogInsert(sql, actor, [endpointEvent(type, endpoint, endpoint)])
      return endpoint
    },
    sql.withTransaction,
    Effect.orDie<WebhookEndpoint | undefined, SqlError.SqlError, CurrentActor>
  )

  /** Replaces the secret; the current one becomes the previous one. Undefined for an unknown endpoint. */
  const rotate = Effect.fn("WebhookEndpointRepo.rotate")((id: string, { now, previousUntil, secret }: Rotation) =>
    recorded(
      "webhooks.rotateSecret",
      (organization) =>
        sql`update webhook_endpoints set previous_secret = secret, previous_secret_key_id = secret_key_id,
          previous_secret_until = ${previousUntil}::timestamptz, secret = ${secret.text},
          secret_key_id = ${secret.keyId}, updated_at = ${now}::timestamptz
        where organization_id = ${organization} and id = ${id}::uuid returning ${sql.literal(endpoints.columns())}`
    )
  )

  /** Deletes an endpoint and its open dispatches; its deliveries go with the next purge. Undefined when unknown. */
  const remove = Effect.fn("WebhookEndpointRepo.remove")((id: string) =>
    // Lock in the order of the events, like the settlement of a dispatch that wakes the next one.
    recorded("webhooks.delete", (organization) =>
      sql`with open as materialized (select event_id from webhook_dispatches
          where organization_id = ${organization} and endpoint_id = ${id}::uuid order by sequence for update),
        removed as (delete from webhook_dispatches where organization_id = ${organization}
          and endpoint_id = ${id}::uuid and event_id = any(array(select event_id from open)))
        delete from webhook_endpoints where organization_id = ${organization} and id = ${id}::uuid
        returning ${sql.literal(endpoints.columns())}`)
  )
  return { insert, change, rotate, remove }
}
