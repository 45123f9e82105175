import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import type { AttachedMedium, ShownMedium } from "./MediaAsset.ts"

/** Attachments that a batch creates, changes or deletes. */
export interface AttachmentWrites {
  readonly put: ReadonlyArray<AttachedMedium>
  readonly gone: ReadonlyArray<AttachedMedium>
  readonly changes: ReadonlyArray<Change>
}

/** Media of many entities at once, as files carry them. */
export class MediaBatchRepo extends Context.Service<MediaBatchRepo, {
  /** Which of these assets the organization has; they stay until the transaction ends. */
  readonly known: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, never, CurrentActor>
  /** What entities and their variants show, in the order in which they show it; one statement. */
  readonly attachedTo: (
    entityIds: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<ShownMedium>, never, CurrentActor>
  /** Which entities of these slugs show anything; one statement. */
  readonly showing: (slugs: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, never, CurrentActor>
  /** All attachments of a batch and its entries in the change log, in one statement. */
  readonly write: (writes: AttachmentWrites) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/media/MediaBatchRepo") {
  static readonly layer = Layer.effect(MediaBatchRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const columns = `"entityId" uuid, "variantId" uuid, "mediaAssetId" uuid, role text, "sortOrder" int`

const make = (sql: SqlClient.SqlClient): MediaBatchRepo["Service"] => {
  const known = Effect.fn("MediaBatchRepo.known")(function*(ids: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly id: string }>`select id from media_assets
      where organization_id = ${organization} and id = any(${ids}::uuid[]) order by id for key share`.unprepared
    return new Set(rows.map(({ id }) => id))
  }, Effect.orDie)

  const attachedTo = Effect.fn("MediaBatchRepo.attachedTo")(function*(entityIds: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    return yield* sql<ShownMedium>`select l.entity_id as "entityId", l.variant_id as "variantId",
        l.media_asset_id as "mediaAssetId", l.role, l.sort_order as "sortOrder", v.sku,
        (select coalesce(jsonb_object_agg(t.name, w.value), '{}') from variant_option_values o
          join option_values w on w.id = o.option_value_id join option_types t on t.id = w.option_type_id
          where o.variant_id = v.id) as options
      from entity_media l left join variants v on v.id = l.variant_id
      where l.organization_id = ${organization} and l.entity_id = any(${entityIds}::uuid[])
      order by l.entity_id, l.sort_order, l.attached_at, l.media_asset_id`.unprepared
  }, Effect.orDie)

  const showing = Effect.fn("MediaBatchRepo.showing")(function*(slugs: ReadonlyArray<string>) {
    const organization = yield* currentOrganization
    const rows = yield* sql<{ readonly slug: string }>`select e.slug from catalog_entities e
      where e.organization_id = ${organization} and e.slug = any(${slugs}::text[])
        and exists (select 1 from entity_media l where l.entity_id = e.id)`.unprepared
    return new Set(rows.map(({ slug }) => slug))
  }, Effect.orDie)

  const write = Effect.fn("MediaBatchRepo.write")(function*({ changes, gone, put }: AttachmentWrites) {
    if (changes.length === 0) return
    const actor = yield* CurrentActor
    const rows = (list: ReadonlyArray<AttachedMedium>) =>
      sql`rows from (jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as (${
        sql.literal(columns)
      })) with ordinality as x("entityId", "variantId", "mediaAssetId", role, "sortOrder", n)`
    // Moments apart in the order of the file: what has the same place is shown by when it was attached.
    yield* sql`with put as (insert into entity_media as l (organization_id, entity_id, variant_id, media_asset_id, role,
          sort_order, attached_at)
        select ${actor.organizationId}, "entityId", "variantId", "mediaAssetId", role, "sortOrder",
          now() + n * interval '1 microsecond'
        from ${rows(put)}
        on conflict (entity_id, variant_id, media_asset_id) do update set role = excluded.role,
          sort_order = excluded.sort_order where l.organization_id = ${actor.organizationId}),
      gone as (delete from entity_media l using ${rows(gone)}
        where l.organization_id = ${actor.organizationId} and l.entity_id = x."entityId"
          and l.variant_id is not distinct from x."variantId" and l.media_asset_id = x."mediaAssetId"),
      entries as (${changeLogInsert(sql, actor, changes)})
      select 1`
  }, Effect.orDie)

  return { known, attachedTo, showing, write }
}
