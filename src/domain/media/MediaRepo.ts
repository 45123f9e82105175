import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { MediaAsset, MediaAttachment, MediaChange, MediaFilter, MediaRecord, NewAsset } from "./MediaAsset.ts"
import { assetJson, isPublicAsset, type MediaRow, toAsset } from "./MediaRows.ts"
import { MediaAddress } from "./MediaSettings.ts"

/** An asset and whether it is public. */
export interface FoundAsset {
  readonly asset: MediaAsset
  readonly isPublic: boolean
}

/** The media of an organization, newest first. */
export class MediaRepo extends Context.Service<MediaRepo, {
  /**
   * Writes the row of a stored file and takes the file off the removal list. Undefined: the upload took too long, so
   * the file is already being removed.
   */
  readonly create: (asset: NewAsset) => Effect.Effect<MediaAsset | undefined, never, CurrentActor>
  readonly find: (id: string) => Effect.Effect<FoundAsset | undefined, never, CurrentActor>
  readonly record: (id: string) => Effect.Effect<MediaRecord | undefined, never, CurrentActor>
  readonly page: (filter: MediaFilter, page: PageRequest) => Effect.Effect<PageOf<MediaAsset>, never, CurrentActor>
  readonly update: (id: string, change: MediaChange) => Effect.Effect<MediaAsset | undefined, never, CurrentActor>
  /**
   * Deletes an asset and returns the keys of its files, the original first, now on the removal list; undefined if there
   * is none.
   */
  readonly remove: (id: string) => Effect.Effect<ReadonlyArray<string> | undefined, never, CurrentActor>
}>()("stoa/domain/media/MediaRepo") {
  static readonly layer = Layer.effect(
    MediaRepo,
    Effect.gen(function*() {
      const [sql, lookup, address] = [yield* SqlClient.SqlClient, yield* lookupSql, yield* MediaAddress]
      return { ...makeReads(sql, lookup, address), ...makeWrites(sql, address) }
    })
  )
}

/** The change log's entry of the asset in the part `written`, with the row of the part `old` as it was. */
const noted = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: "media.upload" | "media.update" | "media.delete",
  old?: string
) =>
  changeLogRows(sql, actor, {
    type,
    entityType: "media_asset",
    entityId: "x.id::text",
    payload: assetJson("x"),
    before: old === undefined ? undefined : assetJson("o"),
    from: old === undefined ? "written x" : `written x join ${old} o on o.id = x.id`
  })

const attachments = `(select coalesce(json_agg(json_build_object('entityId', l.entity_id, 'variantId', l.variant_id,
    'role', l.role, 'sortOrder', l.sort_order) order by l.attached_at, l.entity_id, l.variant_id), '[]')
  from (select * from entity_media where media_asset_id = a.id and organization_id = a.organization_id
    order by attached_at limit 100) l)`

const makeReads = (sql: SqlClient.SqlClient, lookup: SqlClient.SqlClient, address: string) => {
  const find = Effect.fn("MediaRepo.find")(function*(id: string) {
    const organization = yield* currentOrganization
    const rows = yield* lookup<MediaRow & { readonly shown: boolean }>`select a.*, ${
      sql.literal(isPublicAsset("a"))
    } as shown
      from media_assets a where a.id = ${id}::uuid and a.organization_id = ${organization}`
    return rows[0] === undefined ? undefined : { asset: toAsset(rows[0], address), isPublic: rows[0].shown }
  }, Effect.orDie)

  const record = Effect.fn("MediaRepo.record")(function*(id: string) {
    const organization = yield* currentOrganization
    const rows = yield* lookup<MediaRow & { readonly attachments: ReadonlyArray<MediaAttachment> }>`
      select a.*, ${sql.literal(attachments)} as attachments
      from media_assets a where a.id = ${id}::uuid and a.organization_id = ${organization}`
    return rows[0] === undefined ? undefined : { ...toAsset(rows[0], address), attachments: rows[0].attachments }
  }, Effect.orDie)

  const page = Effect.fn("MediaRepo.page")(function*(filter: MediaFilter, asked: PageRequest) {
    const organization = yield* currentOrganization
    const where = sql.and([
      sql`a.organization_id = ${organization}`,
      ...filter.contentType === undefined ? [] : [sql`a.content_type = ${filter.contentType}`],
      // An array first: few assets of one entity, and not a walk through all of them that looks at each.
      ...filter.entityId === undefined ? [] : [
        sql`a.id = any(array(select l.media_asset_id from entity_media l
          where l.entity_id = ${filter.entityId}::uuid and l.organization_id = ${organization}))`
      ]
    ])
    const [rows, counted] = yield* Effect.all([
      sql<MediaRow>`select a.* from media_assets a where ${where} order by a.uploaded_at desc, a.id desc
        limit ${asked.limit} offset ${offsetOf(asked)}`,
      sql<{ readonly total: bigint }>`select count(*) as total from media_assets a where ${where}`
    ], { concurrency: "unbounded" })
    return { ...asked, items: rows.map((row) => toAsset(row, address)), total: Number(counted[0]?.total ?? 0) }
  }, Effect.orDie)

  return { find, record, page }
}

const makeWrites = (sql: SqlClient.SqlClient, address: string) => {
  const create = Effect.fn("MediaRepo.create")(function*(asset: NewAsset) {
    const actor = yield* CurrentActor
    // A removal counts an attempt before it removes the file, so an entry with an attempt means the file is lost.
    const rows = yield* sql<MediaRow>`with kept as (
        delete from media_removals where storage_key = ${asset.storageKey}
          and organization_id = ${actor.organizationId} and attempts = 0 returning storage_key),
      written as (
        insert into media_assets (id, organization_id, storage_key, filename, content_type, size, digest, width, height,
          alt, is_public, origin)
        select ${asset.id}::uuid, ${actor.organizationId}, k.storage_key, ${asset.filename}, ${asset.contentType},
          ${asset.size}::bigint, ${asset.digest}, ${asset.width}::int, ${asset.height}::int, ${asset.alt}::text,
          ${asset.isPublic}::boolean, ${asset.origin ?? "merchant"}
        from kept k returning *),
      entry as (${noted(sql, actor, "media.upload")})${idempotencyRecord(sql, actor, "written")}
      select * from written`
    return rows[0] === undefined ? undefined : toAsset(rows[0], address)
  }, Effect.orDie)

  const update = Effect.fn("MediaRepo.update")(function*(id: string, { alt, isPublic, metadata }: MediaChange) {
    const actor = yield* CurrentActor
    const rows = yield* sql<MediaRow>`with old as materialized (select * from media_assets
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
      written as (update media_assets set
          alt = case when ${alt !== undefined}::boolean then ${alt ?? null}::text else alt end,
          metadata = coalesce(${metadata === undefined ? null : JSON.stringify(metadata)}::jsonb, metadata),
          is_public = coalesce(${isPublic ?? null}::boolean, is_public)
        where id = (select id from old) and organization_id = ${actor.organizationId} returning *),
      entry as (${noted(sql, actor, "media.update", "old")})
      select * from written`
    return rows[0] === undefined ? undefined : toAsset(rows[0], address)
  }, Effect.orDie)

  const remove = Effect.fn("MediaRepo.remove")(function*(id: string) {
    const actor = yield* CurrentActor
    // The triggers put its files on the list of those that have to go, in the same transaction.
    const rows = yield* sql<{ readonly keys: ReadonlyArray<string> }>`with written as (
        delete from media_assets where id = ${id}::uuid and organization_id = ${actor.organizationId} returning *),
      entry as (${noted(sql, actor, "media.delete", "written")})
      select x.storage_key || coalesce((select array_agg(r.storage_key) from media_renditions r
        where r.asset_id = x.id and r.organization_id = x.organization_id), '{}') as keys
      from written x`
    return rows[0]?.keys
  }, Effect.orDie)

  return { create, update, remove }
}
