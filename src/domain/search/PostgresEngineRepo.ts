import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { type Found, SearchEngine } from "./SearchEngine.ts"
import type { SearchQuery, SuggestionQuery } from "./SearchQuery.ts"
import { searchStatement } from "./SearchStatementRepo.ts"

/**
 * Connections whose statements are planned for the values they come with: how many documents a word or a category has
 * decides by which index they are found. Where a process has none, its ordinary client does.
 */
export class SearchSql extends Context.Service<SearchSql, SqlClient.SqlClient>()(
  "stoa/domain/search/SearchSql"
) {}

const make = (sql: SqlClient.SqlClient): SearchEngine["Service"] => {
  const search = Effect.fn("PostgresEngineRepo.search")(function*(query: SearchQuery, publicOnly: boolean) {
    const organization = yield* currentOrganization
    const ask = (isForgiving: boolean) =>
      Effect.map(
        searchStatement(sql, { organization, query, publicOnly, isForgiving }),
        ([row]): Found => ({
          hits: row?.hits ?? [],
          total: Number(row?.total ?? 0),
          facets: row?.facets ?? {}
        })
      )
    const strict = yield* ask(false)
    // Typing errors are forgiven only to those who would find nothing: nobody gets likes beside what he asked for.
    return strict.total === 0 && query.q !== undefined ? yield* ask(true) : strict
  }, Effect.orDie)

  const suggest = Effect.fn("PostgresEngineRepo.suggest")(function*(query: SuggestionQuery, publicOnly: boolean) {
    const organization = yield* currentOrganization
    const clauses = [sql`t.organization_id = ${organization}`]
    if (publicOnly) clauses.push(sql`t.is_public`)
    if (query.type !== undefined) clauses.push(sql`t.type = ${query.type}`)
    if (query.locales !== undefined) {
      const place = (row: string) => sql`array_position(${query.locales}::text[], ${sql.literal(`${row}.locale`)})`
      clauses.push(sql`t.locale = any(${query.locales}::text[]) and not exists (select 1 from search_titles b
        where b.organization_id = t.organization_id and b.entity_id = t.entity_id and ${place("b")} < ${place("t")})`)
    }
    // From the prefix to the last text that begins with it: a range of the index, whatever the prefix is.
    const rows = yield* sql<{ readonly title: string }>`with asked as materialized (
        select search_sort(${query.prefix}) as prefix)
      select distinct on (t.sort_title, t.title) t.title from search_titles t where ${sql.and(clauses)}
        and t.sort_title >= (select prefix from asked) and t.sort_title < (select prefix || chr(1114111) from asked)
        and (select prefix from asked) <> ''
      order by t.sort_title, t.title limit ${query.limit}`
    return rows.map(({ title }) => title)
  }, Effect.orDie)

  return { search, suggest }
}

/** The built-in engine: the index that triggers keep in PostgreSQL (docs/search.md). */
export const postgresEngineLayer = Layer.effect(
  SearchEngine,
  Effect.gen(function*() {
    const ordinary = yield* SqlClient.SqlClient
    return make(Option.getOrElse(yield* Effect.serviceOption(SearchSql), () => ordinary))
  })
)
