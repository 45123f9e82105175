import { Context, Effect, Equal, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { newId } from "../ids/Id.ts"
import { MediaAddress } from "../media/MediaSettings.ts"
import { lookupSql } from "../modules/LookupRepo.ts"
import { attributesInsert } from "./AttributesRepo.ts"
import type { CatalogEntity, EntityChange, NewEntity } from "./Entity.ts"
import { entityColumns, entityEvent, type EntityViewRow, toView } from "./EntityRowsRepo.ts"
import type { Include } from "./Expansion.ts"
import { expansionColumn, type ExpansionView } from "./ExpansionRepo.ts"
import { type FieldWrite, fieldWrites } from "./fields/EntityFieldRepo.ts"
import { conflictOn } from "./UniqueRepo.ts"

/** A change. `publish` updates `publishedAt` even if the entity was active before. */
export interface EntityWrite extends EntityChange {
  readonly publish?: boolean
  /** `customFields` replaces all values; fields that the type no longer has are ignored. */
  readonly replacesFields?: boolean
}

/** Entities by id or slug. Every write emits its event in the same statement. */
export class EntityRepo extends Context.Service<EntityRepo>()("stoa/domain/catalog/EntityRepo", {
  make: Effect.map(
    Effect.all([SqlClient.SqlClient, lookupSql, MediaAddress]),
    ([sql, lookup, address]) => make(sql, lookup, address)
  )
}) {
  static readonly layer = Layer.effect(EntityRepo, EntityRepo.make)
}

const all: ExpansionView = { drafts: false, locales: undefined, warehouses: true, prices: "all" }

const uniqueNames = (fields: FieldWrite | undefined) =>
  (fields?.definitions ?? []).flatMap(({ isUnique, name }) => isUnique ? [`customFields.${name}`] : []).join(", ")

const orConflict = (fields: FieldWrite | undefined) =>
  conflictOn({
    catalog_entities_organization_id_slug_key: "A catalog entity with this slug already exists.",
    entity_field_values_unique: `Another entity has this value already, which must be unique: ${uniqueNames(fields)}.`
  })

/** The new column values of the row in `old`. A change to `active` also makes the entity visible and published. */
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
) => {
  /** `fields`: the custom fields to write (`EntityFields`). */
  const create = Effect.fn("EntityRepo.create")(function*(input: NewEntity, fields?: FieldWrite) {
    const actor = yield* CurrentActor
    const active = input.status === "active"
    const rows = yield* sql<CatalogEntity>`with made as (
        insert into catalog_entities (id, organization_id, type, slug, status, is_visible, tax_class, metadata,
          published_at)
        values (${newId()}::uuid, ${actor.organizationId}, ${input.type}, ${input.slug}, ${input.status ?? "draft"},
          ${active}, ${input.taxClass}, ${JSON.stringify(input.metadata ?? {})}::jsonb,
          case when ${active}::boolean then now() end)
        returning *),
      words as (${attributesInsert(sql, input.attributes)}),
      ${fields === undefined ? sql.literal("") : sql`${fieldWrites(sql, fields, "made")},`}
      event as (${entityEvent(sql, actor, "catalog.create", "made", undefined, fields)})
      select ${sql.literal(entityColumns("made"))} from made`.pipe(orConflict(fields))
    // A successful insert returns its row.
    return rows[0] as CatalogEntity
  })

  const entityList = sql.literal(entityColumns("e"))

  // Neither read has a span, see `CatalogReads.get`.
  const findWhere = Effect.fnUntraced(
    function*(where: Statement.Fragment, include: ReadonlyArray<Include>, view = all) {
      const organization = yield* currentOrganization
      const rows = yield* lookup<EntityViewRow>`select ${entityList} ${expansionColumn(sql, address, include, view)}
        from catalog_entities e where ${where} and e.organization_id = ${organization}`
      return rows[0] === undefined ? undefined : toView(rows[0])
    },
    Effect.orDie
  )
  const findById = (id: string, include: ReadonlyArray<Include>, view?: ExpansionView) =>
    findWhere(sql`e.id = ${id}::uuid`, include, view)
  const findBySlug = (slug: string, include: ReadonlyArray<Include>, view?: ExpansionView) =>
    findWhere(sql`e.slug = ${slug}`, include, view)

  /** The row after the change; undefined when there is no such entity. */
  const update = Effect.fn("EntityRepo.update")(function*(id: string, change: EntityWrite, fields?: FieldWrite) {
    const actor = yield* CurrentActor
    const rows = yield* sql<CatalogEntity>`with old as materialized (select * from catalog_entities
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
      select ${sql.literal(entityColumns("changed"))} from changed`.pipe(orConflict(fields))
    return rows[0]
  })

  return { create, findById, findBySlug, update, remove: makeRemove(sql) }
}

/** Deletes the entity and its parts unless carts, orders or stock movements refer to it (`Used`). */
const makeRemove = (sql: SqlClient.SqlClient) =>
  Effect.fn("EntityRepo.remove")(function*(id: string) {
    const actor = yield* CurrentActor
    const rows = yield* sql<CatalogEntity & { readonly used: boolean }>`with target as (
        select e.id as entity_id, exists (select 1 from cart_lines_read
            where organization_id = e.organization_id and entity_id = e.id)
          or exists (select 1 from order_lines_read where entity_id = e.id)
          or exists (select 1 from stock_movements_read where organization_id = e.organization_id and entity_id = e.id)
          as used
        from catalog_entities e where e.id = ${id}::uuid and e.organization_id = ${actor.organizationId}),
      deleted as (delete from catalog_entities e using target t where e.id = t.entity_id and not t.used returning e.*),
      event as (${entityEvent(sql, actor, "catalog.delete", "deleted", "deleted")})
      select t.used, ${sql.literal(entityColumns("d"))} from target t left join deleted d on true`
    if (rows[0] === undefined) return { _tag: "Missing" } as const
    const { used, ...entity } = rows[0]
    if (used) return { _tag: "Used" } as const
    // A null id: another request deleted the entity in between.
    return entity.id === null ? { _tag: "Missing" } as const : { _tag: "Removed", entity } as const
  }, Effect.orDie)
