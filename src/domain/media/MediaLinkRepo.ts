import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import type { Detachment, NewAttachment } from "./MediaAsset.ts"

/** Which ends of an attachment exist in the organization, and whether it was created. */
export interface AttachmentEnds {
  readonly entity: boolean
  readonly variant: boolean
  readonly asset: boolean
  /** False although all ends are there: the asset is attached at this level already. */
  readonly attached: boolean
}

/** What entities and their variants show. */
export class MediaLinkRepo extends Context.Service<MediaLinkRepo, {
  /** Attaches nothing unless all ends exist and the variant belongs to the entity. */
  readonly attach: (attachment: NewAttachment) => Effect.Effect<AttachmentEnds, never, CurrentActor>
  /** False: it was not attached there. */
  readonly detach: (detachment: Detachment) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/media/MediaLinkRepo") {
  static readonly layer = Layer.effect(MediaLinkRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

/** The change log records attachments in the history of the entity, where users expect them. */
const noted = (sql: SqlClient.SqlClient, actor: Actor, what: "attach" | "detach") => {
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

const make = (sql: SqlClient.SqlClient): MediaLinkRepo["Service"] => {
  const attach = Effect.fn("MediaLinkRepo.attach")(function*(attachment: NewAttachment) {
    const actor = yield* CurrentActor
    const { entityId, mediaAssetId, role, sortOrder = 0, variantId = null } = attachment
    // Key share: wait for a concurrent deletion of an end and then find none, instead of failing on the foreign key.
    const rows = yield* sql<AttachmentEnds>`with e as (
        select id, organization_id from catalog_entities
        where id = ${entityId}::uuid and organization_id = ${actor.organizationId} for key share),
      v as (select id from variants where id = ${variantId}::uuid and entity_id = ${entityId}::uuid
        and organization_id = ${actor.organizationId} for key share),
      a as (select id from media_assets
        where id = ${mediaAssetId}::uuid and organization_id = ${actor.organizationId} for key share),
      written as (
        insert into entity_media (organization_id, entity_id, variant_id, media_asset_id, role, sort_order)
        select e.organization_id, e.id, v.id, a.id, ${role}, ${sortOrder}::int
        from e cross join a left join v on true where ${variantId}::uuid is null or v.id is not null
        on conflict do nothing returning *),
      entry as (${noted(sql, actor, "attach")})
      select exists (select 1 from e) as entity, exists (select 1 from a) as asset,
        (${variantId}::uuid is null or exists (select 1 from v)) as variant,
        exists (select 1 from written) as attached`
    return rows[0] ?? { entity: false, variant: false, asset: false, attached: false }
  }, Effect.orDie)

  const detach = Effect.fn("MediaLinkRepo.detach")(function*({ entityId, mediaAssetId, variantId }: Detachment) {
    const actor = yield* CurrentActor
    const rows = yield* sql`with written as (delete from entity_media
        where entity_id = ${entityId}::uuid and media_asset_id = ${mediaAssetId}::uuid
          and variant_id is not distinct from ${variantId ?? null}::uuid
          and organization_id = ${actor.organizationId} returning *),
      entry as (${noted(sql, actor, "detach")})
      select 1 from written`
    return rows.length === 1
  }, Effect.orDie)

  return { attach, detach }
}
