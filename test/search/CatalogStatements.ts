/** Changes of all kinds to the catalog of the organization `org_bulk`, one after the other, each by one statement for many rows. */
export const catalogStatements: ReadonlyArray<string> = [
  `insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select gen_random_uuid(), 'org_bulk', 'product', 'bulk-' || n, 'active', true from generate_series(1, 50) n`,
  `insert into entity_attributes (id, organization_id, entity_id, locale, title)
    select gen_random_uuid(), organization_id, id, l, slug from catalog_entities, unnest(array['en', 'de']) l
    where organization_id = 'org_bulk'`,
  "update entity_attributes set title = title || ' more' where organization_id = 'org_bulk' and locale = 'de'",
  "update entity_attributes set locale = 'es' where organization_id = 'org_bulk' and locale = 'de'",
  "delete from entity_attributes where organization_id = 'org_bulk' and locale = 'es'",
  "insert into brands (id, organization_id, slug, display_name) values (gen_random_uuid(), 'org_bulk', 'b', 'B')",
  `insert into entity_brands (organization_id, entity_id, brand_id) select 'org_bulk', e.id, b.id
    from catalog_entities e, brands b where e.organization_id = 'org_bulk' and b.organization_id = 'org_bulk'`,
  "update catalog_entities set status = 'draft' where organization_id = 'org_bulk' and slug = 'bulk-7'",
  "update brands set display_name = 'Bee' where organization_id = 'org_bulk'",
  `insert into option_types (id, organization_id, entity_id, name, display_name)
    select gen_random_uuid(), organization_id, id, 'size', 'size' from catalog_entities
    where organization_id = 'org_bulk'`,
  `insert into option_values (id, organization_id, option_type_id, value, display_value)
    select gen_random_uuid(), organization_id, id, 'xl', 'xl' from option_types
    where organization_id = 'org_bulk'`,
  `insert into variants (id, organization_id, entity_id, combination, sku)
    select gen_random_uuid(), t.organization_id, t.entity_id, v.id::text, 'sku-' || v.id from option_types t
    join option_values v on v.option_type_id = t.id where t.organization_id = 'org_bulk'`,
  `insert into variant_option_values (organization_id, variant_id, option_value_id)
    select organization_id, id, combination::uuid from variants where organization_id = 'org_bulk'`,
  "update option_types set name = 'measure' where organization_id = 'org_bulk'",
  "update option_values set value = 'xxl' where organization_id = 'org_bulk'",
  "update variants set sku = 'new-' || sku where organization_id = 'org_bulk'",
  "update variants set status = 'discontinued' where organization_id = 'org_bulk' and sku < 'new-sku-8'",
  "delete from option_values where organization_id = 'org_bulk' and id::text < '8'",
  "update catalog_entities set organization_id = 'org_default' where slug in ('bulk-1', 'bulk-2')",
  "delete from brands where organization_id = 'org_bulk'",
  "delete from variants where organization_id = 'org_bulk'",
  "delete from catalog_entities where organization_id = 'org_bulk' and slug < 'bulk-3'"
]
