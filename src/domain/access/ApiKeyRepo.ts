import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { changeLogInsert, changeLogRows } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { Table } from "../records/Table.ts"
import { CurrentActor, currentOrganization } from "./Actor.ts"
import { ApiKey } from "./ApiKey.ts"
import { permissionsOf, storedPermissions } from "./KeyPermissions.ts"
import { noScope } from "./KeyScope.ts"

/** The stored parts of a key's text. */
export interface StoredText {
  readonly prefix: string
  readonly start: string
  readonly hash: string
}

export const keys = new Table(
  "api_keys",
  Schema.Struct({
    ...ApiKey.fields,
    permissions: Schema.NullOr(Schema.String),
    metadata: Schema.NullOr(Schema.String)
  }),
  {
    computed: {
      scope: `nullif(config_id, '${noScope}')`,
      enabled: "enabled is not false",
      requestCount: "coalesce(request_count, 0)"
    }
  }
)

type Row = typeof keys.schema.Type

const decodeMetadata = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
)

const toApiKey = (row: Row): ApiKey => ({
  ...row,
  permissions: row.permissions === null ? null : permissionsOf(row.permissions),
  metadata: Option.getOrNull(decodeMetadata(row.metadata))
})

/** Keys of an organization. Each statement records its change in the change log, without the key's hash. */
export class ApiKeyRepo extends Context.Service<ApiKeyRepo>()("stoa/domain/access/ApiKeyRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("ApiKeyRepo.insert")(function*(key: ApiKey, text: StoredText) {
      const actor = yield* CurrentActor
      const permissions = key.permissions === null ? null : storedPermissions(key.permissions)
      const metadata = key.metadata === null ? null : JSON.stringify(key.metadata)
      const change = { type: "apiKeys.create", entityType: "api_key", entityId: key.id, payload: key } as const
      yield* sql`with made as (
          insert into api_keys (id, name, start, prefix, key, reference_id, organization_id, role, config_id, permissions,
            metadata, enabled, expires_at, created_at, updated_at)
          values (${key.id}::uuid, ${key.name}, ${text.start}, ${text.prefix}, ${text.hash}, ${actor.organizationId},
            ${actor.organizationId}, ${key.role}, ${
        key.scope ?? noScope
      }, ${permissions}, ${metadata}, true, ${key.expiresAt}::timestamptz, ${key.createdAt}::timestamptz,
            ${key.createdAt}::timestamptz))${idempotencyRecord(sql, actor)}
        ${changeLogInsert(sql, actor, [change])}`
    }, Effect.orDie)

    /** Newest first. */
    const list = Effect.fn("ApiKeyRepo.list")((page: PageRequest) =>
      ownPage(sql, keys, "created_at desc, id desc", page).pipe(
        Effect.map(({ items, ...rest }) => ({ ...rest, items: items.map(toApiKey) })),
        Effect.orDie
      )
    )

    const find = Effect.fn("ApiKeyRepo.find")(function*(id: string) {
      const [row] = yield* keys.rows(sql)`select ${sql.literal(keys.columns())} from api_keys
        where organization_id = ${yield* currentOrganization} and id = ${id}::uuid`
      return row && toApiKey(row)
    }, Effect.orDie)

    /** Deletes a key, which is invalid from then on. False when the organization has no such key. */
    const remove = Effect.fn("ApiKeyRepo.remove")(function*(id: string) {
      const actor = yield* CurrentActor
      const record = sql`jsonb_build_object('id', r.id, 'name', r.name, 'start', r.start, 'role', r.role)`
      const rows = yield* sql`with removed as (
          delete from api_keys where organization_id = ${actor.organizationId} and id = ${id}::uuid returning *),
        recorded as (${
        changeLogRows(sql, actor, {
          type: "apiKeys.delete",
          entityType: "api_key",
          entityId: "r.id",
          payload: record,
          before: record,
          from: "removed r"
        })
      })
        select 1 from removed`
      return rows.length > 0
    }, Effect.orDie)

    return { insert, list, find, remove }
  })
}) {}

/** `ApiKeyRepo` over the database of the process. */
export const apiKeyRepoLayer = Layer.effect(ApiKeyRepo, ApiKeyRepo.make)
