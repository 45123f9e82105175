/**
 * Lower case by a collation that knows letters beyond ASCII: the embedded server compares bytes, and its default one does
 * not. `return` resolves names when the function is created, as functions in an index need it.
 */
const lower = `do $$
  begin
    execute format('create function search_lower(source text) returns text language sql immutable strict parallel safe
      return lower(source collate %I)', coalesce((select collname from pg_collation
        where collname in ('pg_c_utf8', 'und-x-icu', 'C.utf8') and collnamespace = 'pg_catalog'::regnamespace
          and collencoding in (-1, pg_char_to_encoding(getdatabaseencoding()))
        order by array_position(array['pg_c_utf8', 'und-x-icu', 'C.utf8']::name[], collname) limit 1), 'default'));
  end $$`

/** Typographic marks are listed: the class `punct` has them only where the database's locale does. */
const plain = `create function search_plain(source text) returns text language sql immutable strict parallel safe
  return regexp_replace(search_lower(source), '[[:punct:][:space:]’‘‚“”„«»‹›–—…·•\u00A0]+', ' ', 'g')`

const withoutAccents =
  `create function search_normalize(source text) returns text language sql stable strict parallel safe
  return search_plain(unaccent(source))`

/** What titles are sorted by and begin with: neither case nor accents count, punctuation does. */
const sortTitle = `create function search_sort(title text) returns text language sql immutable strict parallel safe
  return left(ltrim(search_lower(unaccent(left(title, 500)))), 200)`

/** Languages that every PostgreSQL from 15 on stems; by the first part of a locale. */
const languages = ("ar:arabic hy:armenian eu:basque ca:catalan da:danish nl:dutch en:english fi:finnish fr:french " +
  "de:german el:greek hi:hindi hu:hungarian id:indonesian ga:irish it:italian lt:lithuanian ne:nepali nb:norwegian " +
  "nn:norwegian no:norwegian pt:portuguese ro:romanian ru:russian sr:serbian es:spanish sv:swedish ta:tamil tr:turkish " +
  "yi:yiddish").split(" ").map((entry) => entry.split(":"))

/** The text search configuration of a locale (`de`, `de-CH`, `de_CH`); `simple` for other languages. */
const configuration = `create function search_configuration(locale text) returns regconfig
  language sql immutable strict parallel safe as $$
    select case lower(split_part(translate(locale, '_', '-'), '-', 1))
      ${languages.map(([code, name]) => `when '${code}' then 'pg_catalog.${name}'::regconfig`).join(" ")}
      else 'pg_catalog.simple'::regconfig end $$`

/** Extensions that the owner of a database may add, and functions that normalize text of documents and queries alike. */
export const normalization: ReadonlyArray<string> = [
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
