import { Context, Effect, Equal, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import type { Conflict } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import { MediaAddress } from "../media/MediaSettings.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { attributesInsert } from "./AttributesRepo.ts"
import { entityEvent } from "./CatalogEventRepo.ts"
import type { CatalogEntity, EntityChange, NewEntity } from "./Entity.ts"
import { type EntityRow, type EntityViewRow, toEntity, toView } from "./EntityRow.ts"
import type { EntityView, Include } from "./Expansion.ts"
import { expansionColumn, type ExpansionView } from "./ExpansionRepo.ts"
import { type FieldWrite, fieldWrites } from "./fields/EntityFieldRepo.ts"
import { conflictOn } from "./UniqueRepo.ts"

/** A change, and whether it publishes: then `publishedAt` moves even when the entity was active before. */
export interface EntityWrite extends EntityChange {
  readonly publish?: boolean
  /** `customFields` are all that the entity is to have, as far as its type still has them. */
  readonly replacesFields?: boolean
}

/** `used`: carts, orders or stock movements refer to it, so it must stay. */
export type Removal =
  | { readonly _tag: "Removed"; readonly entity: CatalogEntity }
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Used" }

/** Entities by id or slug. Every write carries its event in the same statement. */
export class EntityRepo extends Context.Service<EntityRepo, {
  /** With its custom fields, where it has any (`EntityFields`). */
  readonly create: (input: NewEntity, fields?: FieldWrite) => Effect.Effect<CatalogEntity, Conflict, CurrentActor>
  readonly findById: (
    id: string,
    include: ReadonlyArray<Include>,
    view?: ExpansionView
  ) => Effect.Effect<EntityView | undefined, never, CurrentActor>
  readonly findBySlug: (
    slug: string,
    include: ReadonlyArray<Include>,
    view?: ExpansionView
  ) => Effect.Effect<EntityView | undefined, never, CurrentActor>
  /** The row after the change; undefined when there is no such entity. */
  readonly update: (
    id: string,
    change: EntityWrite,
    fields?: FieldWrite
  ) => Effect.Effect<CatalogEntity | undefined, Conflict, CurrentActor>
  /** Deletes the entity with all that belongs to it, unless something outside the catalog refers to it. */
  readonly remove: (id: string) => Effect.Effect<Removal, never, CurrentActor>
}>()("stoa/domain/catalog/EntityRepo") {
  static readonly layer = Layer.effect(
    EntityRepo,
    Effect.map(
      Effect.all([SqlClient.SqlClient, lookupSql, MediaAddress]),
      ([sql, lookup, address]) => make(sql, lookup, address)
    )
  )
}

const all: ExpansionView = { drafts: false, locales: undefined, warehouses: true, prices: "all" }

const uniqueNames = (fields: FieldWrite | undefined) =>
  (fields?.definitions ?? []).flatMap(({ isUnique, name }) => isUnique ? [`customFields.${name}`] : []).join(", ")

const taken = (fields: FieldWrite | undefined) =>
  conflictOn({
    catalog_entities_organization_id_slug_key: "A catalog entity with this slug already exists.",
    entity_field_values_unique: `Another entity has this value already, which must be unique: ${uniqueNames(fields)}.`
  })

/**
 * What an entity is to be, of the row in `old`. Turning active by a plain change makes visible and published too: else an
 * active entity would stay hidden.
 */
const newValues = (sql: SqlClient.SqlClient, change: EntityWrite) => {
  const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
  return sql`select coalesce(${change.slug}, slug) as slug, coalesce(${change.status}, status) as status,
      coalesce(${metadata}::jsonb, metadata) as metadata,
      case when ${change.taxClass !== undefined}::boolean then ${change.taxClass} else tax_class end as tax_class,
      coalesce(${change.isVisible}::boolean,
        is_visible or (coalesce(${change.status}, status) = 'active' and status <> 'active')) as is_visible,
      case when ${change.publish === true}::boolean or (${change.status}::text = 'active' and status <> 'active')
        then now() else published_at end as published_at
    from old`
}

const make = (
  sql: SqlClient.SqlClient,
  lookup: SqlClient.SqlClient,
  address: string
): EntityRepo["Service"] => {
  const create = Effect.fn("EntityRepo.create")(function*(input: NewEntity, fields?: FieldWrite) {
    const actor = yield* CurrentActor
    const active = input.status === "active"
    const rows = yield* sql<EntityRow>`with made as (
        insert into catalog_entities (id, organization_id, type, slug, status, is_visible, tax_class, metadata,
          published_at)
        values (${newId()}::uuid, ${actor.organizationId}, ${input.type}, ${input.slug}, ${input.status ?? "draft"},
          ${active}, ${input.taxClass}, ${JSON.stringify(input.metadata ?? {})}::jsonb,
          case when ${active}::boolean then now() end)
        returning *),
      words as (${attributesInsert(sql, input.attributes)}),
      ${fields === undefined ? sql.literal("") : sql`${fieldWrites(sql, fields, "made")},`}
      event as (${entityEvent(sql, actor, "catalog.create", "made", undefined, fields)})
      select * from made`.pipe(taken(fields))
    // An insert that did not fail returned its row.
    return toEntity(rows[0] as EntityRow)
  })

  // Neither read has a span, see `CatalogReads.get`.
  const findById = Effect.fnUntraced(function*(id: string, include: ReadonlyArray<Include>, view = all) {
    const organization = yield* currentOrganization
    const rows = yield* lookup<EntityViewRow>`select e.* ${expansionColumn(sql, address, include, view)}
      from catalog_entities e where e.id = ${id}::uuid and e.organization_id = ${organization}`
    return rows[0] === undefined ? undefined : toView(rows[0])
  }, Effect.orDie)

  const findBySlug = Effect.fnUntraced(function*(slug: string, include: ReadonlyArray<Include>, view = all) {
    const organization = yield* currentOrganization
    const rows = yield* lookup<EntityViewRow>`select e.* ${expansionColumn(sql, address, include, view)}
      from catalog_entities e where e.organization_id = ${organization} and e.slug = ${slug}`
    return rows[0] === undefined ? undefined : toView(rows[0])
  }, Effect.orDie)

  const update = Effect.fn("EntityRepo.update")(function*(id: string, change: EntityWrite, fields?: FieldWrite) {
    const actor = yield* CurrentActor
    const rows = yield* sql<EntityRow>`with old as materialized (select * from catalog_entities
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
      new as (${newValues(sql, change)}),
      changed as (
        update catalog_entities e set slug = n.slug, status = n.status, metadata = n.metadata, tax_class = n.tax_class,
          is_visible = n.is_visible, published_at = n.published_at,
          updated_at = case when (e.slug, e.status, e.metadata, e.tax_class, e.is_visible, e.published_at)
            is distinct from (n.slug, n.status, n.metadata, n.tax_class, n.is_visible, n.published_at)
            or ${fields !== undefined && !Equal.equals(fields.before, fields.after)}::boolean
            then now() else e.updated_at end
        from new n where e.id = (select id from old) and e.organization_id = ${actor.organizationId} returning e.*),
      ${fields === undefined ? sql.literal("") : sql`${fieldWrites(sql, fields, "changed")},`}
      event as (${entityEvent(sql, actor, "catalog.update", "changed", "old", fields)})
      select * from changed`.pipe(taken(fields))
    return rows[0] === undefined ? undefined : toEntity(rows[0])
  })

  const remove = Effect.fn("EntityRepo.remove")(function*(id: string) {
    const actor = yield* CurrentActor
    const rows = yield* sql<EntityRow & { readonly used: boolean }>`with found as (
        select e.id as entity_id, exists (select 1 from cart_lines
            where organization_id = e.organization_id and entity_id = e.id)
          or exists (select 1 from order_lines where entity_id = e.id)
          or exists (select 1 from stock_movements where organization_id = e.organization_id and entity_id = e.id)
          as used
        from catalog_entities e where e.id = ${id}::uuid and e.organization_id = ${actor.organizationId}),
      gone as (delete from catalog_entities e using found f where e.id = f.entity_id and not f.used returning e.*),
      event as (${entityEvent(sql, actor, "catalog.delete", "gone", "gone")})
      select f.used, g.* from found f left join gone g on true`
    const row = rows[0]
    if (row === undefined) return { _tag: "Missing" } as const
    // Another request deleted it between our look and our delete: neither used nor there any more.
    if (!row.used && row.id === null) return { _tag: "Missing" } as const
    return row.used ? { _tag: "Used" } as const : { _tag: "Removed", entity: toEntity(row) } as const
  }, Effect.orDie)

  return { create, findById, findBySlug, update, remove }
}
