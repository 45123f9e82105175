import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { isPublicAsset } from "./MediaRows.ts"

/** A file in the storage: an asset's original or a smaller version of it. */
export interface MediaFile {
  readonly storageKey: string
  readonly contentType: string
  readonly size: number
  /** SHA-256 in hexadecimal. */
  readonly digest: string
  /** Made by the service out of the asset's own file. */
  readonly isDerived: boolean
  readonly assetId: string
  readonly organizationId: string
  readonly filename: string
  /** Everybody may see the asset. */
  readonly isPublic: boolean
}

/** A smaller version that is stored, before it has its row. */
export interface NewRendition {
  readonly assetId: string
  readonly width: number
  readonly storageKey: string
  readonly contentType: string
  readonly size: number
  readonly digest: string
}

/** Storage keys of assets and their smaller versions. */
export class MediaFileRepo extends Context.Service<MediaFileRepo, {
  /**
   * The file under a storage key. The look-up has no organization: browsers follow the address without one, and access
   * depends on the asset, the signature and the caller.
   */
  readonly at: (storageKey: string) => Effect.Effect<MediaFile | undefined>
  /** The smaller version of an asset in this width; undefined before it is rendered. */
  readonly rendition: (
    assetId: string,
    width: number
  ) => Effect.Effect<Pick<MediaFile, "storageKey" | "contentType" | "size" | "digest"> | undefined, never, CurrentActor>
  /**
   * Writes the row of a stored version. False if one exists or the asset was deleted; the file must then be removed.
   */
  readonly addRendition: (rendition: NewRendition) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/media/MediaFileRepo") {
  static readonly layer = Layer.effect(
    MediaFileRepo,
    Effect.gen(function*() {
      return make(yield* SqlClient.SqlClient, yield* lookupSql)
    })
  )
}

interface FileRow {
  readonly storage_key: string
  readonly content_type: string
  readonly size: bigint
  readonly digest: string
  readonly derived: boolean
  readonly asset_id: string
  readonly organization_id: string
  readonly filename: string
  readonly shown: boolean
}

const toStored = (row: Pick<FileRow, "storage_key" | "content_type" | "size" | "digest">) => ({
  storageKey: row.storage_key,
  contentType: row.content_type,
  size: Number(row.size),
  digest: row.digest
})

const make = (sql: SqlClient.SqlClient, lookup: SqlClient.SqlClient): MediaFileRepo["Service"] => {
  const at = Effect.fn("MediaFileRepo.at")(function*(storageKey: string) {
    const rows = yield* lookup<FileRow>`select f.*, a.organization_id, a.filename,
        ${sql.literal(isPublicAsset("a"))} as shown
      from (
        select id as asset_id, storage_key, content_type, size, digest, false as derived
          from media_assets where storage_key = ${storageKey}
        union all
        select asset_id, storage_key, content_type, size, digest, true
          from media_renditions where storage_key = ${storageKey}) f
      join media_assets a on a.id = f.asset_id`
    const row = rows[0]
    return row === undefined ? undefined : {
      ...toStored(row),
      isDerived: row.derived,
      assetId: row.asset_id,
      organizationId: row.organization_id,
      filename: row.filename,
      isPublic: row.shown
    }
  }, Effect.orDie)

  const rendition = Effect.fn("MediaFileRepo.rendition")(function*(assetId: string, width: number) {
    const organization = yield* currentOrganization
    const rows = yield* lookup<FileRow>`select storage_key, content_type, size, digest from media_renditions
      where asset_id = ${assetId}::uuid and width = ${width} and organization_id = ${organization}`
    return rows[0] === undefined ? undefined : toStored(rows[0])
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
