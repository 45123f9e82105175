/**
 * How words are made comparable, in the database alone, so that what is stored and what is asked for go the same way:
 * small letters, punctuation to blanks (`search_plain`), and without accents (`search_fold`). Letters beyond ASCII are
 * lowered by a collation that knows them, because the embedded server sorts by bytes and its `lower` leaves them alone.
 */
const lowering = `do $$
  declare chosen text := (select collname from pg_collation
    where collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8') and collnamespace = 'pg_catalog'::regnamespace
      and collencoding in (-1, pg_char_to_encoding(getdatabaseencoding()))
    order by array_position(array['pg_c_utf8', 'und-x-icu', 'C.utf8']::name[], collname) limit 1);
  begin
    execute format('create function search_lower(source text) returns text language sql immutable strict parallel safe
      as %L', case when chosen is null then 'select lower(source)'
        else format('select lower(source collate %I)', chosen) end);
  end $$`

/** In one pass. Typographic marks by name: they are letters to a database that sorts by bytes. */
const plain = `create function search_plain(source text) returns text language sql immutable strict parallel safe as $$
    select regexp_replace(search_lower(source), '[[:punct:][:space:]’‘‚“”„«»‹›–—…·•\u00A0]+', ' ', 'g') $$`

const folding: ReadonlyArray<string> = [
  lowering,
  plain,
  `create function search_fold(source text) returns text language sql stable strict parallel safe as $$
    select search_plain(unaccent(source)) $$`,
  // What titles are sorted by and begin with: neither case nor accents count, punctuation does.
  `create function search_sort(title text) returns text language sql stable strict parallel safe as $$
    select left(ltrim(search_lower(unaccent(left(title, 500)))), 200) $$`
]

/** Languages that every PostgreSQL from 15 on stems; by the first part of a locale. */
const languages: Readonly<Record<string, string>> = {
  ar: "arabic",
  hy: "armenian",
  eu: "basque",
  ca: "catalan",
  da: "danish",
  nl: "dutch",
  en: "english",
  fi: "finnish",
  fr: "french",
  de: "german",
  el: "greek",
  hi: "hindi",
  hu: "hungarian",
  id: "indonesian",
  ga: "irish",
  it: "italian",
  lt: "lithuanian",
  ne: "nepali",
  nb: "norwegian",
  nn: "norwegian",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  es: "spanish",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish"
}

/** The text search configuration of a locale (`de`, `de-CH`, `de_CH`); `simple` for a language that is not known. */
const configuration = `create function search_configuration(locale text) returns regconfig
  language sql immutable strict parallel safe as $$
    select case lower(split_part(translate(locale, '_', '-'), '-', 1))
      ${
  Object.entries(languages).map(([code, name]) => `when '${code}' then 'pg_catalog.${name}'::regconfig`)
    .join(" ")
}
      else 'pg_catalog.simple'::regconfig end $$`

/**
 * What stands before words and marks of an organization in the index. Two organizations may have the same; their rows are
 * told apart by the column beside it.
 */
const owner =
  `create function search_owner(organization text) returns text language sql immutable strict parallel safe as $$
  select left(md5(organization), 6) || ':' $$`

/** Extensions that come with PostgreSQL and that the owner of a database may add, and the functions that compare words. */
export const comparableWords: ReadonlyArray<string> = [
  "create extension if not exists pg_trgm",
  "create extension if not exists unaccent",
  "create extension if not exists btree_gin",
  ...folding,
  configuration,
  owner,
  "create aggregate search_concat(tsvector) (sfunc = tsvector_concat, stype = tsvector, initcond = '')"
]
