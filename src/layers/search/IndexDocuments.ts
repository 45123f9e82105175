/** Text beyond is shown and not found. A tsvector holds 1 MB. */
const limits = { locales: 16, title: 500, description: 4000, codes: 20_000, names: 2000, values: 200 }

/**
 * A row per entity. Shoppers find it by `words`, staff also by the words of drafts in `staff_words`, null without
 * drafts. Text is sorted by bytes.
 */
const documents: ReadonlyArray<string> = [
  `create table search_documents (
    entity_id uuid primary key,
    organization_id text not null,
    is_public boolean not null,
    type text not null,
    status text not null,
    sort_title text collate "C" not null,
    categories text[] not null,
    brands text[] not null,
    attributes jsonb not null,
    title_words tsvector not null,
    words tsvector not null,
    staff_words tsvector
  )`,
  // A short list of pending entries: every search reads all of it.
  `create index search_documents_found on search_documents
    using gin (organization_id, words, categories, brands, attributes jsonb_path_ops) with (gin_pending_list_limit = 256)`,
  `create index search_documents_drafts on search_documents using gin (organization_id, staff_words)
    where staff_words is not null`
]

/**
 * Words to compare with typing errors. No unique index: a writer would wait for another with the same word. Duplicates
 * are fine.
 */
const vocabulary: ReadonlyArray<string> = [
  "create table search_vocabulary (organization_id text not null, word text not null, is_name boolean not null)",
  "create index search_vocabulary_words on search_vocabulary (organization_id, word)",
  `create index search_vocabulary_similar on search_vocabulary using gin (organization_id, word gin_trgm_ops)
    with (gin_pending_list_limit = 256) where is_name`
]

const attributeIndexes: ReadonlyArray<string> = [
  "create index entity_attributes_locale on entity_attributes (organization_id, locale)",
  `create index entity_attributes_titles on entity_attributes (organization_id, (search_sort(title) collate "C"))`
]

const normalized = (plain: string, source: string) =>
  `case when octet_length(${source}) = length(${source}) then ${plain} else search_normalize(${source}) end`

/** The words of all locales; `en` comes first, and its title is the entity's. */
const wordsOf = `select (array_agg(w.title order by w.place))[1] as title,
    string_agg(${normalized("w.plain_title", "w.short_title")}, ' ' order by w.place) as title_text,
    string_agg(${normalized("w.plain_body", "w.body")}, ' ') as body_text,
    search_concat(to_tsvector(w.configuration, w.plain_title)) as title_stems,
    search_concat(to_tsvector(w.configuration, w.plain_body)) as body_stems
  from (select b.*, search_plain(b.short_title) as plain_title, search_plain(b.body) as plain_body
    from (select title, search_configuration(locale) as configuration, left(title, ${limits.title}) as short_title,
        left(coalesce(subtitle, ''), ${limits.title}) || ' ' || left(coalesce(description, ''), ${limits.description}) as body,
        row_number() over (order by (locale = 'en') desc, locale collate "C") as place
      from entity_attributes where entity_id = e.id order by place limit ${limits.locales}) b
    offset 0) w`

/**
 * Values of `attr.<name>`: options of variants for sale, which are words as well, plain metadata, and filterable public
 * custom fields. `offset 0` makes each table look up its rows by key.
 */
const attributesOf =
  `select coalesce(jsonb_object_agg(n.name, n.held), '{}') as attributes, string_agg(n.words, ' ') as words
  from (select x.name, jsonb_agg(x.value order by x.value collate "C") as held,
      string_agg(x.value, ' ') filter (where x.is_option) as words
    from (select name, value, bool_or(is_option) as is_option from (
        select t.name, o.value, true as is_option from variants v
          cross join lateral (select option_value_id from variant_option_values where variant_id = v.id offset 0) l
          cross join lateral (select option_type_id, value from option_values where id = l.option_value_id offset 0) o
          cross join lateral (select name from option_types where id = o.option_type_id offset 0) t
        where v.entity_id = e.id and v.status = 'active'
        union all
        select m.key, m.value #>> '{}', false
        from jsonb_each(case when jsonb_typeof(e.metadata) = 'object' then e.metadata else '{}' end) m
        where jsonb_typeof(m.value) in ('string', 'number', 'boolean') and m.key <> 'downloadUrl'
          and m.key ~ '^[A-Za-z0-9_-]{1,64}$' and length(m.value #>> '{}') between 1 and ${limits.values}
        union all
        select d.name, f.value #>> '{}', false
        from entity_field_values f cross join lateral (select name from entity_field_definitions
          where id = f.definition_id and status = 'active' and is_filterable and is_public offset 0) d
        where f.entity_id = e.id and length(f.value #>> '{}') between 1 and ${limits.values}) every_value
      group by 1, 2 order by 1, 2 limit ${limits.values}) x
    group by 1) n`

const codesOf =
  `select coalesce(left(string_agg(concat_ws(' ', sku, barcode), ' ' order by sku), ${limits.codes}), '') as codes
  from variants where entity_id = e.id and status = 'active'`

const linksOf = (links: string, targets: string, column: string, words: string) =>
  `select coalesce(array_agg(t.slug order by t.slug collate "C"), '{}') as slugs, string_agg(${words}, ' ') as words
  from ${links} l cross join lateral (select * from ${targets}
    where id = l.${column} and organization_id = l.organization_id offset 0) t
  where l.entity_id = e.id and l.organization_id = e.organization_id`

const draftsOf = `select to_tsvector('simple', search_normalize(string_agg(w.body, ' ')))
    || search_concat(to_tsvector(search_configuration(w.locale), search_plain(w.body))) as words
  from (select locale, concat_ws(' ', left(changes->>'title', ${limits.title}), left(changes->>'subtitle', ${limits.title}),
      left(changes->>'description', ${limits.description})) as body
    from entity_attribute_drafts where entity_id = e.id order by locale collate "C" limit ${limits.locales}) w`

const build = `create function search_build(ids uuid[]) returns table (entity_id uuid, organization_id text,
    is_public boolean, type text, status text, sort_title text, categories text[], brands text[], attributes jsonb,
    title_words tsvector, words tsvector, staff_words tsvector, names text) language sql stable as $$
  select e.id, e.organization_id, e.status = 'active' and e.is_visible, e.type, e.status,
    search_sort(coalesce(t.title, e.slug)), c.slugs, b.slugs, a.attributes, titled.words, every.words,
    strip(every.words || drafts.words), left(names.known, ${limits.names})
  from catalog_entities e
  cross join lateral (${wordsOf}) t
  cross join lateral (${linksOf("entity_categories", "categories", "category_id", "t.slug")}) c
  cross join lateral (${linksOf("entity_brands", "brands", "brand_id", "concat_ws(' ', t.slug, t.display_name)")}) b
  cross join lateral (${codesOf}) v
  cross join lateral (${attributesOf}) a
  cross join lateral (${draftsOf}) drafts
  cross join lateral (select concat_ws(' ', t.title_text,
    search_normalize(concat_ws(' ', e.slug, c.words, b.words, a.words))) as known offset 0) names
  cross join lateral (select strip(to_tsvector('simple', coalesce(t.title_text, '')) || coalesce(t.title_stems, ''))
    as words offset 0) titled
  cross join lateral (select strip(to_tsvector('simple', concat_ws(' ', names.known, t.body_text, search_normalize(v.codes)))
    || coalesce(t.title_stems, '') || coalesce(t.body_stems, '')) as words offset 0) every
  where e.id = any(ids) $$`

const columns = ("organization_id is_public type status sort_title categories brands attributes title_words words " +
  "staff_words").split(" ")
const listed = (prefix = "") => columns.map((column) => prefix + column).join(", ")

/**
 * Updates these entities. Locks their documents first: the second of two writers builds from both changes. Planning
 * takes longer than the work: one plan is kept, with look-ups by key.
 */
const writing = (create: string, value: (column: string) => string) =>
  `${create} function search_index(ids uuid[]) returns void language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
    set jit = off as $$
  begin
    perform 1 from search_documents d where d.entity_id = any(ids) order by d.entity_id for update;
    delete from search_documents d where d.entity_id = any(ids)
      and not exists (select 1 from catalog_entities e where e.id = d.entity_id);
    with built as materialized (select * from search_build(ids)),
    written as (insert into search_documents as d (entity_id, ${listed()})
      select entity_id, ${listed()} from built order by entity_id
      on conflict (entity_id) do update set ${columns.map((column) => `${column} = ${value(column)}`).join(", ")}
        where (${listed("d.")}) is distinct from (${columns.map(value).join(", ")}))
    insert into search_vocabulary (organization_id, word, is_name)
      select w.organization_id, w.word, w.is_name from (
        select distinct b.organization_id, n.word, true as is_name
          from built b, regexp_split_to_table(b.names, ' +') n(word) where char_length(n.word) between 1 and 64
        union all
        select distinct b.organization_id, n.word, false
          from built b, unnest(tsvector_to_array(b.words)) n(word) where char_length(n.word) between 3 and 8) w
      where not exists (select 1 from search_vocabulary v
        where v.organization_id = w.organization_id and v.word = w.word and (v.is_name or not w.is_name));
  end $$`

const write = writing("create", (column) => `excluded.${column}`)

const withAdded: Readonly<Record<string, string>> = {
  attributes: "excluded.attributes || coalesce(d.added_attributes, '{}')",
  words: "excluded.words || coalesce(d.added_words, '')",
  staff_words: "excluded.staff_words || coalesce(d.added_words, '')"
}

/**
 * Additions of plugins, null without any: kept apart, so a change of the catalog keeps them. `sort_values` are numbers
 * by field.
 */
export const addedValues: ReadonlyArray<string> = [
  `alter table search_documents add column added_attributes jsonb, add column added_words tsvector,
    add column sort_values jsonb`,
  writing("create or replace", (column) => withAdded[column] ?? `excluded.${column}`)
]

export const declaredFields: ReadonlyArray<string> = [
  "create table search_fields (is_only boolean primary key default true check (is_only), fields jsonb not null)",
  "insert into search_fields (fields) values ('[]')"
]

export const indexDocuments: ReadonlyArray<string> = [...documents, ...vocabulary, ...attributeIndexes, build, write]
