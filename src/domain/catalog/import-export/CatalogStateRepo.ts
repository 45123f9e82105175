import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type CurrentActor, currentOrganization } from "../../access/Actor.ts"
import type { CatalogEntity } from "../Entity.ts"
import { entityColumns } from "../EntityRowsRepo.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { CatalogState, Named, StoredEntity } from "./CatalogState.ts"

/** Reads the stored state for a batch. */
export class CatalogStateRepo extends Context.Service<CatalogStateRepo, {
  /**
   * Reads and locks what the records name, in five statements for any number of records. Entities are locked in the
   * order of their ids, so that two batches cannot deadlock.
   */
  readonly read: (records: ReadonlyArray<CatalogRecord>) => Effect.Effect<CatalogState, never, CurrentActor>
}>()("stoa/domain/catalog/import-export/CatalogStateRepo") {
  static readonly layer = Layer.effect(CatalogStateRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

type StateRow = CatalogEntity & Omit<StoredEntity, "entity">

/** JSON lists of the parts of the entity `e`, each by one index look-up. */
export const partsOfEntity = `
  (select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'locale', a.locale, 'title', a.title, 'subtitle', a.subtitle,
      'description', a.description, 'richDescription', a.rich_description, 'seoTitle', a.seo_title,
      'seoDescription', a.seo_description) order by a.locale), '[]')
    from entity_attributes a where a.entity_id = e.id and a.organization_id = e.organization_id) as words,
  (select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'slug', c.slug) order by l.sort_order, c.slug), '[]')
    from entity_categories l join categories c on c.id = l.category_id
    where l.entity_id = e.id and l.organization_id = e.organization_id) as categories,
  (select coalesce(jsonb_agg(jsonb_build_object('id', b.id, 'slug', b.slug) order by l.sort_order, b.slug), '[]')
    from entity_brands l join brands b on b.id = l.brand_id
    where l.entity_id = e.id and l.organization_id = e.organization_id) as brands,
  (select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'sortOrder', t.sort_order,
      'values', (select coalesce(jsonb_agg(jsonb_build_object('id', v.id, 'value', v.value, 'sortOrder', v.sort_order)
          order by v.sort_order, v.id), '[]')
        from option_values v where v.option_type_id = t.id and v.organization_id = t.organization_id))
      order by t.sort_order, t.id), '[]')
    from option_types t where t.entity_id = e.id and t.organization_id = e.organization_id) as options,
  (select coalesce(jsonb_agg(jsonb_build_object('id', v.id, 'sku', v.sku, 'barcode', v.barcode, 'taxClass', v.tax_class,
      'status', v.status, 'sortOrder', v.sort_order, 'metadata', v.metadata, 'combination', v.combination)
      order by v.sort_order, v.id), '[]')
    from variants v where v.entity_id = e.id and v.organization_id = e.organization_id) as variants,
  (select coalesce(jsonb_agg(jsonb_build_object('definitionId', d.id, 'name', d.name, 'value', f.value,
      'target', case when r.id is not null
        then jsonb_build_object('slug', r.slug, 'type', r.type, 'isEarlier', r.slug < e.slug) end)
      order by d.sort_order, d.name), '[]')
    from entity_field_values f
      join entity_field_definitions d on d.id = f.definition_id and d.status = 'active' and d.entity_type = e.type
      left join catalog_entities r on r.id = f.reference_id
    where f.entity_id = e.id and f.organization_id = e.organization_id) as fields`

const skusOf = (records: ReadonlyArray<CatalogRecord>): ReadonlyArray<string> =>
  records.flatMap(({ variants = [] }) => variants.flatMap(({ sku }) => sku === undefined || sku === null ? [] : [sku]))

const make = (sql: SqlClient.SqlClient): CatalogStateRepo["Service"] => {
  const named = (table: "categories" | "brands", organization: string, slugs: ReadonlyArray<string>) =>
    sql<Named>`select id, slug from ${sql(table)}
      where organization_id = ${organization} and slug = any(${slugs}::text[]) order by id for key share`.unprepared

  const read = Effect.fn("CatalogStateRepo.read")(function*(records: ReadonlyArray<CatalogRecord>) {
    const organization = yield* currentOrganization
    const slugs = records.map(({ slug }) => slug)
    // Use a custom plan each time: a plan made on an empty store would be kept while its catalog grows. Lock first,
    // then read: a statement does not see what others committed while it waited for the lock.
    const [clock] = yield* sql<{ readonly now: Date }>`with locked as (select id from catalog_entities
        where organization_id = ${organization} and slug = any(${slugs}::text[]) order by id for no key update)
      select now() as now, count(*) from locked`.unprepared
    const entities = yield* sql<StateRow>`select ${sql.literal(entityColumns("e"))},
        ${sql.literal(partsOfEntity)} from catalog_entities e
      where e.organization_id = ${organization} and e.slug = any(${slugs}::text[])`.unprepared
    const categories = yield* named("categories", organization, records.flatMap((record) => record.categories ?? []))
    const brands = yield* named("brands", organization, records.flatMap((record) => record.brands ?? []))
    const skus = yield* sql<{ readonly sku: string; readonly entity_id: string }>`select sku, entity_id from variants
      where organization_id = ${organization} and sku = any(${skusOf(records)}::text[])`.unprepared
    return {
      now: clock?.now ?? new Date(0),
      entities: new Map(entities.map((row): [string, StoredEntity] => {
        const { brands, categories, fields, options, variants, words, ...entity } = row
        return [row.slug, { entity, brands, categories, fields, options, variants, words }]
      })),
      categories: new Map(categories.map(({ id, slug }) => [slug, id])),
      brands: new Map(brands.map(({ id, slug }) => [slug, id])),
      skus: new Map(skus.map((row) => [row.sku, row.entity_id]))
    }
  }, Effect.orDie)

  return { read }
}
