import { plain } from "./FoldingRepo.ts"

/**
 * The tables of the index. Keys begin with the entity, so that no other index can serve a look-up by it. `doc` is a short name of a document inside of statements; `cell` is the same for all documents
 * with one type, status, categories and brands, so that facets are counted by groups and not row by row; `marks` are
 * what filters ask for. Ordered text is compared by bytes, so that its indexes serve any database.
 */
const tables: ReadonlyArray<string> = [
  `create table search_documents (
    organization_id text not null,
    entity_id uuid not null,
    doc bigint not null generated always as identity unique,
    cell bigint not null,
    is_public boolean not null,
    type text not null,
    status text not null,
    sort_title text collate "C" not null,
    categories text[] not null,
    brands text[] not null,
    attributes jsonb not null,
    marks text[] not null,
    title_words tsvector not null,
    names text not null,
    words tsvector not null,
    primary key (entity_id, organization_id)
  )`,
  // The many words lie aside: counting and sorting read rows, and only the index knows what the words are.
  "alter table search_documents alter column words set storage external, alter column names set storage external",
  "alter table search_documents set (toast_tuple_target = 256)",
  // A short list of what is not sorted in yet: readers go through all of it.
  `create index search_documents_words on search_documents using gin (organization_id, words, marks)
    with (gin_pending_list_limit = 256)`,
  `create index search_documents_names on search_documents using gin (organization_id, names gin_trgm_ops)
    with (gin_pending_list_limit = 256)`,
  `create index search_documents_titles on search_documents (organization_id, sort_title, doc)
    include (is_public, type, status)`,
  "create index search_documents_cells on search_documents (organization_id, cell, is_public, doc)",
  `create table search_titles (
    organization_id text not null,
    entity_id uuid not null,
    locale text not null,
    is_public boolean not null,
    type text not null,
    sort_title text collate "C" not null,
    title text not null,
    primary key (entity_id, locale, organization_id)
  )`,
  `create index search_titles_all on search_titles (organization_id, sort_title) include (type)`,
  `create index search_titles_public on search_titles (organization_id, sort_title) include (type) where is_public`
]

/** How much of an entity is searched: what is beyond is shown and not found. A tsvector holds 1 MB. */
const limits = { locales: 16, title: 500, description: 4000, codes: 20_000, names: 2000, mark: 300, values: 200 }

/** Without accents; text of ASCII alone has none, and is not gone through a second time. */
const folded = (plain: string, source: string) =>
  `case when octet_length(${source}) = length(${source}) then ${plain} else search_fold(${source}) end`

/**
 * The words of an entity: `en` first, whose title stands for it, then by name of the locale. Each text is made comparable
 * once (`offset 0` keeps a query from being put in place of its columns, as often as they are named).
 */
const wordsOf = `select (array_agg(w.title order by w.place))[1] as title,
    string_agg(${folded("w.plain_title", "w.short_title")}, ' ' order by w.place) as folded_title,
    string_agg(${folded("w.plain_body", "w.body")}, ' ') as folded_body,
    search_concat(to_tsvector(w.configuration, w.plain_title)) as title_stems,
    search_concat(to_tsvector(w.configuration, w.plain_body)) as body_stems
  from (select b.*, search_plain(b.short_title) as plain_title, search_plain(b.body) as plain_body
    from (select a.title, search_configuration(a.locale) as configuration, left(a.title, ${limits.title}) as short_title,
        left(a.subtitle, ${limits.title}) || ' ' || left(a.description, ${limits.description}) as body,
        row_number() over (order by (a.locale = 'en') desc, a.locale collate "C") as place
      from (select locale, title, coalesce(subtitle, '') as subtitle, coalesce(description, '') as description
        from entity_attributes where entity_id = e.id order by (locale = 'en') desc, locale collate "C"
        limit ${limits.locales}) a) b
    offset 0) w`

/**
 * What a filter `attr.<name>` finds: options of its variants for sale, and plain values of its metadata, and of `more`:
 * further queries for name, value and whether they are words to be found as well.
 */
const attributesOf = (more: string) =>
  `select coalesce(jsonb_object_agg(n.name, n.held), '{}') as attributes,
    string_agg(n.words, ' ') as words
  from (select x.name, jsonb_agg(x.value order by x.value collate "C") as held,
      string_agg(x.value, ' ') filter (where x.is_option) as words
    from (select name, value, bool_or(is_option) as is_option from (
        select t.name, o.value, true as is_option from variants v
          cross join lateral (select option_value_id from variant_option_values
            where variant_id = v.id offset 0) l
          cross join lateral (select option_type_id, value from option_values where id = l.option_value_id offset 0) o
          cross join lateral (select name from option_types where id = o.option_type_id offset 0) t
        where v.entity_id = e.id and v.status = 'active'
        union all
        select m.key, m.value #>> '{}', false
        from jsonb_each(case when jsonb_typeof(e.metadata) = 'object' then e.metadata else '{}' end) m
        where jsonb_typeof(m.value) in ('string', 'number', 'boolean') and m.key <> 'downloadUrl'
          and m.key ~ '^[A-Za-z0-9_-]{1,64}$' and m.value #>> '{}' <> ''
          and length(m.value #>> '{}') <= ${limits.values}
        ${more}) every_value group by 1, 2 order by 1, 2 limit ${limits.values}) x
    group by 1) n`

const codesOf =
  `select coalesce(left(string_agg(concat_ws(' ', v.sku, v.barcode), ' ' order by v.sku), ${limits.codes}), '')
    as codes
  from variants v where v.entity_id = e.id and v.status = 'active'`

const linksOf = (links: string, targets: string, column: string, more: string) =>
  `select coalesce(array_agg(t.slug order by t.slug collate "C"), '{}') as slugs, string_agg(${more}, ' ') as words
  from ${links} l cross join lateral (select * from ${targets}
    where id = l.${column} and organization_id = l.organization_id offset 0) t
  where l.entity_id = e.id and l.organization_id = e.organization_id`

/** What the index says of these entities, made from the catalog alone: the same whenever and however often it is asked. */
const built = (attributes: string, ofStaff = { column: "", value: "", from: "" }) =>
  `create or replace function search_build(ids uuid[]) returns table (organization_id text, entity_id uuid, cell bigint,
    is_public boolean, type text, status text, sort_title text, categories text[], brands text[], attributes jsonb,
    marks text[], title_words tsvector, names text, words tsvector${ofStaff.column}) language sql stable as $$
  select e.organization_id, e.id,
    hashtextextended(jsonb_build_array(e.type, e.status, c.slugs, b.slugs)::text, 0),
    e.status = 'active' and e.is_visible, e.type, e.status,
    search_sort(coalesce(t.title, e.slug)), c.slugs, b.slugs, a.attributes,
    array(select 'c:' || slug from unnest(c.slugs) slug) || array(select 'b:' || slug from unnest(b.slugs) slug)
      || array(select 'a:' || left(n.key || '=' || v, ${limits.mark})
        from jsonb_each(a.attributes) n, jsonb_array_elements_text(n.value) v),
    strip(to_tsvector('simple', coalesce(t.folded_title, '')) || coalesce(t.title_stems, '')),
    left(names.known, ${limits.names}),
    strip(to_tsvector('simple', concat_ws(' ', names.known, t.folded_body, search_fold(v.codes)))
      || coalesce(t.title_stems, '') || coalesce(t.body_stems, ''))${ofStaff.value}
  from catalog_entities e
  cross join lateral (${wordsOf}) t
  cross join lateral (${linksOf("entity_categories", "categories", "category_id", "t.slug")}) c
  cross join lateral (${linksOf("entity_brands", "brands", "brand_id", "concat_ws(' ', t.slug, t.display_name)")}) b
  cross join lateral (${codesOf}) v
  cross join lateral (${attributes}) a${ofStaff.from}
  cross join lateral (select concat_ws(' ', t.folded_title,
    search_fold(concat_ws(' ', e.slug, c.words, b.words, a.words))) as known offset 0) names
  where e.id = any(ids) $$`

const titlesBuilt =
  `create function search_titles_build(ids uuid[]) returns table (organization_id text, entity_id uuid,
    locale text, is_public boolean, type text, sort_title text, title text) language sql stable as $$
  select e.organization_id, e.id, a.locale, e.status = 'active' and e.is_visible, e.type,
    search_sort(a.title), left(a.title, ${limits.title})
  from catalog_entities e join entity_attributes a on a.entity_id = e.id where e.id = any(ids) $$`

const firstColumns = [
  "cell",
  "is_public",
  "type",
  "status",
  "sort_title",
  "categories",
  "brands",
  "attributes",
  "marks"
]
  .concat("title_words", "names", "words")

/**
 * Brings these entities up to date in the index. Their documents are locked first, in the order of their ids: of two
 * transactions that change parts of one entity the second waits here, and then builds what both of them made. The rows of
 * the entities themselves would not do, because writers hold weaker locks on those already and would wait for one another.
 * Planning it anew each time costs three times what it does, so its plan is kept, and held to keys: one that is made
 * while the tables are empty is right when they have grown, because every step of it has one index that can serve it.
 */
const indexed = (columns: ReadonlyArray<string>) => {
  const listed = (prefix: string) => columns.map((column) => `${prefix}${column}`).join(", ")
  return `create or replace function search_index(ids uuid[]) returns void language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
  begin
    perform 1 from search_documents d where d.entity_id = any(ids) order by d.entity_id for update;
    insert into search_documents as d (organization_id, entity_id, ${listed("")})
      select organization_id, entity_id, ${listed("")} from search_build(ids)
      on conflict (organization_id, entity_id) do update
        set ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}
        where (${listed("d.")}) is distinct from (${listed("excluded.")});
    delete from search_titles t where t.entity_id = any(ids)
      and not exists (select 1 from entity_attributes a where a.entity_id = t.entity_id and a.locale = t.locale);
    insert into search_titles as t (organization_id, entity_id, locale, is_public, type, sort_title, title)
      select organization_id, entity_id, locale, is_public, type, sort_title, title from search_titles_build(ids)
      on conflict (organization_id, entity_id, locale) do update
        set is_public = excluded.is_public, type = excluded.type, sort_title = excluded.sort_title,
          title = excluded.title
        where (t.is_public, t.type, t.sort_title, t.title)
          is distinct from (excluded.is_public, excluded.type, excluded.sort_title, excluded.title);
  end $$`
}

/** Tables of the index, what it says of an entity, and the one function that writes it. */
export const documents: ReadonlyArray<string> = [
  ...tables,
  built(attributesOf("")),
  titlesBuilt,
  indexed(firstColumns)
]

/** Everything that is there already. */
export const firstFill = "select search_index(array(select id from catalog_entities order by id))"

/** Values of public custom fields that are filtered by. */
const customFields = `union all
        select d.name, f.value #>> '{}', false
        from entity_field_values f cross join lateral (select name from entity_field_definitions
          where id = f.definition_id and status = 'active' and is_filterable and is_public offset 0) d
        where f.entity_id = e.id and length(f.value #>> '{}') between 1 and ${limits.values}`

/** Words that wait for approval, which only those who keep the catalog find; null where none wait. */
const draftWords = `select string_agg(search_fold(w.body), ' ') as folded,
    search_concat(to_tsvector(search_configuration(w.locale), search_plain(w.body))) as stems
  from (select locale, concat_ws(' ', left(changes->>'title', ${limits.title}), left(changes->>'subtitle', ${limits.title}),
      left(changes->>'description', ${limits.description})) as body
    from entity_attribute_drafts where entity_id = e.id order by locale collate "C" limit ${limits.locales}) w`

/** Without drafts nothing is taken apart for them: reading the words of a thing is most of the work of its document. */
export const builtInDepth = built(attributesOf(customFields), {
  column: ", staff_words tsvector",
  value:
    `, case when drafts.folded is not null then strip(to_tsvector('simple', concat_ws(' ', names.known, t.folded_body,
        search_fold(v.codes), drafts.folded)) || coalesce(t.title_stems, '') || coalesce(t.body_stems, '') || drafts.stems)
      end`,
  from: ` cross join lateral (${draftWords}) drafts`
})

/**
 * The index with custom fields in its attributes and, in a column of their own, with the words that drafts add: what
 * shoppers search stays as it was. Documents that are there already have neither, and nothing that would go into them.
 */
export const depth: ReadonlyArray<string> = [
  "alter table search_documents add column staff_words tsvector",
  "alter table search_documents alter column staff_words set storage external",
  `create index search_documents_staff on search_documents using gin (organization_id, staff_words)
    with (gin_pending_list_limit = 256) where staff_words is not null`,
  "drop function search_build(uuid[])",
  builtInDepth,
  indexed([...firstColumns, "staff_words"])
]

/** For databases that built the same documents with more work. */
export const lessWork: ReadonlyArray<string> = [plain, builtInDepth]
