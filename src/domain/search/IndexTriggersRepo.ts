import { recorded } from "./IndexWritesRepo.ts"

/** A trigger once per statement: `ids` is a query over the changed rows that gives the entities to look at again. */
const trigger = (table: string, operation: "insert" | "update" | "delete", ids: string): ReadonlyArray<string> => {
  const name = `search_${table}_${operation}`
  const rows = {
    insert: "new table as added",
    update: "old table as removed new table as added",
    delete: "old table as removed"
  }[operation]
  return [
    `create function ${name}() returns trigger language plpgsql
        set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
      declare ids uuid[] := array(${ids});
      begin
        if cardinality(ids) > 0 then perform search_index(ids); end if;
        return null;
      end $$`,
    `create trigger ${name} after ${operation} on ${table} referencing ${rows}
      for each statement execute function ${name}()`
  ]
}

/**
 * Entities of rows `x` that came, but for those whose document this transaction has built after them: a statement that
 * brings an entity together with its words, links and variants fires a trigger for each, and the first one builds it all.
 */
const notBuiltSince = (table: string, entity: string, key: ReadonlyArray<string>) =>
  `select distinct x.${entity} from added x where not exists (select 1 from ${table} t
      join search_documents d on d.entity_id = t.${entity}
    where ${key.map((column) => `t.${column} = x.${column}`).join(" and ")}
      and d.xmin = t.xmin and d.cmin::text::bigint > t.cmin::text::bigint)`

/**
 * Triggers for rows that come, change in one of the columns, or go. `of`: from changed rows `x` to `entity_id`; `added`
 * where those that come are told apart.
 */
const triggers = (
  table: string,
  columns: ReadonlyArray<string>,
  of: string,
  added = of.replaceAll("$rows", "added")
): ReadonlyArray<string> => {
  const from = (rows: string) => of.replaceAll("$rows", rows)
  const row = (name: string) => columns.map((column) => `${name}.${column}`).join(", ")
  // Rows of both sides that have no equal on the other: what changed, before and after.
  const changed = `(select ${row("a")} from added a except select ${row("r")} from removed r
    union all (select ${row("r")} from removed r except select ${row("a")} from added a))`
  return [
    ...trigger(table, "insert", added),
    ...trigger(table, "update", from(changed)),
    ...trigger(table, "delete", from("removed"))
  ]
}

/** Triggers of a table whose rows name their entity; `key` are the columns by which a row is found. */
const ofEntities = (table: string, key: ReadonlyArray<string>, columns: ReadonlyArray<string>) =>
  triggers(
    table,
    columns,
    "select distinct x.entity_id from $rows x",
    notBuiltSince(table, "entity_id", key)
  )

/**
 * Entities leave the index when they go, and when they change hands. What they were is what the last one to change them has
 * left: who does so without a lock on the entity does it by a link (a brand that is renamed), and `search_index` has waited
 * for him already, called for the links that go along, or for the entity that changed.
 */
const leaving = (operation: "delete" | "update", whichOfRemoved: string): ReadonlyArray<string> => {
  const gone = "select r.organization_id, r.id as entity_id from removed r where r.id = any(ids)"
  return [
    `create function search_leaving_${operation}() returns trigger language plpgsql set enable_seqscan = off as $$
    declare ids uuid[] := array(select r.id from removed r ${whichOfRemoved});
    begin
      if cardinality(ids) = 0 then return null; end if;
      with ${recorded(gone, "ids")}
      delete from search_titles t using removed r
        where t.organization_id = r.organization_id and t.entity_id = r.id and r.id = any(ids);
      delete from search_documents d using removed r
        where d.organization_id = r.organization_id and d.entity_id = r.id and r.id = any(ids);
      delete from search_words w using removed r
        where w.organization_id = r.organization_id and w.entity_id = r.id and r.id = any(ids);
      return null;
    end $$`,
    `create trigger search_leaving_${operation} after ${operation} on catalog_entities
    referencing old table as removed ${operation === "update" ? "new table as added" : ""}
    for each statement execute function search_leaving_${operation}()`
  ]
}

/**
 * The guard that nothing forgets the index: whoever changes the catalog, by whatever statement, changes it too, in the
 * same transaction. Once per statement, so that an import of many rows builds them together.
 */
export const indexTriggers: ReadonlyArray<string> = [
  ...trigger("catalog_entities", "insert", notBuiltSince("catalog_entities", "id", ["id"])),
  // An entity's time of change moves with its words, which have a trigger of their own.
  ...trigger(
    "catalog_entities",
    "update",
    `select a.id from added a left join removed r on r.id = a.id
      where (a.organization_id, a.type, a.slug, a.status, a.is_visible, a.metadata)
        is distinct from (r.organization_id, r.type, r.slug, r.status, r.is_visible, r.metadata)`
  ),
  ...leaving("delete", ""),
  ...leaving(
    "update",
    "where not exists (select 1 from added a where a.id = r.id and a.organization_id = r.organization_id)"
  ),
  ...ofEntities("entity_attributes", ["id"], ["entity_id", "locale", "title", "subtitle", "description"]),
  ...ofEntities("entity_categories", ["entity_id", "category_id"], ["entity_id", "category_id"]),
  ...ofEntities("entity_brands", ["entity_id", "brand_id"], ["entity_id", "brand_id"]),
  ...ofEntities("variants", ["id"], ["entity_id", "id", "sku", "barcode", "status"]),
  ...triggers(
    "variant_option_values",
    ["variant_id", "option_value_id"],
    "select distinct v.entity_id from $rows x join variants v on v.id = x.variant_id",
    `select distinct v.entity_id from added x join variants v on v.id = x.variant_id
      where not exists (select 1 from variant_option_values t
        join search_documents d on d.entity_id = v.entity_id
        where t.variant_id = x.variant_id and t.option_value_id = x.option_value_id
          and d.xmin = t.xmin and d.cmin::text::bigint > t.cmin::text::bigint)`
  ),
  // Categories, brands and options that come have no entities yet; those that go take their links along.
  ...trigger(
    "categories",
    "update",
    `select distinct l.entity_id from added a join removed r on r.id = a.id and r.slug <> a.slug
      join entity_categories l on l.category_id = a.id`
  ),
  ...trigger(
    "brands",
    "update",
    `select distinct l.entity_id from added a join removed r on r.id = a.id
        and (r.slug, r.display_name) <> (a.slug, a.display_name)
      join entity_brands l on l.brand_id = a.id`
  ),
  ...trigger(
    "option_types",
    "update",
    "select distinct a.entity_id from added a join removed r on r.id = a.id and r.name <> a.name"
  ),
  ...trigger(
    "option_values",
    "update",
    `select distinct t.entity_id from added a join removed r on r.id = a.id and r.value <> a.value
      join option_types t on t.id = a.option_type_id`
  ),
  ...ofEntities("entity_field_values", ["entity_id", "definition_id"], ["entity_id", "definition_id", "value"]),
  ...trigger(
    "entity_field_definitions",
    "update",
    `select distinct v.entity_id from added a join removed r on r.id = a.id
        and (r.name, r.status, r.is_filterable, r.is_public) <> (a.name, a.status, a.is_filterable, a.is_public)
      join entity_field_values v on v.definition_id = a.id`
  ),
  ...ofEntities("entity_attribute_drafts", ["entity_id", "locale"], ["entity_id", "locale", "changes"])
]
