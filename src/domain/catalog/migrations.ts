import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"
import { categoryGuard } from "./categories/CategoryGuard.ts"
import { fieldTables } from "./fields/EntityFieldRepo.ts"
import { revisionTables } from "./revisions/RevisionRepo.ts"
import { backorderColumns } from "./StockPolicy.ts"
import { taxClassIds } from "./TaxClassNaming.ts"

const totalsTrigger = (operation: string, rows: string, tables: string): ReadonlyArray<string> => [
  `create function catalog_totals_on_${operation}() returns trigger language plpgsql as $$
    begin
      insert into catalog_totals as t (organization_id, type, status, is_visible, slot, entities)
        select organization_id, type, status, is_visible, pg_backend_pid() % 16, sum(step)
        from (${rows}) x group by 1, 2, 3, 4 having sum(step) <> 0 order by 1, 2, 3, 4
        on conflict (organization_id, type, status, is_visible, slot)
          do update set entities = t.entities + excluded.entities;
      return null;
    end $$`,
  `create trigger catalog_totals_on_${operation} after ${operation} on catalog_entities
    referencing ${tables} for each statement execute function catalog_totals_on_${operation}()`
]

/** Drafts hold only the fields they change: a draft is never a stale copy. */
const draftTables: ReadonlyArray<string> = [
  `create table entity_attribute_drafts (
    id uuid not null,
    organization_id text not null,
    entity_id uuid not null references catalog_entities on delete cascade,
    locale text not null,
    changes jsonb not null,
    proposed_by text,
    proposed_at timestamptz not null default now(),
    primary key (entity_id, locale)
  )`,
  `create index entity_attribute_drafts_queue on entity_attribute_drafts (organization_id, proposed_at, entity_id, locale)`
]

const scheduleTables: ReadonlyArray<string> = [
  `create table entity_schedules (
    entity_id uuid primary key references catalog_entities on delete cascade,
    organization_id text not null,
    publish_at timestamptz,
    unpublish_at timestamptz,
    refusal text,
    scheduled_by text,
    updated_at timestamptz not null default now(),
    check (publish_at < unpublish_at)
  )`,
  `create index entity_schedules_publish on entity_schedules (publish_at) where publish_at is not null`,
  `create index entity_schedules_unpublish on entity_schedules (unpublish_at) where unpublish_at is not null`
]

export const migrations = {
  "0001_catalog": statements(
    `create table catalog_entities (
      id uuid primary key,
      organization_id text not null references organizations,
      source_store_id text,
      type text not null,
      slug text not null,
      status text not null check (status in ('draft', 'active', 'archived', 'discontinued')),
      is_visible boolean not null,
      tax_class text,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      published_at timestamptz,
      unique (organization_id, slug)
    )`,
    `create index catalog_entities_created on catalog_entities (organization_id, created_at desc, id desc)`,
    `create index catalog_entities_updated on catalog_entities (organization_id, updated_at desc, id desc)`,
    `create index catalog_entities_public on catalog_entities (organization_id, created_at desc, id desc)
      where status = 'active' and is_visible`,
    `create index catalog_entities_type on catalog_entities (organization_id, type, created_at desc, id desc)`,
    `create table entity_attributes (
      id uuid primary key,
      organization_id text not null,
      entity_id uuid not null references catalog_entities on delete cascade,
      locale text not null,
      title text not null,
      subtitle text,
      description text,
      rich_description jsonb,
      seo_title text,
      seo_description text,
      unique (entity_id, locale)
    )`,
    `create table categories (
      id uuid primary key,
      organization_id text not null references organizations,
      parent_id uuid references categories on delete set null,
      slug text not null,
      sort_order int not null default 0,
      status text not null default 'active' check (status in ('active', 'archived')),
      metadata jsonb not null default '{}',
      unique (organization_id, slug)
    )`,
    `create index categories_parent on categories (parent_id)`,
    `create table entity_categories (
      organization_id text not null,
      entity_id uuid not null references catalog_entities on delete cascade,
      category_id uuid not null references categories on delete cascade,
      sort_order int not null default 0,
      primary key (entity_id, category_id)
    )`,
    `create index entity_categories_category on entity_categories (category_id, entity_id)`,
    `create table brands (
      id uuid primary key,
      organization_id text not null references organizations,
      slug text not null,
      display_name text not null,
      metadata jsonb not null default '{}',
      unique (organization_id, slug)
    )`,
    `create table entity_brands (
      organization_id text not null,
      entity_id uuid not null references catalog_entities on delete cascade,
      brand_id uuid not null references brands on delete cascade,
      sort_order int not null default 0,
      primary key (entity_id, brand_id)
    )`,
    `create index entity_brands_brand on entity_brands (brand_id, entity_id)`,
    `create table option_types (
      id uuid primary key,
      organization_id text not null,
      entity_id uuid not null references catalog_entities on delete cascade,
      name text not null,
      display_name text not null,
      sort_order int not null default 0,
      unique (entity_id, name)
    )`,
    `create table option_values (
      id uuid primary key,
      organization_id text not null,
      option_type_id uuid not null references option_types on delete cascade,
      value text not null,
      display_value text not null,
      sort_order int not null default 0,
      metadata jsonb not null default '{}',
      unique (option_type_id, value)
    )`,
    // combination: the sorted option value ids, so that a combination exists once.
    `create table variants (
      id uuid primary key,
      organization_id text not null references organizations,
      entity_id uuid not null references catalog_entities on delete cascade,
      source_store_id text,
      sku text,
      barcode text,
      tax_class text,
      status text not null default 'active' check (status in ('active', 'discontinued')),
      sort_order int not null default 0,
      metadata jsonb not null default '{}',
      combination text not null,
      unique (organization_id, sku),
      unique (entity_id, combination)
    )`,
    `create table variant_option_values (
      organization_id text not null,
      variant_id uuid not null references variants on delete cascade,
      option_value_id uuid not null references option_values on delete cascade,
      primary key (variant_id, option_value_id)
    )`,
    `create index variant_option_values_value on variant_option_values (option_value_id)`,
    // Lists sum a few rows instead of counting the catalog. Concurrent writers use different slots.
    `create table catalog_totals (
      organization_id text not null,
      type text not null,
      status text not null,
      is_visible boolean not null,
      slot int not null,
      entities bigint not null,
      primary key (organization_id, type, status, is_visible, slot)
    ) with (fillfactor = 70)`,
    ...totalsTrigger("insert", "select *, 1 as step from added", "new table as added"),
    ...totalsTrigger("delete", "select *, -1 as step from removed", "old table as removed"),
    ...totalsTrigger(
      "update",
      "select *, 1 as step from added union all select *, -1 as step from removed",
      "old table as removed new table as added"
    ),
    ...categoryGuard,
    ...revisionTables,
    ...fieldTables,
    ...draftTables,
    ...scheduleTables
  ),
  // Joined by other modules: columns keep name and meaning.
  "0002_read_views": statements(
    `create view brands_read as
      select id, organization_id, slug, display_name, metadata
      from brands`,
    `create view catalog_entities_read as
      select id, organization_id, source_store_id, type, slug, status, is_visible, tax_class, metadata, created_at,
        updated_at, published_at
      from catalog_entities`,
    `create view categories_read as
      select id, organization_id, parent_id, slug, sort_order, status, metadata
      from categories`,
    `create view entity_attributes_read as
      select id, organization_id, entity_id, locale, title, subtitle, description, rich_description, seo_title,
        seo_description
      from entity_attributes`,
    `create view entity_categories_read as
      select organization_id, entity_id, category_id, sort_order
      from entity_categories`,
    `create view entity_field_definitions_read as
      select id, organization_id, entity_type, name, label, kind, is_required, is_unique, is_filterable, is_public, rules,
        default_value, sort_order, status, created_at, updated_at
      from entity_field_definitions`,
    `create view entity_field_values_read as
      select organization_id, entity_id, definition_id, value, reference_id
      from entity_field_values`,
    `create view option_types_read as
      select id, organization_id, entity_id, name, display_name, sort_order
      from option_types`,
    `create view option_values_read as
      select id, organization_id, option_type_id, value, display_value, sort_order, metadata
      from option_values`,
    `create view variant_option_values_read as
      select organization_id, variant_id, option_value_id
      from variant_option_values`,
    `create view variants_read as
      select id, organization_id, entity_id, source_store_id, sku, barcode, tax_class, status, sort_order, metadata
      from variants`
  ),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0003_plugin_views": statements(
    `create view plugin_entities as
      select id, organization_id, type, slug, status, is_visible, tax_class, metadata, created_at, updated_at,
        published_at
      from catalog_entities`,
    `create view plugin_entity_titles as
      select organization_id, entity_id, locale, title, subtitle
      from entity_attributes`,
    `create view plugin_categories as
      select id, organization_id, parent_id, slug, sort_order, status, metadata
      from categories`,
    `create view plugin_entity_categories as
      select organization_id, entity_id, category_id, sort_order
      from entity_categories`,
    `create view plugin_variants as
      select id, organization_id, entity_id, sku, barcode, tax_class, status, sort_order, metadata
      from variants`
  ),
  "0004_counted": statements(
    "create index categories_listed on categories (organization_id, sort_order, slug)",
    "create index brands_listed on brands (organization_id, display_name, slug)",
    ...countedBy({ table: "categories", part: (row) => `${row}.status` }),
    ...countedBy({ table: "brands" }),
    ...countedBy({ table: "entity_attribute_drafts" })
  ),
  "0005_manage_inventory": statements(
    "alter table catalog_entities add column manage_inventory boolean not null default true",
    "update catalog_entities set manage_inventory = false where type in ('digitalDownload', 'course', 'service')",
    "alter table variants add column manage_inventory boolean",
    `create or replace view catalog_entities_read as select id, organization_id, source_store_id, type, slug, status,
      is_visible, tax_class, metadata, created_at, updated_at, published_at, manage_inventory from catalog_entities`,
    `create or replace view variants_read as select id, organization_id, entity_id, source_store_id, sku, barcode,
      tax_class, status, sort_order, metadata, manage_inventory from variants`,
    `create or replace view plugin_entities as select id, organization_id, type, slug, status, is_visible, tax_class,
      metadata, created_at, updated_at, published_at, manage_inventory from catalog_entities`,
    `create or replace view plugin_variants as select id, organization_id, entity_id, sku, barcode, tax_class, status,
      sort_order, metadata, manage_inventory from variants`
  ),
  "0006_tax_class_id": statements(...taxClassIds),
  "0007_backorders": statements(...backorderColumns),
  // A SKU is no key. Where a deployment wants it to be one (`catalog.uniqueSkus`), the variant claims it.
  "0008_shared_skus": statements(
    "alter table variants add column unique_sku text",
    "alter table variants drop constraint variants_organization_id_sku_key",
    "create unique index variants_unique_sku on variants (organization_id, unique_sku) where unique_sku is not null",
    "create index variants_sku on variants (organization_id, sku) where sku is not null"
  ),
  "0009_source_stores": statements(
    `create or replace view plugin_entities as select id, organization_id, type, slug, status, is_visible, tax_class,
      metadata, created_at, updated_at, published_at, manage_inventory, tax_class_id, allow_backorder, backorder_limit,
      source_store_id from catalog_entities`,
    `create or replace view plugin_variants as select id, organization_id, entity_id, sku, barcode, tax_class, status,
      sort_order, metadata, manage_inventory, tax_class_id, allow_backorder, backorder_limit, source_store_id
      from variants`
  )
}
