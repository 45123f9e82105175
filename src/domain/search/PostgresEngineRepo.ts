import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { decoding } from "../platform/records/Rows.ts"
import { type Found, SearchEngine } from "./SearchEngine.ts"
import type { SearchQuery, SuggestionQuery } from "./SearchQuery.ts"
import { searchStatement } from "./SearchStatements.ts"

/**
 * Connections that plan statements for their parameters: rare and frequent filters need different indexes. Default: the
 * ordinary client.
 */
export class SearchSql extends Context.Service<SearchSql, SqlClient.SqlClient>()(
  "stoa/domain/search/SearchSql"
) {}

const make = (sql: SqlClient.SqlClient): SearchEngine["Service"] => {
  const find = Effect.fnUntraced(function*(query: SearchQuery, publicOnly: boolean, isForgiving: boolean) {
    const organization = yield* currentOrganization
    const [row] = yield* searchStatement(sql, { organization, query, publicOnly, isForgiving })
    const found: Found = { hits: row?.hits ?? [], total: Number(row?.total ?? 0), facets: row?.facets ?? {} }
    return found
  })

  const search = Effect.fn("PostgresEngineRepo.search")(function*(query: SearchQuery, publicOnly: boolean) {
    const exact = yield* find(query, publicOnly, false)
    return exact.total === 0 && query.q !== undefined ? yield* find(query, publicOnly, true) : exact
  }, Effect.orDie)

  const suggest = Effect.fn("PostgresEngineRepo.suggest")(function*(query: SuggestionQuery, publicOnly: boolean) {
    const organization = yield* currentOrganization
    const clauses = [sql`a.organization_id = ${organization}`]
    if (publicOnly) clauses.push(sql`e.status = 'active' and e.is_visible`)
    if (query.type !== undefined) clauses.push(sql`e.type = ${query.type}`)
    if (query.locales !== undefined) {
      const place = (row: string) => sql`array_position(${query.locales}::text[], ${sql.literal(`${row}.locale`)})`
      clauses.push(sql`a.locale = any(${query.locales}::text[]) and not exists (select 1 from entity_attributes_read b
        where b.organization_id = a.organization_id and b.entity_id = a.entity_id and ${place("b")} < ${place("a")})`)
    }
    // From the prefix to the last text that begins with it: an index range for any prefix.
    const title = sql.literal(`search_sort(a.title) collate "C"`)
    const rows = yield* decoding(sql, Schema.Struct({ title: Schema.String }))`with asked as materialized (
        select search_sort(${query.prefix}) as prefix)
      select distinct on (${title}, a.title) left(a.title, 500) as title
      from entity_attributes_read a join catalog_entities_read e on e.id = a.entity_id and e.organization_id = a.organization_id
      where ${sql.and(clauses)} and ${title} >= (select prefix from asked)
        and ${title} < (select prefix || chr(1114111) from asked) and (select prefix from asked) <> ''
      order by ${title}, a.title limit ${query.limit}`
    return rows.map((row) => row.title)
  }, Effect.orDie)

  const attributesAmong = Effect.fn("PostgresEngineRepo.attributesAmong")(
    function*(names: ReadonlyArray<string>, publicOnly: boolean) {
      const clauses = [sql`d.organization_id = ${yield* currentOrganization}`, sql`d.attributes ? n.name`]
      if (publicOnly) clauses.push(sql`d.is_public`)
      const rows = yield* decoding(sql, Schema.Struct({ name: Schema.String }))`
        select n.name from unnest(${names}::text[]) n(name)
        where exists (select 1 from search_documents d where ${sql.and(clauses)})`
      return rows.map(({ name }) => name)
    },
    Effect.orDie
  )

  return { search, suggest, attributesAmong }
}

/** The index that triggers keep in PostgreSQL (docs/catalog.md). */
export const postgresEngineLayer = Layer.effect(
  SearchEngine,
  Effect.gen(function*() {
    const ordinary = yield* SqlClient.SqlClient
    return make(Option.getOrElse(yield* Effect.serviceOption(SearchSql), () => ordinary))
  })
)
