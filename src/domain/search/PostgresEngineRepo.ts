import { Clock, Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { AnswerMemory, type KnownAnswer } from "./AnswerMemory.ts"
import { knownAnswer } from "./KnownAnswerRepo.ts"
import type { Asked } from "./MatchingRepo.ts"
import { type Found, SearchEngine } from "./SearchEngine.ts"
import { countAnswer } from "./SearchMetrics.ts"
import type { SearchQuery, SuggestionQuery } from "./SearchQuery.ts"
import { searchStatement } from "./SearchStatementRepo.ts"

/**
 * Connections whose statements are planned for the values they come with: how many documents a word or a category has
 * decides by which index they are found. Where a process has none, its ordinary client does.
 */
export class SearchSql extends Context.Service<SearchSql, SqlClient.SqlClient>()(
  "stoa/domain/search/SearchSql"
) {}

/** The name under which an answer is remembered: all that it depends on but the catalog. In which words its hits are shown, it does not. */
const nameOf = ({ query: { locales: _, ...query }, ...asked }: Asked): string => JSON.stringify({ ...asked, query })

const make = (sql: SqlClient.SqlClient): SearchEngine["Service"] => {
  const memory = new AnswerMemory()

  /** The remembered answer with its hits as they are now, if it still holds. */
  const again = Effect.fnUntraced(function*(asked: Asked, known: KnownAnswer | undefined) {
    if (known === undefined) return undefined
    const [row] = yield* knownAnswer(sql, asked, known)
    return row?.holds === true ? { hits: row.hits, total: known.total, facets: known.facets } : undefined
  })

  const anew = Effect.fnUntraced(function*(asked: Asked, name: string) {
    const [row] = yield* searchStatement(sql, asked)
    const { at, facets, hits, ...found } = row ?? { at: "", facets: {}, hits: [], total: 0n }
    const total = Number(found.total)
    const places = hits.map(({ id, score }) => ({ id, score }))
    memory.keep(name, { at, total, facets, places }, yield* Clock.currentTimeMillis)
    return { hits, total, facets }
  })

  const answer = Effect.fnUntraced(function*(asked: Asked) {
    const name = nameOf(asked)
    const remembered = yield* again(asked, memory.find(name, yield* Clock.currentTimeMillis))
    yield* countAnswer(remembered === undefined ? "index" : "memory")
    const found: Found = remembered ?? (yield* anew(asked, name))
    return found
  })

  const search = Effect.fn("PostgresEngineRepo.search")(function*(query: SearchQuery, publicOnly: boolean) {
    const asked = { organization: yield* currentOrganization, query, publicOnly }
    const strict = yield* answer({ ...asked, isForgiving: false })
    // Typing errors are forgiven only to those who would find nothing: nobody gets likes beside what he asked for.
    return strict.total === 0 && query.q !== undefined ? yield* answer({ ...asked, isForgiving: true }) : strict
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
