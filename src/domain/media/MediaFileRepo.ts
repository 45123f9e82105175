import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { MediaAssetId, newId, Uuid } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import { columnsOf } from "../platform/records/Table.ts"
import { MediaAsset } from "./MediaAsset.ts"
import { isPublicAsset } from "./MediaRepo.ts"
import { externalPictures, mediaRemovals, mediaRenditions, NamedPicture, StoredFile } from "./MediaTables.ts"

const MediaFile = Schema.Struct({
  ...StoredFile.fields,
  ...Struct.pick(MediaAsset.fields, ["organizationId", "filename", "isPublic"]),
  assetId: MediaAssetId,
  isDerived: Schema.Boolean
})
export type MediaFile = typeof MediaFile.Type

interface NewRendition extends Schema.Schema.Type<typeof StoredFile> {
  readonly assetId: MediaAssetId
  readonly width: number
}

export class MediaFileRepo extends Context.Service<MediaFileRepo>()("stoa/domain/media/MediaFileRepo", {
  make: Effect.gen(function*() {
    const [sql, lookup] = [yield* SqlClient.SqlClient, yield* lookupSql]
    return { ...files(sql, lookup), ...removals(sql) }
  })
}) {
  static readonly layer = Layer.effect(MediaFileRepo, MediaFileRepo.make)
}

const storedColumns = columnsOf(StoredFile.fields)

const files = (sql: SqlClient.SqlClient, lookup: SqlClient.SqlClient) => {
  /**
   * Without organization: browsers follow the address without one, and access depends on the asset, the signature and
   * the caller.
   */
  const at = Effect.fn("MediaFileRepo.at")(function*(storageKey: string) {
    const [found] = yield* decoding(lookup, MediaFile)`select f.*, a.organization_id as "organizationId", a.filename,
        ${sql.literal(isPublicAsset("a"))} as "isPublic"
      from (
        select id as "assetId", ${sql.literal(storedColumns)}, false as "isDerived"
          from media_assets where storage_key = ${storageKey}
        union all
        select asset_id, ${sql.literal(storedColumns)}, true
          from media_renditions where storage_key = ${storageKey}) f
      join media_assets a on a.id = f."assetId"`
    return found
  }, Effect.orDie)

  const rendition = Effect.fn("MediaFileRepo.rendition")(function*(assetId: MediaAssetId, width: number) {
    const [found] = yield* decoding(lookup, StoredFile)`select ${sql.literal(storedColumns)} from media_renditions
      where asset_id = ${assetId}::uuid and width = ${width} and organization_id = ${yield* currentOrganization}`
    return found
  }, Effect.orDie)

  const addRendition = Effect.fn("MediaFileRepo.addRendition")(function*(made: NewRendition) {
    const organization = yield* currentOrganization
    // Key share: wait for a concurrent deletion of the asset and then find none. A file whose row is not written stays
    // on the removal list, because leaving and re-entering the list happen in one statement.
    const rows = yield* sql`with a as (select id from media_assets
        where id = ${made.assetId}::uuid and organization_id = ${organization} for key share),
      kept as (delete from media_removals where storage_key = ${made.storageKey}
        and organization_id = ${organization} and attempts = 0 returning storage_key),
      written as (
        insert into media_renditions ${
      mediaRenditions.insert(sql, {
        organizationId: sql`${organization}`,
        assetId: "a.id",
        width: sql`${made.width}::int`,
        storageKey: "k.storage_key",
        contentType: sql`${made.contentType}`,
        size: sql`${made.size}::bigint`,
        digest: sql`${made.digest}`
      })
    } from a cross join kept k on conflict do nothing returning storage_key),
      back as (
        insert into media_removals ${
      mediaRemovals.insert(sql, { storageKey: "storage_key", organizationId: sql`${organization}` })
    } from kept where not exists (select 1 from written))
      select 1 from written`
    return rows.length === 1
  }, Effect.orDie)

  return { at, rendition, addRendition }
}

const removals = (sql: SqlClient.SqlClient) => {
  /** Call it before a file is stored: if the upload dies, the file is removed an hour later. */
  const expectRemoval = Effect.fn("MediaFileRepo.expectRemoval")(function*(storageKey: string) {
    const organization = yield* currentOrganization
    yield* sql`insert into media_removals ${
      mediaRemovals.insert(sql, {
        storageKey: sql`${storageKey}`,
        organizationId: sql`${organization}`,
        dueAt: "now() + interval '1 hour'"
      })
    }`
  }, Effect.orDie)

  const claim = (due: Statement.Fragment) =>
    Effect.map(
      decoding(sql, Schema.Struct({ key: Schema.String }))`update media_removals set attempts = attempts + 1,
          due_at = now() + least(interval '1 day', interval '5 minutes' * power(2, attempts))
        where storage_key = any(array(select storage_key from media_removals where due_at <= now() ${due}
          for update skip locked)) returning storage_key as key`,
      (rows) => rows.map(({ key }) => key)
    )

  /** A claimed file is due again some minutes later, doubling up to a day, unless `removed` reports it as gone. */
  const claimRemovals = Effect.fn("MediaFileRepo.claimRemovals")(
    (limit: number) => claim(sql`order by due_at limit ${limit}`),
    Effect.orDie
  )

  const claimThese = Effect.fn("MediaFileRepo.claimThese")(function*(storageKeys: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    return yield* claim(sql`and storage_key = any(${storageKeys}::text[]) and organization_id = ${organization}`)
  }, Effect.orDie)

  const removed = Effect.fn("MediaFileRepo.removed")(function*(storageKeys: ReadonlyArray<string>) {
    if (storageKeys.length > 0) yield* sql`delete from media_removals where storage_key = any(${storageKeys}::text[])`
  }, Effect.orDie)

  return { expectRemoval, claimRemovals, claimThese, removed }
}

type NamedPicture = typeof NamedPicture.Type

const ExternalPicture = Schema.Struct({
  ...NamedPicture.fields,
  id: Uuid,
  slug: Schema.String,
  isAttached: Schema.Boolean
})
export type ExternalPicture = typeof ExternalPicture.Type

const OpenPicture = Schema.Struct({ ...NamedPicture.fields, hasPrimary: Schema.Boolean })
type OpenPicture = typeof OpenPicture.Type

const pictureColumns = columnsOf(NamedPicture.fields, "p")

const pictures = (sql: SqlClient.SqlClient) => {
  /** Returns the pictures to fetch: new ones, refused ones, and those without progress for a day. */
  const expect = Effect.fn("ExternalPictureRepo.expect")(function*(pictures: ReadonlyArray<NamedPicture>) {
    if (pictures.length === 0) return []
    const organization = yield* currentOrganization
    const named = JSON.stringify(pictures.map((picture) => ({ id: newId(), ...picture })))
    const rows = yield* decoding(sql, Schema.Struct({ id: Uuid }))`insert into external_pictures as p ${
      externalPictures.insert(sql, {
        id: "x.id",
        organizationId: sql`${organization}`,
        entityId: "x.\"entityId\"",
        url: "x.url",
        position: "x.position",
        alt: "x.alt"
      })
    } from jsonb_to_recordset(${named}::jsonb) as x(id uuid, "entityId" uuid, url text, position int, alt text)
      on conflict (entity_id, md5(url)) do update
        set state = 'waiting', reason = null, position = excluded.position, alt = excluded.alt, updated_at = now()
        where p.organization_id = ${organization}
          and (p.state = 'refused' or p.state = 'waiting' and p.updated_at < now() - interval '1 day')
      returning p.id`
    return rows.map(({ id }) => id)
  }, Effect.orDie)

  const find = Effect.fn("ExternalPictureRepo.find")(function*(id: string) {
    const [found] = yield* decoding(sql, ExternalPicture)`select p.id, ${sql.literal(pictureColumns)}, e.slug,
        p.state = 'attached' as "isAttached"
      from external_pictures p join catalog_entities_read e on e.id = p.entity_id and e.organization_id = p.organization_id
      where p.id = ${id}::uuid and p.organization_id = ${yield* currentOrganization}`
    return found
  }, Effect.orDie)

  const attach = Effect.fn("ExternalPictureRepo.attach")(
    function*(id: string, make: (picture: OpenPicture) => Effect.Effect<string | undefined, never, CurrentActor>) {
      const organization = yield* currentOrganization
      // Lock the entity before the picture, in the same order as a deletion of the entity.
      yield* sql`select 1 from catalog_entities_read where organization_id = ${organization}
        and id = (select entity_id from external_pictures where id = ${id}::uuid and organization_id = ${organization})
        for key share`
      const [open] = yield* decoding(sql, OpenPicture)`select ${sql.literal(pictureColumns)},
          exists (select 1 from entity_media l where l.entity_id = p.entity_id and l.variant_id is null
            and l.role = 'primary') as "hasPrimary"
        from external_pictures p where p.id = ${id}::uuid and p.organization_id = ${organization}
          and p.state <> 'attached' for no key update`
      if (open === undefined) return "done" as const
      const mediaAssetId = yield* make(open)
      if (mediaAssetId === undefined) return undefined
      yield* sql`update external_pictures set state = 'attached', reason = null, media_asset_id = ${mediaAssetId}::uuid,
          updated_at = now()
        where id = ${id}::uuid and organization_id = ${organization}`
      return "attached" as const
    },
    sql.withTransaction,
    Effect.orDie
  )

  const refuse = Effect.fn("ExternalPictureRepo.refuse")(function*(id: string, reason: string) {
    const organization = yield* currentOrganization
    yield* sql`update external_pictures set state = 'refused', reason = ${reason}, updated_at = now()
      where id = ${id}::uuid and organization_id = ${organization} and state <> 'attached'`
  }, Effect.orDie)

  return { expect, find, attach, refuse }
}

export class ExternalPictureRepo
  extends Context.Service<ExternalPictureRepo>()("stoa/domain/media/ExternalPictureRepo", {
    make: Effect.map(SqlClient.SqlClient, pictures)
  })
{
  static readonly layer = Layer.effect(ExternalPictureRepo, ExternalPictureRepo.make)
}
