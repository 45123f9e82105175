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

/** Values of public custom fields that are filtered by. */
const customFields = `select d.name, f.value #>> '{}' as value, false as is_option
        from entity_field_values f cross join lateral (select name from entity_field_definitions
          where id = f.definition_id and status = 'active' and is_filterable and is_public offset 0) d
        where f.entity_id = e.id and length(f.value #>> '{}') between 1 and ${limits.values}`

/**
 * What a filter `attr.<name>` finds: options of its variants for sale, whose values are words to be found as well, plain
 * values of its metadata, and custom fields.
 */
const attributes = `select coalesce(jsonb_object_agg(n.name, n.held), '{}') as attributes,
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
        union all
        ${customFields}) every_value group by 1, 2 order by 1, 2 limit ${limits.values}) x
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

/** Words that wait for approval, which only those who keep the catalog find; null where none wait. */
const draftWords = `select string_agg(search_fold(w.body), ' ') as folded,
    search_concat(to_tsvector(search_configuration(w.locale), search_plain(w.body))) as stems
  from (select locale, concat_ws(' ', left(changes->>'title', ${limits.title}), left(changes->>'subtitle', ${limits.title}),
      left(changes->>'description', ${limits.description})) as body
    from entity_attribute_drafts where entity_id = e.id order by locale collate "C" limit ${limits.locales}) w`

/** Words as they stand in the index: after their owner, those of titles a second time, and those of drafts as such. */
const owned =
  `create function search_owned(owner text, words tsvector, titled tsvector, drafted tsvector) returns tsvector
    language sql immutable as $$
  select array_to_tsvector(array(select owner || word from unnest(tsvector_to_array(words)) word)
    || array(select owner || '=' || word from unnest(tsvector_to_array(titled)) word)
    || array(select owner || '~' || word from unnest(tsvector_to_array(drafted)) word)) $$`

/**
 * What the index says of these entities, made from the catalog alone: the same whenever and however often it is asked.
 * Without drafts nothing is taken apart for them: reading the words of a thing is most of the work of its document.
 */
const built =
  `create function search_build(ids uuid[]) returns table (organization_id text, entity_id uuid, cell bigint,
    shade bigint, is_public boolean, type text, status text, sort_title text, categories text[], brands text[],
    attributes jsonb, marks text[], title_words tsvector, names text, words tsvector)
    language sql stable as $$
  select e.organization_id, e.id,
    hashtextextended(jsonb_build_array(e.organization_id, seen.is_public, e.type, e.status, c.slugs, b.slugs)::text, 0),
    hashtextextended(jsonb_build_array(e.organization_id, seen.is_public, a.attributes)::text, 0), seen.is_public, e.type, e.status,
    search_sort(coalesce(t.title, e.slug)), c.slugs, b.slugs, a.attributes,
    array(select o.name || mark from unnest(array['t:' || e.type, 's:' || e.status]
      || array(select 'c:' || slug from unnest(c.slugs) slug) || array(select 'b:' || slug from unnest(b.slugs) slug)
      || array(select 'a:' || left(n.key || '=' || v, ${limits.mark})
        from jsonb_each(a.attributes) n, jsonb_array_elements_text(n.value) v)) mark),
    titled.words, left(names.known, ${limits.names}),
    search_owned(o.name, to_tsvector('simple', concat_ws(' ', names.known, t.folded_body, search_fold(v.codes)))
      || coalesce(t.title_stems, '') || coalesce(t.body_stems, ''), titled.words,
      case when drafts.folded is null then '' else to_tsvector('simple', drafts.folded) || drafts.stems end)
  from catalog_entities e
  cross join lateral (${wordsOf}) t
  cross join lateral (${linksOf("entity_categories", "categories", "category_id", "t.slug")}) c
  cross join lateral (${linksOf("entity_brands", "brands", "brand_id", "concat_ws(' ', t.slug, t.display_name)")}) b
  cross join lateral (${codesOf}) v
  cross join lateral (${attributes}) a
  cross join lateral (${draftWords}) drafts
  cross join lateral (select concat_ws(' ', t.folded_title,
    search_fold(concat_ws(' ', e.slug, c.words, b.words, a.words))) as known offset 0) names
  cross join lateral (select strip(to_tsvector('simple', coalesce(t.folded_title, '')) || coalesce(t.title_stems, ''))
    as words offset 0) titled
  cross join lateral (select search_owner(e.organization_id) as name offset 0) o
  cross join lateral (select e.status = 'active' and e.is_visible as is_public) seen
  where e.id = any(ids) $$`

const titlesBuilt =
  `create function search_titles_build(ids uuid[]) returns table (organization_id text, entity_id uuid,
    locale text, is_public boolean, type text, sort_title text, title text) language sql stable as $$
  select e.organization_id, e.id, a.locale, e.status = 'active' and e.is_visible, e.type,
    search_sort(a.title), left(a.title, ${limits.title})
  from catalog_entities e join entity_attributes a on a.entity_id = e.id where e.id = any(ids) $$`

/** What the index says of an entity: its document, and its titles. */
export const builtDocuments: ReadonlyArray<string> = [owned, built, titlesBuilt]
