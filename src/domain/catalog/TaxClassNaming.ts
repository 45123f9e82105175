import { snapshotWithTaxClass } from "./fields/EntityFieldRepo.ts"

/**
 * Functions over `tax_classes_read`, which the tax module makes later: their bodies are resolved when they run.
 * - `tax_class_named` finds a class by id, slug or name. An unknown one is refused as the constraint `tax class <it>`,
 *   unless it is the text that the goods have.
 * - `tax_class_name` is the present name: processes of the previous version compare names, and so do tax adapters.
 * - `tax_class_kept` keeps `tax_class` the slug of `tax_class_id`. The previous version writes names alone: it fills in
 *   the id.
 */
const functions: ReadonlyArray<string> = [
  `create function tax_class_named(organization text, reference text, kept text default null) returns uuid language plpgsql stable as $$
  declare
    found_id uuid;
  begin
    if reference is null then
      return null;
    end if;
    select id into found_id from tax_classes_read
      where organization_id = organization
        and (id::text = lower(reference) or slug = lower(reference) or name = reference)
      order by id::text = lower(reference) desc, slug = lower(reference) desc limit 1;
    if found_id is null and reference is distinct from kept then
      raise exception 'unknown tax class' using errcode = '23503', constraint = 'tax class ' || reference;
    end if;
    return found_id;
  end $$`,
  `create function tax_class_name(class uuid) returns text language plpgsql stable strict as $$
  begin
    return (select name from tax_classes_read where id = class);
  end $$`,
  `create function tax_class_kept() returns trigger language plpgsql as $$
  begin
    if new.tax_class_id is distinct from old.tax_class_id then
      new.tax_class := (select slug from tax_classes_read where id = new.tax_class_id);
    else
      new.tax_class_id := (select id from tax_classes_read
        where organization_id = new.organization_id and name = new.tax_class);
    end if;
    return new;
  end $$`
]

/** Statements that give goods a class by id. */
export const taxClassIds: ReadonlyArray<string> = [
  "alter table catalog_entities add column tax_class_id uuid",
  "alter table variants add column tax_class_id uuid",
  ...functions,
  snapshotWithTaxClass,
  `create or replace view catalog_entities_read as select id, organization_id, source_store_id, type, slug, status,
    is_visible, coalesce(tax_class_name(tax_class_id), tax_class) as tax_class, metadata, created_at, updated_at,
    published_at, manage_inventory, tax_class_id from catalog_entities`,
  `create or replace view variants_read as select id, organization_id, entity_id, source_store_id, sku, barcode,
    coalesce(tax_class_name(tax_class_id), tax_class) as tax_class, status, sort_order, metadata, manage_inventory,
    tax_class_id from variants`,
  `create or replace view plugin_entities as select id, organization_id, type, slug, status, is_visible, tax_class,
    metadata, created_at, updated_at, published_at, manage_inventory, tax_class_id from catalog_entities`,
  `create or replace view plugin_variants as select id, organization_id, entity_id, sku, barcode, tax_class, status,
    sort_order, metadata, manage_inventory, tax_class_id from variants`
]

export const taxClassTriggers = (table: string): ReadonlyArray<string> => [
  `create trigger ${table}_tax_class_made before insert on ${table} for each row
    when (new.tax_class is not null or new.tax_class_id is not null) execute function tax_class_kept()`,
  `create trigger ${table}_tax_class_changed before update of tax_class, tax_class_id on ${table} for each row
    when (new.tax_class is distinct from old.tax_class or new.tax_class_id is distinct from old.tax_class_id)
    execute function tax_class_kept()`
]
