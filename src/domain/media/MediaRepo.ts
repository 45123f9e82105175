import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization, systemActor } from "../platform/access/Actor.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import type { MediaAssetId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { decoding } from "../platform/records/Rows.ts"
import { jsonOf, Table } from "../platform/records/Table.ts"
import {
  type Detachment,
  MediaAddress,
  MediaAsset,
  type MediaChange,
  type MediaFilter,
  MediaRecord,
  type NewAsset,
  type NewAttachment,
  ownUploads
} from "./MediaAsset.ts"
import { entityMedia, mediaAssets } from "./MediaTables.ts"

const FoundAsset = Schema.Struct({ ...MediaAsset.fields, isShown: Schema.Boolean })

const AttachmentEnds = Schema.Struct({
  entity: Schema.Boolean,
  variant: Schema.Boolean,
  asset: Schema.Boolean,
  attached: Schema.Boolean
})

class TooManyUploads extends conflict(
  "TooManyUploads",
  (atMost: number) =>
    `You have ${atMost} uploads that nothing uses. Use them, or wait until they are removed after a day.`
) {}

/** The id of an uploader, as the change log has it. */
const uploaderOf = ({ keyId, userId }: Actor): string | null => userId ?? keyId ?? null

const RemovedKeys = Schema.Struct({ keys: Schema.Array(Schema.String) })

export class MediaRepo extends Context.Service<MediaRepo>()("stoa/domain/media/MediaRepo", {
  make: Effect.gen(function*() {
    const [sql, lookup, address] = [yield* SqlClient.SqlClient, yield* lookupSql, yield* MediaAddress]
    const assets = assetsAt(address)
    return { ...reading(sql, lookup, assets), ...writing(sql, assets), ...using(sql), ...attaching(sql) }
  })
}) {
  static readonly layer = Layer.effect(MediaRepo, MediaRepo.make)
}

/** SQL: the asset is public, or something published shows it. */
export const isPublicAsset = (row: string): string =>
  `(${row}.is_public or exists (select 1 from entity_media pl join catalog_entities_read pe on pe.id = pl.entity_id
      and pe.organization_id = pl.organization_id
    where pl.media_asset_id = ${row}.id and pl.organization_id = ${row}.organization_id
      and pe.status = 'active' and pe.is_visible))`

const assetsAt = (address: string) =>
  new Table("media_assets", MediaAsset, {
    casts: { size: "float8" },
    computed: { url: `'${address.replaceAll("'", "''")}' || storage_key` }
  })

const assetJson = (row: string): string =>
  jsonOf(Struct.omit(MediaAsset.fields, ["confidence", "derivedFromAssetId", "uploadedAt", "url"]), row)

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
    organizationId: "x.organization_id",
    from: old === undefined ? "written x" : `written x join ${old} o on o.id = x.id`
  })

const attachments = `(select coalesce(json_agg(json_build_object('entityId', l.entity_id, 'variantId', l.variant_id,
    'role', l.role, 'sortOrder', l.sort_order) order by l.attached_at, l.entity_id, l.variant_id), '[]')
  from (select * from entity_media where media_asset_id = a.id and organization_id = a.organization_id
    order by attached_at limit 100) l)`

const reading = (sql: SqlClient.SqlClient, lookup: SqlClient.SqlClient, assets: Table<MediaAsset>) => {
  const columns = sql.literal(assets.columns("a"))

  const find = Effect.fn("MediaRepo.find")(function*(id: MediaAssetId) {
    const [found] = yield* decoding(lookup, FoundAsset)`select ${columns}, ${
      sql.literal(isPublicAsset("a"))
    } as "isShown"
      from media_assets a where a.id = ${id}::uuid and a.organization_id = ${yield* currentOrganization}`
    return found
  }, Effect.orDie)

  const record = Effect.fn("MediaRepo.record")(function*(id: MediaAssetId) {
    const [found] = yield* decoding(lookup, MediaRecord)`select ${columns}, a.uploaded_by as "uploadedBy",
        a.expires_at as "expiresAt", ${sql.literal(attachments)} as attachments
      from media_assets a where a.id = ${id}::uuid and a.organization_id = ${yield* currentOrganization}`
    return found
  }, Effect.orDie)

  const page = Effect.fn("MediaRepo.page")(function*({ contentType, entityId }: MediaFilter, asked: PageRequest) {
    const organization = yield* currentOrganization
    return yield* ownPage(sql, assets, "uploaded_at desc, id desc", asked, [
      ...contentType === undefined ? [] : [sql`content_type = ${contentType}`],
      // An array first: few assets of one entity, and not a walk through all of them that looks at each.
      ...entityId === undefined ? [] : [
        sql`id = any(array(select l.media_asset_id from entity_media l
          where l.entity_id = ${entityId}::uuid and l.organization_id = ${organization}))`
      ]
    ], entityId === undefined ? contentType === undefined ? "all" : [contentType] : undefined)
  }, Effect.orDie)

  return { find, record, page }
}

/** Refuses (409) a caller with too many uploads that nothing uses. Uploads of one caller wait for one another. */
const waitTurn = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, { organizationId, userId }: Actor) {
  const { atMost } = ownUploads
  yield* sql`select pg_advisory_xact_lock(hashtextextended(${`media_assets ${organizationId} ${userId ?? ""}`}, 0))`
  const rows = yield* sql`select 1 from media_assets where organization_id = ${organizationId}
    and uploaded_by = ${userId} and expires_at > now() limit ${atMost}`
  if (rows.length === atMost) return yield* new TooManyUploads(atMost)
})

const writing = (sql: SqlClient.SqlClient, assets: Table<MediaAsset>) => {
  const columns = sql.literal(assets.columns("a"))

  const create = Effect.fn("MediaRepo.create")(function*(asset: NewAsset) {
    const actor = yield* CurrentActor
    // A removal counts an attempt before it removes the file, so an entry with an attempt means the file is lost.
    const [found] = yield* assets.rows(sql)`with kept as (
        delete from media_removals where storage_key = ${asset.storageKey}
          and organization_id = ${actor.organizationId} and attempts = 0 returning storage_key),
      written as (
        insert into media_assets ${
      mediaAssets.insert(sql, {
        id: sql`${asset.id}::uuid`,
        organizationId: sql`${actor.organizationId}`,
        storageKey: "k.storage_key",
        filename: sql`${asset.filename}`,
        contentType: sql`${asset.contentType}`,
        size: sql`${asset.size}::bigint`,
        digest: sql`${asset.digest}`,
        width: sql`${asset.width}::int`,
        height: sql`${asset.height}::int`,
        alt: sql`${asset.alt}::text`,
        isPublic: sql`${asset.isPublic}::boolean`,
        origin: sql`${asset.origin ?? "merchant"}`,
        uploadedBy: asset.origin === undefined ? sql`${uploaderOf(actor)}::text` : "null::text",
        expiresAt: asset.expires === true
          ? sql`now() + make_interval(hours => ${ownUploads.hours})`
          : "null::timestamptz"
      })
    } from kept k returning *),
      entry as (${noted(sql, actor, "media.upload")})${idempotencyRecord(sql, actor, "written")}
      select ${columns} from written a`
    return found
  }, Effect.catchIf(SqlError.isSqlError, Effect.die))

  /** Keeps a shopper's upload; 409 while too many of theirs wait to be used. */
  const createOwn = (asset: NewAsset) =>
    Effect.flatMap(
      CurrentActor,
      (actor) => sql.withTransaction(Effect.andThen(waitTurn(sql, actor), create({ ...asset, expires: true })))
    ).pipe(Effect.catchIf(SqlError.isSqlError, Effect.die))

  const update = Effect.fn("MediaRepo.update")(function*(id: MediaAssetId, { alt, isPublic, metadata }: MediaChange) {
    const actor = yield* CurrentActor
    const [found] = yield* assets.rows(sql)`with old as materialized (select * from media_assets
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
      written as (update media_assets set
          alt = case when ${alt !== undefined}::boolean then ${alt ?? null}::text else alt end,
          metadata = coalesce(${metadata === undefined ? null : JSON.stringify(metadata)}::jsonb, metadata),
          is_public = coalesce(${isPublic ?? null}::boolean, is_public)
        where id = (select id from old) and organization_id = ${actor.organizationId} returning *),
      entry as (${noted(sql, actor, "media.update", "old")})
      select ${columns} from written a`
    return found
  }, Effect.orDie)

  const remove = Effect.fn("MediaRepo.remove")(function*(id: MediaAssetId) {
    const actor = yield* CurrentActor
    const [found] = yield* decoding(sql, RemovedKeys)`with written as (
        delete from media_assets where id = ${id}::uuid and organization_id = ${actor.organizationId} returning *),
      entry as (${noted(sql, actor, "media.delete", "written")})
      select x.storage_key || coalesce((select array_agg(r.storage_key) from media_renditions r
        where r.asset_id = x.id and r.organization_id = x.organization_id), '{}') as keys
      from written x`
    return found?.keys
  }, Effect.orDie)

  return { create, createOwn, update, remove }
}

const unattached = (row: string) =>
  `not exists (select 1 from entity_media l where l.media_asset_id = ${row}.id
    and l.organization_id = ${row}.organization_id)`

/** Media that a record of a shopper uses, such as photos of a review. */
const using = (sql: SqlClient.SqlClient) => {
  const free = sql.literal(unattached("a"))

  /** Keeps a private image that the caller uploaded and nothing is attached to; false for all others. */
  const claim = Effect.fn("MediaRepo.claim")(function*(id: MediaAssetId) {
    const actor = yield* CurrentActor
    const rows = yield* sql`update media_assets a set expires_at = null
      where a.id = ${id}::uuid and a.organization_id = ${actor.organizationId} and a.uploaded_by = ${uploaderOf(actor)}
        and not a.is_public and a.content_type like 'image/%' and (a.expires_at is null or a.expires_at > now())
        and ${free} returning 1`
    return rows.length === 1
  }, Effect.orDie)

  /** Hides media whose record is gone, and lets them expire at once, unless an entity shows them. */
  const release = Effect.fn("MediaRepo.release")(function*(ids: ReadonlyArray<MediaAssetId>) {
    yield* sql`update media_assets a set expires_at = now(), is_public = false
      where a.id = any(${ids}::uuid[]) and a.organization_id = ${yield* currentOrganization} and ${free}`
  }, Effect.orDie)

  /** Deletes expired media that nothing shows, of all organizations; returns how many. Their files leave by the list. */
  const removeExpired = Effect.fn("MediaRepo.removeExpired")(function*(limit: number) {
    const rows = yield* sql`with written as (delete from media_assets a
        where a.id = any(array(select a.id from media_assets a where a.expires_at <= now() and not a.is_public and ${free}
          order by a.expires_at limit ${limit} for update skip locked)) returning a.*),
      entry as (${noted(sql, systemActor(""), "media.delete", "written")})
      select 1 from written`
    return rows.length
  }, Effect.orDie)

  return { claim, release, removeExpired }
}

/** The change log records attachments in the history of the entity. */
const attachmentNoted = (sql: SqlClient.SqlClient, actor: Actor, what: "attach" | "detach") => {
  const attachment = `jsonb_build_object('entityId', x.entity_id, 'variantId', x.variant_id,
    'mediaAssetId', x.media_asset_id, 'role', x.role, 'sortOrder', x.sort_order)`
  return changeLogRows(sql, actor, {
    type: `media.${what}`,
    entityType: "catalog_entity",
    entityId: "x.entity_id::text",
    payload: what === "attach" ? attachment : `${attachment} || '{"deleted": true}'`,
    before: what === "attach" ? undefined : attachment,
    from: "written x"
  })
}

const attaching = (sql: SqlClient.SqlClient) => {
  const attach = Effect.fn("MediaRepo.attach")(function*(attachment: NewAttachment) {
    const actor = yield* CurrentActor
    const { entityId, mediaAssetId, role, sortOrder = 0, variantId = null } = attachment
    // Key share: wait for a concurrent deletion of an end and then find none, instead of failing on the foreign key.
    const [ends] = yield* decoding(sql, AttachmentEnds)`with e as (
        select id, organization_id from catalog_entities_read
        where id = ${entityId}::uuid and organization_id = ${actor.organizationId} for key share),
      v as (select id from variants_read where id = ${variantId}::uuid and entity_id = ${entityId}::uuid
        and organization_id = ${actor.organizationId} for key share),
      a as (select id from media_assets
        where id = ${mediaAssetId}::uuid and organization_id = ${actor.organizationId} for key share),
      used as (update media_assets m set expires_at = null from a, e where m.id = a.id and m.expires_at is not null),
      written as (
        insert into entity_media ${
      entityMedia.insert(sql, {
        organizationId: "e.organization_id",
        entityId: "e.id",
        variantId: "v.id",
        mediaAssetId: "a.id",
        role: sql`${role}`,
        sortOrder: sql`${sortOrder}::int`
      })
    } from e cross join a left join v on true where ${variantId}::uuid is null or v.id is not null
        on conflict do nothing returning *),
      entry as (${attachmentNoted(sql, actor, "attach")})
      select exists (select 1 from e) as entity, exists (select 1 from a) as asset,
        (${variantId}::uuid is null or exists (select 1 from v)) as variant,
        exists (select 1 from written) as attached`
    return ends ?? { entity: false, variant: false, asset: false, attached: false }
  }, Effect.orDie)

  const detach = Effect.fn("MediaRepo.detach")(function*({ entityId, mediaAssetId, variantId }: Detachment) {
    const actor = yield* CurrentActor
    const rows = yield* sql`with written as (delete from entity_media
        where entity_id = ${entityId}::uuid and media_asset_id = ${mediaAssetId}::uuid
          and variant_id is not distinct from ${variantId ?? null}::uuid
          and organization_id = ${actor.organizationId} returning *),
      entry as (${attachmentNoted(sql, actor, "detach")})
      select 1 from written`
    return rows.length === 1
  }, Effect.orDie)

  return { attach, detach }
}
