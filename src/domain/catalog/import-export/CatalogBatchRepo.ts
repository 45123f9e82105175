import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../../access/Actor.ts"
import { changeLogInsert } from "../../events/ChangeLogRepo.ts"
import type { CatalogWrites } from "./CatalogWrites.ts"

/** Writes batches of records. */
export class CatalogBatchRepo extends Context.Service<CatalogBatchRepo, {
  /**
   * Writes all rows of a batch and its change log entries in one statement; dies when a concurrent request came first.
   */
  readonly write: (writes: CatalogWrites) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/catalog/import-export/CatalogBatchRepo") {
  static readonly layer = Layer.effect(CatalogBatchRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const entityColumns =
  `id uuid, "type" text, slug text, status text, "isVisible" boolean, "taxClass" text, metadata jsonb,
  "createdAt" timestamptz, "updatedAt" timestamptz, "publishedAt" timestamptz`

const wordColumns = `id uuid, "entityId" uuid, locale text, title text, subtitle text, description text,
  "richDescription" jsonb, "seoTitle" text, "seoDescription" text`

const variantColumns = `id uuid, "entityId" uuid, sku text, barcode text, "taxClass" text, status text, "sortOrder" int,
  metadata jsonb, combination text`

const fieldColumns = `"entityId" uuid, "definitionId" uuid, value jsonb, "isUnique" boolean, "isReference" boolean`

const rowsOf = (sql: SqlClient.SqlClient) => (list: ReadonlyArray<object>, columns: string) =>
  sql`jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as x(${sql.literal(columns)})`

/** Parts that write and delete values of custom fields. */
const fieldParts = (sql: SqlClient.SqlClient, organization: string, { fields, goneFields }: CatalogWrites) => {
  const rows = rowsOf(sql)
  return sql`fields_set as (insert into entity_field_values as f (organization_id, entity_id, definition_id, value,
      unique_key, reference_id)
    select ${organization}, "entityId", "definitionId", value, case when "isUnique" then value #>> '{}' end,
      case when "isReference" then (value #>> '{}')::uuid end
    from ${rows(fields, fieldColumns)}
    on conflict (entity_id, definition_id) do update set value = excluded.value, unique_key = excluded.unique_key,
      reference_id = excluded.reference_id),
  fields_gone as (delete from entity_field_values f using ${rows(goneFields, fieldColumns)}
    where f.organization_id = ${organization} and f.entity_id = x."entityId" and f.definition_id = x."definitionId")`
}

const make = (sql: SqlClient.SqlClient): CatalogBatchRepo["Service"] => {
  const rows = rowsOf(sql)

  const entities = (organization: string, { changedEntities, newEntities }: CatalogWrites) =>
    sql`made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible, tax_class, metadata,
        created_at, updated_at, published_at)
      select id, ${organization}, "type", slug, status, "isVisible", "taxClass", metadata, "createdAt", "updatedAt",
        "publishedAt" from ${rows(newEntities, entityColumns)}),
    changed as (update catalog_entities e set type = x."type", status = x.status, is_visible = x."isVisible",
        tax_class = x."taxClass", metadata = x.metadata, updated_at = x."updatedAt", published_at = x."publishedAt"
      from ${rows(changedEntities, entityColumns)} where e.id = x.id and e.organization_id = ${organization})`

  const words = (organization: string, { words: list }: CatalogWrites) =>
    sql`words as (insert into entity_attributes (id, organization_id, entity_id, locale, title, subtitle, description,
        rich_description, seo_title, seo_description)
      select id, ${organization}, "entityId", locale, title, subtitle, description,
        nullif("richDescription", 'null'), "seoTitle", "seoDescription" from ${rows(list, wordColumns)}
      on conflict (entity_id, locale) do update set title = excluded.title, subtitle = excluded.subtitle,
        description = excluded.description, rich_description = excluded.rich_description,
        seo_title = excluded.seo_title, seo_description = excluded.seo_description)`

  const links = (organization: string, writes: CatalogWrites, kind: "category" | "brand") => {
    const [table, column] = kind === "category" ? ["entity_categories", "category_id"] : ["entity_brands", "brand_id"]
    const [linked, unlinked] = kind === "category"
      ? [writes.categoryLinks, writes.categoryUnlinks]
      : [writes.brandLinks, writes.brandUnlinks]
    const ends = `"entityId" uuid, "targetId" uuid, "sortOrder" int`
    return sql`${sql(`${kind}_linked`)} as (insert into ${sql(table)} (organization_id, entity_id, ${sql(column)},
        sort_order)
      select ${organization}, "entityId", "targetId", "sortOrder" from ${rows(linked, ends)} on conflict do nothing),
    ${sql(`${kind}_unlinked`)} as (delete from ${sql(table)} l using ${rows(unlinked, ends)}
      where l.organization_id = ${organization} and l.entity_id = x."entityId" and l.${sql(column)} = x."targetId")`
  }

  const targets = (organization: string, { newBrands, newCategories }: CatalogWrites) =>
    sql`new_categories as (insert into categories (id, organization_id, slug)
      select id, ${organization}, slug from ${rows(newCategories, "id uuid, slug text")}),
    new_brands as (insert into brands (id, organization_id, slug, display_name)
      select id, ${organization}, slug, slug from ${rows(newBrands, "id uuid, slug text")})`

  const options = (organization: string, { optionTypes, optionValues }: CatalogWrites) =>
    sql`new_types as (insert into option_types (id, organization_id, entity_id, name, display_name, sort_order)
      select id, ${organization}, "entityId", name, name, "sortOrder"
      from ${rows(optionTypes, `id uuid, "entityId" uuid, name text, "sortOrder" int`)}),
    new_values as (insert into option_values (id, organization_id, option_type_id, value, display_value, sort_order)
      select id, ${organization}, "optionTypeId", value, value, "sortOrder"
      from ${rows(optionValues, `id uuid, "optionTypeId" uuid, value text, "sortOrder" int`)})`

  const variants = (organization: string, { changedVariants, newVariants, variantValues }: CatalogWrites) =>
    sql`new_variants as (insert into variants (id, organization_id, entity_id, sku, barcode, tax_class, status,
        sort_order, metadata, combination)
      select id, ${organization}, "entityId", sku, barcode, "taxClass", status, "sortOrder", metadata, combination
      from ${rows(newVariants, variantColumns)}),
    changed_variants as (update variants v set sku = x.sku, barcode = x.barcode, tax_class = x."taxClass",
        status = x.status, metadata = x.metadata
      from ${rows(changedVariants, variantColumns)} where v.id = x.id and v.organization_id = ${organization}),
    new_variant_values as (insert into variant_option_values (organization_id, variant_id, option_value_id)
      select ${organization}, "variantId", "optionValueId"
      from ${rows(variantValues, `"variantId" uuid, "optionValueId" uuid`)})`

  const write = Effect.fn("CatalogBatchRepo.write")(function*(writes: CatalogWrites) {
    if (writes.changes.length === 0) return
    const actor = yield* CurrentActor
    const of = actor.organizationId
    // One statement: the triggers of the search index run once per table, at its end, and see all rows.
    yield* sql`with ${entities(of, writes)}, ${words(of, writes)}, ${targets(of, writes)},
      ${links(of, writes, "category")}, ${links(of, writes, "brand")}, ${options(of, writes)},
      ${variants(of, writes)}, ${fieldParts(sql, of, writes)}, entries as (${
      changeLogInsert(sql, actor, writes.changes)
    })
      select 1`
  }, Effect.orDie)

  return { write }
}
