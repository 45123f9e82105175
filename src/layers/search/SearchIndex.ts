import { statements } from "../../domain/platform/database/MigrationStatements.ts"
import { queryTerms } from "../../domain/search/QueryTermsRepo.ts"
import { addedValues, declaredFields, indexDocuments } from "./IndexDocuments.ts"

/**
 * A collation that knows letters beyond ASCII: the embedded server compares bytes. `return` resolves names at creation,
 * as functions in an index need it.
 */
const lower = `do $$
  begin
    execute format('create function search_lower(source text) returns text language sql immutable strict parallel safe
      return lower(source collate %I)', coalesce((select collname from pg_collation
        where collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8') and collnamespace = 'pg_catalog'::regnamespace
          and collencoding in (-1, pg_char_to_encoding(getdatabaseencoding()))
        order by array_position(array['pg_c_utf8', 'und-x-icu', 'C.utf8']::name[], collname) limit 1), 'default'));
  end $$`

/** Typographic marks are listed: class `punct` depends on the database's locale. */
const plain = `create function search_plain(source text) returns text language sql immutable strict parallel safe
  return regexp_replace(search_lower(source), '[[:punct:][:space:]’‘‚“”„«»‹›–—…·•\u00A0]+', ' ', 'g')`

const withoutAccents =
  `create function search_normalize(source text) returns text language sql stable strict parallel safe
  return search_plain(unaccent(source))`

const sortTitle = `create function search_sort(title text) returns text language sql immutable strict parallel safe
  return left(ltrim(search_lower(unaccent(left(title, 500)))), 200)`

/** Stemmed by every PostgreSQL from 15 on; by the first part of a locale. */
const languages = ("ar:arabic hy:armenian eu:basque ca:catalan da:danish nl:dutch en:english fi:finnish fr:french " +
  "de:german el:greek hi:hindi hu:hungarian id:indonesian ga:irish it:italian lt:lithuanian ne:nepali nb:norwegian " +
  "nn:norwegian no:norwegian pt:portuguese ro:romanian ru:russian sr:serbian es:spanish sv:swedish ta:tamil tr:turkish " +
  "yi:yiddish").split(" ").map((entry) => entry.split(":"))

const configuration = `create function search_configuration(locale text) returns regconfig
  language sql immutable strict parallel safe as $$
    select case lower(split_part(translate(locale, '_', '-'), '-', 1))
      ${languages.map(([code, name]) => `when '${code}' then 'pg_catalog.${name}'::regconfig`).join(" ")}
      else 'pg_catalog.simple'::regconfig end $$`

const normalization: ReadonlyArray<string> = [
  "create extension if not exists pg_trgm",
  "create extension if not exists unaccent",
  "create extension if not exists btree_gin",
  lower,
  plain,
  withoutAccents,
  sortTitle,
  configuration,
  "create aggregate search_concat(tsvector) (sfunc = tsvector_concat, stype = tsvector, initcond = '')"
]

/**
 * Entities that the transaction has changed, until its end: a document is built once, however many statements made up
 * the change.
 */
const stale: ReadonlyArray<string> = [
  "create unlogged table search_stale (transaction xid8 not null default pg_current_xact_id(), ids uuid[] not null)",
  "create index search_stale_transaction on search_stale (transaction)",
  `create function search_apply() returns trigger language plpgsql set enable_seqscan = off as $$
  declare stale uuid[];
  begin
    with mine as (delete from search_stale where transaction = pg_current_xact_id() returning ids)
    select array_agg(distinct id) into stale from mine, unnest(mine.ids) id;
    if stale is not null then perform search_index(stale); end if;
    return null;
  end $$`,
  `create constraint trigger search_apply after insert on search_stale deferrable initially deferred
    for each row execute function search_apply()`
]

type Operation = "insert" | "update" | "delete"

const rows: Readonly<Record<Operation, string>> = {
  insert: "new table as changed",
  update: "old table as previous new table as changed",
  delete: "old table as changed"
}

const triggers = (table: string, ids: string, ...operations: ReadonlyArray<Operation>): ReadonlyArray<string> => [
  `create function search_${table}_changed() returns trigger language plpgsql
      set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  begin
    insert into search_stale (ids)
      select array_agg(distinct c.id) from (${ids}) c(id) where c.id is not null having count(*) > 0;
    return null;
  end $$`,
  ...operations.map((operation) =>
    `create trigger search_${table}_${operation} after ${operation} on ${table} referencing ${rows[operation]}
      for each statement execute function search_${table}_changed()`
  )
]

const always = ["insert", "update", "delete"] as const

const parts = [
  "entity_attributes",
  "entity_attribute_drafts",
  "entity_categories",
  "entity_brands",
  "entity_field_values",
  "variants"
]

/** For records that many entities share: only changes of `columns` count. */
const shared = (table: string, columns: ReadonlyArray<string>, entity: string, links = "") => {
  const row = (name: string) => `(${columns.map((column) => `${name}.${column}`).join(", ")})`
  return triggers(
    table,
    `select ${entity} from changed join previous using (id) ${links} where ${row("changed")} is distinct from ${
      row("previous")
    }`,
    "update"
  )
}

const indexTriggers: ReadonlyArray<string> = [
  ...stale,
  ...triggers("catalog_entities", "select id from changed", ...always),
  ...parts.flatMap((table) => triggers(table, "select entity_id from changed", ...always)),
  ...triggers(
    "variant_option_values",
    "select v.entity_id from changed c join variants v on v.id = c.variant_id",
    ...always
  ),
  ...shared("categories", ["slug"], "l.entity_id", "join entity_categories l on l.category_id = id"),
  ...shared("brands", ["slug", "display_name"], "l.entity_id", "join entity_brands l on l.brand_id = id"),
  ...shared("option_types", ["name"], "changed.entity_id"),
  ...shared("option_values", ["value"], "t.entity_id", "join option_types t on t.id = changed.option_type_id"),
  ...shared(
    "entity_field_definitions",
    ["name", "status", "is_filterable", "is_public"],
    "f.entity_id",
    "join entity_field_values f on f.definition_id = id"
  )
]

export const migrations = {
  "0001_search": statements(
    ...normalization,
    ...indexDocuments,
    ...queryTerms,
    ...indexTriggers,
    "select search_index(array(select id from catalog_entities))"
  ),
  "0002_added_values": statements(...addedValues),
  "0003_declared_fields": statements(...declaredFields)
}
