import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { isPublicAsset } from "./MediaRepo.ts"

/** A file in the storage. */
export interface StoredFile {
  readonly storageKey: string
  readonly contentType: string
  readonly size: number
  /** SHA-256 in hexadecimal. */
  readonly digest: string
}

/** The original of an asset or a smaller version of it. */
export interface MediaFile extends StoredFile {
  /** Rendered by the service from the asset's original. */
  readonly isDerived: boolean
  readonly assetId: string
  readonly organizationId: string
  readonly filename: string
  /** Everybody may see the asset. */
  readonly isPublic: boolean
}

/** A smaller version that is stored, before it has its row. */
export interface NewRendition extends StoredFile {
  readonly assetId: string
  readonly width: number
}

/**
 * Files of assets and their smaller versions, and the files to remove: those of deleted rows, and those whose row is
 * not written (`migrations.ts`).
 */
export class MediaFileRepo extends Context.Service<MediaFileRepo>()("stoa/domain/media/MediaFileRepo", {
  make: Effect.gen(function*() {
    const [sql, lookup] = [yield* SqlClient.SqlClient, yield* lookupSql]
    return { ...files(sql, lookup), ...removals(sql) }
  })
}) {
  static readonly layer = Layer.effect(MediaFileRepo, MediaFileRepo.make)
}

const storedColumns = `storage_key as "storageKey", content_type as "contentType", size::float8 as size, digest`

const files = (sql: SqlClient.SqlClient, lookup: SqlClient.SqlClient) => {
  /**
   * The file under a storage key. The look-up has no organization: browsers follow the address without one, and access
   * depends on the asset, the signature and the caller.
   */
  const at = Effect.fn("MediaFileRepo.at")(function*(storageKey: string) {
    const rows = yield* lookup<MediaFile>`select f.*, a.organization_id as "organizationId", a.filename,
        ${sql.literal(isPublicAsset("a"))} as "isPublic"
      from (
        select id as "assetId", ${sql.literal(storedColumns)}, false as "isDerived"
          from media_assets where storage_key = ${storageKey}
        union all
        select asset_id, ${sql.literal(storedColumns)}, true
          from media_renditions where storage_key = ${storageKey}) f
      join media_assets a on a.id = f."assetId"`
    return rows[0]
  }, Effect.orDie)

  /** The smaller version of an asset in this width; undefined before it is rendered. */
  const rendition = Effect.fn("MediaFileRepo.rendition")(function*(assetId: string, width: number) {
    const organization = yield* currentOrganization
    const rows = yield* lookup<StoredFile>`select ${sql.literal(storedColumns)} from media_renditions
      where asset_id = ${assetId}::uuid and width = ${width} and organization_id = ${organization}`
    return rows[0]
  }, Effect.orDie)

  /**
   * Writes the row of a stored version. False if one exists or the asset was deleted; the file must then be removed.
   */
  const addRendition = Effect.fn("MediaFileRepo.addRendition")(function*(made: NewRendition) {
    const organization = yield* currentOrganization
    // Key share: wait for a concurrent deletion of the asset and then find none. A file whose row is not written stays
    // on the removal list, because leaving and re-entering the list happen in one statement.
    const rows = yield* sql`with a as (select id from media_assets
        where id = ${made.assetId}::uuid and organization_id = ${organization} for key share),
      kept as (delete from media_removals where storage_key = ${made.storageKey}
        and organization_id = ${organization} and attempts = 0 returning storage_key),
      written as (
        insert into media_renditions (organization_id, asset_id, width, storage_key, content_type, size, digest)
        select ${organization}, a.id, ${made.width}::int, k.storage_key, ${made.contentType}, ${made.size}::bigint,
          ${made.digest} from a cross join kept k on conflict do nothing returning storage_key),
      back as (
        insert into media_removals (storage_key, organization_id)
        select storage_key, ${organization} from kept where not exists (select 1 from written))
      select 1 from written`
    return rows.length === 1
  }, Effect.orDie)

  return { at, rendition, addRendition }
}

const removals = (sql: SqlClient.SqlClient) => {
  /** Call it before a file is stored: if the upload dies, the file is removed an hour later. */
  const expectRemoval = Effect.fn("MediaFileRepo.expectRemoval")(function*(storageKey: string) {
    const organization = yield* currentOrganization
    yield* sql`insert into media_removals (storage_key, organization_id, due_at)
      values (${storageKey}, ${organization}, now() + interval '1 hour')`
  }, Effect.orDie)

  const claim = (due: Statement.Fragment) =>
    Effect.map(
      sql<{ readonly key: string }>`update media_removals set attempts = attempts + 1,
          due_at = now() + least(interval '1 day', interval '5 minutes' * power(2, attempts))
        where storage_key = any(array(select storage_key from media_removals where due_at <= now() ${due}
          for update skip locked)) returning storage_key as key`,
      (rows) => rows.map(({ key }) => key)
    )

  /**
   * Claims up to `limit` files to remove and returns their keys. A claimed file is due again some minutes later,
   * doubling up to a day, unless `removed` reports it as gone.
   */
  const claimRemovals = Effect.fn("MediaFileRepo.claimRemovals")(
    (limit: number) => claim(sql`order by due_at limit ${limit}`),
    Effect.orDie
  )

  /** Claims these files, which were just put on the list. */
  const claimThese = Effect.fn("MediaFileRepo.claimThese")(function*(storageKeys: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    return yield* claim(sql`and storage_key = any(${storageKeys}::text[]) and organization_id = ${organization}`)
  }, Effect.orDie)

  const removed = Effect.fn("MediaFileRepo.removed")(function*(storageKeys: ReadonlyArray<string>) {
    if (storageKeys.length > 0) yield* sql`delete from media_removals where storage_key = any(${storageKeys}::text[])`
  }, Effect.orDie)

  return { expectRemoval, claimRemovals, claimThese, removed }
}
