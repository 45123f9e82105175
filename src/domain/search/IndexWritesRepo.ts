const shown = ["cell", "is_public", "type", "status", "sort_title", "title_words", "categories", "brands", "attributes"]
const found = ["cell", "shade", "is_public", "sort_title", "marks", "words"]

const listed = (columns: ReadonlyArray<string>, prefix = "") => columns.map((column) => prefix + column).join(", ")

/** Writes rows that are new or different; one that is the same costs no write. */
const upserted = (table: string, columns: ReadonlyArray<string>) =>
  `insert into ${table} as d (doc, organization_id, entity_id, ${listed(columns)})
      select doc, organization_id, entity_id, ${listed(columns)} from numbered
      on conflict (entity_id, organization_id) do update
        set ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}
        where (${listed(columns, "d.")}) is distinct from (${listed(columns, "excluded.")})`

/** Of so many documents in one statement it is told what they were; one for many more is a bulk change, and says only that. */
const mostTold = 100

/** Whether the change of these documents, an expression for an array of ids, is told one by one. */
const isTold = (ids: string) => `cardinality(${ids}) <= ${mostTold}`

/**
 * Says in `search_changes` that this transaction has changed what is found in these organizations, a query. It says so
 * of every document that is looked at again, also of one that stays as it was: with its words a language may have come, in
 * which words are asked for from now on. All that a transaction changes is told, or none of it counts as told.
 */
const noted = (organizations: string, ids: string) =>
  `insert into search_changes as c (organization_id, is_told)
      select distinct organization_id, ${isTold(ids)} from ${organizations}
      on conflict (organization_id, xid) do update set is_told = false where c.is_told and not excluded.is_told`

const told = ["is_public", "type", "status", "categories", "brands", "attributes"]

/**
 * Writes down what documents were: `keys`, a query for the organizations and entities of those that change. The first time in
 * a transaction counts, and whoever calls it has locked the documents, so that nobody else's change comes between. By the
 * entity alone (`offset 0`): asked for the organization too, a young table is gone through by an index that begins with it.
 */
const written = (keys: string, ids: string) =>
  `insert into search_former (organization_id, entity_id, ${listed(told)}, marks, words)
      select k.organization_id, k.entity_id, ${listed(told, "d.")}, w.marks, w.words from (${keys}) k
        left join lateral (select * from search_documents where entity_id = k.entity_id offset 0) d
          on d.organization_id = k.organization_id
        left join lateral (select * from search_words where entity_id = d.entity_id offset 0) w
          on w.organization_id = d.organization_id
      where ${isTold(ids)} on conflict do nothing`

/** The change of documents as parts of a statement: `keys` is a query for their organizations and entities, `ids` has them all. */
export const recorded = (keys: string, ids: string) =>
  `noted as (${noted(`(${keys}) changed`, ids)}), former as (${written(keys, ids)})`

/** Words of names, and words that a slip may have been made of (see `search_slips`), which no one has written down yet. */
const learned = `insert into search_vocabulary (organization_id, word, is_name)
      select w.organization_id, w.word, w.is_name from (
        select distinct b.organization_id, n.word, true as is_name
          from built b, regexp_split_to_table(b.names, ' +') n(word) where char_length(n.word) between 1 and 64
        union all
        select distinct b.organization_id, n.word, false
          from built b, unnest(tsvector_to_array(b.words)) o(word),
            substr(o.word, char_length(search_owner(b.organization_id)) + 1) n(word)
          where char_length(n.word) between 3 and 8 and n.word !~ '^[=~]') w
      where not exists (select 1 from search_vocabulary v
        where v.organization_id = w.organization_id and v.word = w.word and (v.is_name or not w.is_name))`

/**
 * Brings these entities up to date in the index. Their documents are locked first, in the order of their ids: of two
 * transactions that change parts of one entity the second waits here, and then builds what both of them made. The rows of
 * the entities themselves would not do, because writers hold weaker locks on those already and would wait for one another.
 * Planning it anew each time costs three times what it does, so its plan is kept, and held to keys: one that is made
 * while the tables are empty is right when they have grown, because every step of it has one index that can serve it.
 */
const indexed = `create function search_index(ids uuid[]) returns void language plpgsql
    set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
    set jit = off as $$
  begin
    perform 1 from search_documents d where d.entity_id = any(ids) order by d.entity_id for update;
    with built as materialized (select * from search_build(ids)),
    numbered as materialized (select b.*, coalesce((select d.doc from (select * from search_documents
          where entity_id = b.entity_id offset 0) d where d.organization_id = b.organization_id), nextval('search_docs')) as doc
      from built b order by b.entity_id),
    shown as (${upserted("search_documents", shown)}),
    found as (${upserted("search_words", found)}),
    ${recorded("select organization_id, entity_id from numbered", "ids")}
    ${learned};
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

/** The one function that writes the index. */
export const indexWrites: ReadonlyArray<string> = [indexed]

/** Everything that is there already. */
export const firstFill = "select search_index(array(select id from catalog_entities order by id))"
