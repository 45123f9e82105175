/**
 * What an earlier layout of the index has left. Everything here is made from the catalog, so a new layout is not led over
 * from the old one but built anew: 100,000 products take about a minute, in which writers of the catalog wait.
 */
const removed = `do $$
  declare one text;
  begin
    drop table if exists search_documents, search_words, search_titles, search_vocabulary, search_changes,
      search_former cascade;
    -- By name, because some go along with others.
    foreach one in array array(select oid::regprocedure::text from pg_proc
      where pronamespace = current_schema()::regnamespace and starts_with(proname, 'search_'))
    loop
      execute 'drop routine if exists ' || one || ' cascade';
    end loop;
  end $$`

/**
 * What is shown and counted of an entity. Keys begin with the entity, so that no other index can serve a look-up by it.
 * `doc` is a short name of a document inside of statements; `cell` is the same for all documents of an organization with one
 * type, status, categories and brands that the same people may see, so that facets are counted, and tenants told apart, by
 * groups and not row by row; and `shade` for all with the same attributes. Ordered text is compared by bytes, so that its
 * indexes serve any database. Vacuumed after each hundredth: an index alone counts the documents of a whole catalog only where
 * the pages of their rows are known to hold nothing else, and it takes twice as long after 2,000 changes here and there.
 */
const documents: ReadonlyArray<string> = [
  "create sequence if not exists search_docs",
  `create table search_documents (
    doc bigint not null unique,
    cell bigint not null,
    is_public boolean not null,
    organization_id text not null,
    entity_id uuid not null,
    type text not null,
    status text not null,
    sort_title text collate "C" not null,
    title_words tsvector not null,
    categories text[] not null,
    brands text[] not null,
    attributes jsonb not null,
    primary key (entity_id, organization_id)
  ) with (autovacuum_vacuum_scale_factor = 0.01)`,
  `create index search_documents_titles on search_documents (organization_id, sort_title, doc)
    include (is_public, type, status)`,
  "create index search_documents_cells on search_documents (organization_id, cell, is_public, doc)"
]

/**
 * What an entity is found by: its words (those of its titles a second time, with `=` before them, and with `~` those that wait for approval) and `marks`, which are what
 * filters ask for. Before each stands a short name of the organization (`search_owner`), so that the index has the words of
 * organizations apart; as a column of its own it would be one more list to go through for every search, the longest. A search for a usual word reads half of these rows, so they are short: beside the index, which alone
 * knows the words, they hold no more than the groups of a document and its place in the order. The words lie elsewhere.
 * PostgreSQL looks for a place elsewhere only when a row is over 2 kB or has something elsewhere already; `ballast` makes
 * it so, blanks that take 18 bytes once they are put away, and updates keep them where they are. The target is below the
 * size of any row, so that they are put away also from one that has no words yet. What is read stays (`main`).
 */
const words: ReadonlyArray<string> = [
  `create table search_words (
    doc bigint not null,
    cell bigint not null,
    shade bigint not null,
    is_public boolean not null,
    sort_title text collate "C" not null,
    organization_id text not null,
    entity_id uuid not null,
    marks text[] not null,
    words tsvector not null,
    ballast text not null default repeat(' ', 2100),
    primary key (entity_id, organization_id)
  ) with (toast_tuple_target = 128)`,
  `alter table search_words alter column sort_title set storage main, alter column organization_id set storage main,
    alter column marks set storage external, alter column words set storage external`,
  // A short list of what is not sorted in yet: readers go through all of it.
  `create index search_words_found on search_words using gin (words, marks)
    with (gin_pending_list_limit = 256)`
]

const titles: ReadonlyArray<string> = [
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

/**
 * The words that there are, for typing errors: those of names, and others that are short. A word stays when nothing has it
 * any more. Nothing keeps one from standing here twice, so that nobody who writes the catalog waits for another one who
 * brings the same word.
 */
const vocabulary: ReadonlyArray<string> = [
  "create table search_vocabulary (organization_id text not null, word text not null, is_name boolean not null)",
  "create index search_vocabulary_words on search_vocabulary (organization_id, word)",
  `create index search_vocabulary_likes on search_vocabulary using gin (organization_id, word gin_trgm_ops)
    with (gin_pending_list_limit = 256) where is_name`
]

/**
 * The transactions that have changed what searches find: a row for each, written where the index is. Who remembers an answer
 * sees by them whether it still holds (`KnownAnswerRepo`). A counter would do too, and would have all writers of an
 * organization wait for one another. `is_told`: each document that it changed is in `search_former`.
 */
const changes = `create table search_changes (
    organization_id text not null,
    xid xid8 not null default pg_current_xact_id(),
    is_told boolean not null default false,
    primary key (organization_id, xid)
  )`

/**
 * Documents as they were before a transaction changed them, by which a remembered answer is brought up to date
 * (`ChangedAnswerRepo`); without words where there was none before. `change` says in which order a document was changed:
 * who changes one has locked it, and the numbers of transactions have another order than their ends.
 */
const former = `create table search_former (
    organization_id text not null,
    xid xid8 not null default pg_current_xact_id(),
    entity_id uuid not null,
    change bigint not null generated always as identity,
    is_public boolean,
    type text,
    status text,
    categories text[],
    brands text[],
    attributes jsonb,
    marks text[],
    words tsvector,
    primary key (organization_id, xid, entity_id)
  )`

/** The languages of an organization are found by it. */
const locales = "create index if not exists entity_attributes_locale on entity_attributes (organization_id, locale)"

/** The tables of the index, empty. */
export const indexTables: ReadonlyArray<string> = [
  ...documents,
  ...words,
  ...titles,
  ...vocabulary,
  changes,
  former,
  locales
]

/** Whatever there was before. */
export const formerIndex: ReadonlyArray<string> = [removed]
