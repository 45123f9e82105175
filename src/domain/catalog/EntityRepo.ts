import { Context, Effect, Equal, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { MediaAddress } from "../media/MediaAsset.ts"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { lookupSql } from "../platform/database/DatabaseRepo.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { type EntityTables, entityTables } from "../platform/hooks/EntityTables.ts"
import { type EntityId, newId } from "../platform/ids/Id.ts"
import { refusedBy } from "../platform/records/Constraints.ts"
import { decoding } from "../platform/records/Rows.ts"
import { attributesInsert } from "./AttributesRepo.ts"
import { changeEntry } from "./CatalogChangeRepo.ts"
import { CatalogEntity, type EntityChange, namedTaxClass, type NewEntity, taxClassRefusals } from "./Entity.ts"
import { entities, entityJson, entityPage, entityRead, filterIds } from "./EntityStatements.ts"
import type { EntityQuery, Include } from "./EntityView.ts"
import type { ExpansionView } from "./ExpansionRepo.ts"
import { type FieldWrite, fieldWrites } from "./fields/EntityFieldRepo.ts"
import { stockPolicyFields } from "./StockPolicy.ts"

class EntitySlugTaken extends conflict("EntitySlugTaken", "A catalog entity with this slug already exists.") {}

class FieldValueTaken extends conflict(
  "FieldValueTaken",
  (names: string) => `Another entity has this value already, which must be unique: ${names}.`
) {}

export interface EntityWrite extends EntityChange {
  readonly publish?: boolean
  readonly replacesFields?: boolean
}

export class EntityRepo extends Context.Service<EntityRepo>()("stoa/domain/catalog/EntityRepo", {
  make: Effect.gen(function*() {
    const [sql, address] = [yield* SqlClient.SqlClient, yield* MediaAddress]
    return {
      ...makeReads(sql, yield* lookupSql, address, yield* entityTables),
      ...makeWrites(sql),
      remove: makeRemove(sql)
    }
  })
}) {
  static readonly layer = Layer.effect(EntityRepo, EntityRepo.make)
}

const all: ExpansionView = { drafts: false, locales: undefined, warehouses: true, prices: "all" }

const makeReads = (
  sql: SqlClient.SqlClient,
  lookup: SqlClient.SqlClient,
  address: string,
  tables: EntityTables["Service"]
) => {
  const [read, page] = [entityRead(lookup, address, tables), entityPage(sql, address, tables)]
  const readById = (id: EntityId, include: ReadonlyArray<Include>, view = all) =>
    Effect.orDie(read(sql`e.id = ${id}::uuid`, include, view))
  return {
    readById,
    readBySlug: (slug: string, include: ReadonlyArray<Include>, view = all) =>
      Effect.orDie(read(sql`e.slug = ${slug}`, include, view)),
    findById: (id: EntityId, include: ReadonlyArray<Include>, view = all) =>
      Effect.map(readById(id, include, view), (found) => found?.entity),
    filterIds: Effect.fn("EntityRepo.filterIds")((query: EntityQuery) => filterIds(sql, query), Effect.orDie),
    page: Effect.fn("EntityRepo.page")(page, Effect.orDie)
  }
}

const entityEvent = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  type: `catalog.${"create" | "update" | "delete"}`,
  source: string,
  old?: string,
  fields?: FieldWrite
) =>
  changeEntry(sql, actor, {
    type,
    entityType: "catalog_entity",
    json: (row) =>
      fields === undefined
        ? entityJson(row)
        : sql`${sql.literal(entityJson(row))} || jsonb_build_object('customFields', ${
          JSON.stringify(row === "x" ? fields.after : fields.before)
        }::jsonb)`,
    source,
    old
  })

const orRefused = (
  sent: Parameters<typeof taxClassRefusals>[0],
  { definitions }: Pick<FieldWrite, "definitions"> = { definitions: [] }
) =>
  refusedBy({
    ...taxClassRefusals(sent),
    catalog_entities_organization_id_slug_key: () => new EntitySlugTaken(),
    entity_field_values_unique: () =>
      new FieldValueTaken(
        definitions.flatMap(({ isUnique, name }) => isUnique ? [`customFields.${name}`] : []).join(", ")
      )
  })

const newValues = (sql: SqlClient.SqlClient, change: EntityWrite) => {
  const metadata = change.metadata === undefined ? null : JSON.stringify(change.metadata)
  const { taxClass, taxClassId } = change
  const named = namedTaxClass(change)
  const both = taxClass !== undefined && taxClassId !== undefined
  return sql`select coalesce(${change.slug}, slug) as slug, coalesce(${change.status}, status) as status,
      coalesce(${metadata}::jsonb, metadata) as metadata,
      case when ${named === undefined}::boolean or named is not null then tax_class end as tax_class,
      case when ${named === undefined}::boolean or (named = tax_class and tax_class_id is not null) then tax_class_id
        else tax_class_named(organization_id, named, tax_class) end as tax_class_id,
      coalesce(${change.manageInventory}::boolean, manage_inventory) as manage_inventory,
      coalesce(${change.allowBackorder}::boolean, allow_backorder) as allow_backorder,
      case when ${change.backorderLimit !== undefined}::boolean then ${change.backorderLimit}::int4
        else backorder_limit end as backorder_limit,
      coalesce(${change.isVisible}::boolean,
        is_visible or (coalesce(${change.status}, status) = 'active' and status <> 'active')) as is_visible,
      case when ${change.publish === true}::boolean or (${change.status}::text = 'active' and status <> 'active')
        then now() else published_at end as published_at
    from old, lateral (select case when ${both}::boolean and tax_class_id::text is not distinct from lower(${taxClassId})
      then ${taxClass} else ${named} end as named) sent`
}

const changeable = [
  "slug",
  "status",
  "metadata",
  "taxClass",
  "taxClassId",
  ...stockPolicyFields,
  "isVisible",
  "publishedAt"
] as const

/** An entity to be written, in which everything is decided. */
export interface CompleteEntity extends NewEntity {
  readonly manageInventory: boolean
  readonly sourceStoreId?: string | undefined
}

const makeWrites = (sql: SqlClient.SqlClient) => {
  const create = Effect.fn("EntityRepo.create")(function*(input: CompleteEntity, fields?: FieldWrite) {
    const actor = yield* CurrentActor
    const active = input.status === "active"
    const rows = yield* entities.rows(sql)`with made as (
        insert into catalog_entities ${
      entities.insert(sql, {
        id: sql`${newId()}::uuid`,
        organizationId: sql`${actor.organizationId}`,
        sourceStoreId: sql`${input.sourceStoreId}`,
        type: sql`${input.type}`,
        slug: sql`${input.slug}`,
        status: sql`${input.status ?? "draft"}`,
        isVisible: sql`${active}`,
        taxClass: "null",
        taxClassId: sql`tax_class_named(${actor.organizationId}, ${namedTaxClass(input)})`,
        manageInventory: sql`${input.manageInventory}::boolean`,
        allowBackorder: sql`${input.allowBackorder ?? false}::boolean`,
        backorderLimit: sql`${input.backorderLimit}::int4`,
        metadata: sql`${JSON.stringify(input.metadata ?? {})}::jsonb`,
        publishedAt: sql`case when ${active}::boolean then now() end`
      })
    }
        returning *),
      words as (${attributesInsert(sql, input.attributes)}),
      ${fields === undefined ? sql.literal("") : sql`${fieldWrites(sql, fields, "made")},`}
      event as (${entityEvent(sql, actor, "catalog.create", "made", undefined, fields)})
      select ${sql.literal(entities.columns("made"))} from made`.pipe(
      Effect.catchTag("SqlError", orRefused(input, fields))
    )
    return rows[0] as CatalogEntity
  })

  const update = Effect.fn("EntityRepo.update")(function*(id: EntityId, change: EntityWrite, fields?: FieldWrite) {
    const actor = yield* CurrentActor
    const rows = yield* entities.rows(sql)`with old as materialized (select * from catalog_entities
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for no key update),
      new as (${newValues(sql, change)}),
      changed as (
        update catalog_entities e set ${sql.literal(entities.sets("n", changeable))},
          updated_at = case when (e.slug, e.status, e.metadata, e.tax_class, e.tax_class_id, e.manage_inventory, e.allow_backorder,
            e.backorder_limit, e.is_visible, e.published_at)
            is distinct from (n.slug, n.status, n.metadata, n.tax_class, n.tax_class_id, n.manage_inventory, n.allow_backorder,
            n.backorder_limit, n.is_visible, n.published_at)
            or ${fields !== undefined && !Equal.equals(fields.before, fields.after)}::boolean
            then now() else e.updated_at end
        from new n where e.id = (select id from old) and e.organization_id = ${actor.organizationId} returning e.*),
      ${fields === undefined ? sql.literal("") : sql`${fieldWrites(sql, fields, "changed")},`}
      event as (${entityEvent(sql, actor, "catalog.update", "changed", "old", fields)})
      select ${sql.literal(entities.columns("changed"))} from changed`.pipe(
      Effect.catchTag("SqlError", orRefused(change, fields))
    )
    return rows[0]
  })

  return { create, update }
}

/** `entity` is null when it is used, or when another request deleted it in between. */
const Removal = Schema.Struct({ used: Schema.Boolean, entity: Schema.NullOr(CatalogEntity) })

const makeRemove = (sql: SqlClient.SqlClient) =>
  Effect.fn("EntityRepo.remove")(function*(id: EntityId) {
    const actor = yield* CurrentActor
    const [removal] = yield* decoding(sql, Removal)`with target as (
        select e.id as entity_id, exists (select 1 from cart_lines_read
            where organization_id = e.organization_id and entity_id = e.id)
          or exists (select 1 from order_lines_read where entity_id = e.id)
          or exists (select 1 from stock_movements_read where organization_id = e.organization_id and entity_id = e.id)
          as used
        from catalog_entities e where e.id = ${id}::uuid and e.organization_id = ${actor.organizationId}),
      deleted as (delete from catalog_entities e using target t where e.id = t.entity_id and not t.used returning e.*),
      event as (${entityEvent(sql, actor, "catalog.delete", "deleted", "deleted")})
      select t.used, case when d.id is not null then ${sql.literal(entityJson("d"))} end as entity
      from target t left join deleted d on true`
    return removal
  }, Effect.orDie)
