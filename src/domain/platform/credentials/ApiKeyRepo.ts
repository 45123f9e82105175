import { Context, Effect, Layer, Option, Schema, SchemaGetter } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { ApiKey, noScope, StoredPermissions, storedPermissions } from "../access/ApiKey.ts"
import { changeLogInsert, changeLogRows } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import type { ApiKeyId } from "../ids/Id.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { Table } from "../records/Table.ts"

const Metadata = Schema.Record(Schema.String, Schema.Unknown)
const decodeMetadata = Schema.decodeUnknownOption(Schema.fromJsonString(Metadata))

export const keys = new Table(
  "api_keys",
  Schema.Struct({
    ...ApiKey.fields,
    permissions: Schema.NullOr(StoredPermissions),
    metadata: Schema.NullOr(Schema.String).pipe(Schema.decodeTo(Schema.NullOr(Metadata), {
      decode: SchemaGetter.transform((text) => Option.getOrNull(decodeMetadata(text))),
      encode: SchemaGetter.transform((metadata) => metadata && JSON.stringify(metadata))
    }))
  }),
  {
    computed: {
      scope: `nullif(config_id, '${noScope}')`,
      enabled: "enabled is not false",
      userId: "nullif(reference_id, organization_id)",
      requestCount: "coalesce(request_count, 0)"
    }
  }
)

/** Keys of an organization; the change log never gets their hashes. */
export class ApiKeyRepo extends Context.Service<ApiKeyRepo>()("stoa/domain/platform/credentials/ApiKeyRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insert = Effect.fn("ApiKeyRepo.insert")(function*(key: ApiKey, hash: string) {
      const actor = yield* CurrentActor
      const change = { type: "apiKeys.create", entityType: "api_key", entityId: key.id, payload: key } as const
      const { createdAt, expiresAt, id, metadata, name, permissions, prefix, role, scope, start, userId } = key
      const row = {
        id,
        name,
        start,
        prefix,
        role,
        key: hash,
        enabled: true,
        expires_at: expiresAt,
        reference_id: userId ?? actor.organizationId,
        organization_id: actor.organizationId,
        config_id: scope ?? noScope,
        permissions: permissions && storedPermissions(permissions),
        metadata: metadata && JSON.stringify(metadata),
        // It is given for two factors: the device or key that asks, and what the person knows.
        second_factor: userId !== null,
        created_at: createdAt,
        updated_at: createdAt
      }
      yield* sql`with made as (insert into api_keys ${sql.insert(row)})${idempotencyRecord(sql, actor)}
        ${changeLogInsert(sql, actor, [change])}`
    }, Effect.orDie)

    const isMember = Effect.fn("ApiKeyRepo.isMember")(function*(userId: string) {
      const found = yield* sql`select 1 from members
        where organization_id = ${yield* currentOrganization} and user_id::text = ${userId}`
      return found.length > 0
    }, Effect.orDie)

    const list = Effect.fn("ApiKeyRepo.list")((page: PageRequest) =>
      Effect.orDie(ownPage(sql, keys, "created_at desc, id desc", page, [], "all"))
    )

    const find = Effect.fn("ApiKeyRepo.find")(function*(id: ApiKeyId) {
      const [found] = yield* keys.rows(sql)`select ${sql.literal(keys.columns())} from api_keys
        where organization_id = ${yield* currentOrganization} and id = ${id}::uuid`
      return found
    }, Effect.orDie)

    /** False when the organization has no such key. */
    const remove = Effect.fn("ApiKeyRepo.remove")(function*(id: ApiKeyId) {
      const actor = yield* CurrentActor
      const record = "jsonb_build_object('id', r.id, 'name', r.name, 'start', r.start, 'role', r.role)"
      const change = { type: "apiKeys.delete", entityType: "api_key", entityId: "r.id" } as const
      const rows = yield* sql`with removed as (
          delete from api_keys where organization_id = ${actor.organizationId} and id = ${id}::uuid returning *),
        recorded as (${changeLogRows(sql, actor, { ...change, payload: record, before: record, from: "removed r" })})
        select 1 from removed`
      return rows.length > 0
    }, Effect.orDie)

    return { insert, isMember, list, find, remove }
  })
}) {
  static readonly layer = Layer.effect(ApiKeyRepo, ApiKeyRepo.make)
}
