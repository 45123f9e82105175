import { builtInDepth } from "./DocumentsRepo.ts"

/**
 * What a search reads of each document that it finds comes first, and the words of it last and, as a rule, elsewhere:
 * after the index has answered nobody reads them, and they were two thirds of a row. PostgreSQL looks for a place elsewhere
 * only when a row is over 2 kB or has something elsewhere already; `ballast` makes it so, blanks that take 18 bytes once
 * they are put away, and updates keep them where they are. The target is below the size of any row, so that they are put
 * away also from one that has no words yet. Columns that are read stay in the row (`main`).
 */
const table = `create table search_documents_narrow (
    doc bigint not null generated always as identity unique,
    cell bigint not null,
    is_public boolean not null,
    title_words tsvector not null,
    sort_title text collate "C" not null,
    organization_id text not null,
    entity_id uuid not null,
    type text not null,
    status text not null,
    categories text[] not null,
    brands text[] not null,
    attributes jsonb not null,
    marks text[] not null,
    names text not null,
    words tsvector not null,
    staff_words tsvector,
    ballast text not null default repeat(' ', 2100),
    primary key (entity_id, organization_id)
  ) with (toast_tuple_target = 128)`

const read = ["title_words", "sort_title", "organization_id", "type", "status", "categories", "brands", "attributes"]
const aside = ["names", "words", "staff_words"]

const storages = (columns: ReadonlyArray<string>, storage: string) =>
  columns.map((column) => `alter column ${column} set storage ${storage}`).join(", ")

const columns = [...read, "cell", "is_public", "entity_id", "marks", "names", "words"].join(", ")

/** Words that only the staff finds stood beside those of every document, and not of those alone whose drafts wait. */
const copied = `insert into search_documents_narrow (${columns}, staff_words)
  select ${columns}, case when exists (select 1 from entity_attribute_drafts a where a.entity_id = d.entity_id)
    then staff_words end
  from search_documents d order by doc`

const indexes: ReadonlyArray<string> = [
  `create index search_documents_words on search_documents using gin (organization_id, words, marks)
    with (gin_pending_list_limit = 256)`,
  `create index search_documents_names on search_documents using gin (organization_id, names gin_trgm_ops)
    with (gin_pending_list_limit = 256)`,
  `create index search_documents_titles on search_documents (organization_id, sort_title, doc)
    include (is_public, type, status)`,
  "create index search_documents_cells on search_documents (organization_id, cell, is_public, doc)",
  `create index search_documents_staff on search_documents using gin (organization_id, staff_words)
    with (gin_pending_list_limit = 256) where staff_words is not null`
]

/**
 * Documents in rows of a third of the size, copied from those that are there: nothing is built anew. Writers of the catalog
 * and searches wait meanwhile, a quarter of a minute for 100,000.
 */
export const narrow: ReadonlyArray<string> = [
  "lock table search_documents in access exclusive mode",
  table,
  `alter table search_documents_narrow ${storages([...read, "marks"], "main")}, ${storages(aside, "external")}`,
  copied,
  "drop table search_documents",
  "alter table search_documents_narrow rename to search_documents",
  "alter index search_documents_narrow_pkey rename to search_documents_pkey",
  "alter index search_documents_narrow_doc_key rename to search_documents_doc_key",
  ...indexes,
  builtInDepth,
  "analyze search_documents"
]
