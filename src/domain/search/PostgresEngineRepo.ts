import { Clock, Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { currentOrganization } from "../access/Actor.ts"
import { AnswerMemory, changedBy, type KnownAnswer } from "./AnswerMemory.ts"
import { changedAnswer } from "./ChangedAnswerRepo.ts"
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

  const keep = Effect.fnUntraced(
    function*(name: string, { hits, ...found }: Found & Pick<KnownAnswer, "at" | "parts">) {
      const places = hits.map(({ id, score }) => ({ id, score }))
      memory.keep(name, { ...found, places }, yield* Clock.currentTimeMillis)
      return { hits, total: found.total, facets: found.facets }
    }
  )

  /** The remembered answer with what has changed since, if that can be told. */
  const changed = Effect.fnUntraced(function*(asked: Asked, name: string, known: KnownAnswer) {
    const [row] = yield* changedAnswer(sql, asked, known)
    if (row?.holds !== true) return undefined
    const [total, facets] = [known.total + Number(row.total), changedBy(known.facets, row.facets)]
    return yield* keep(name, { at: row.at, parts: known.parts, total, facets, hits: row.hits })
  })

  /** The remembered answer with its hits as they are now, if it still holds or can be brought up to date. */
  const again = Effect.fnUntraced(function*(asked: Asked, name: string, known: KnownAnswer) {
    const [row] = yield* knownAnswer(sql, asked, known)
    if (row?.holds === true) return { from: "memory", found: { ...known, hits: row.hits } } as const
    const found = row?.canChange === true ? yield* changed(asked, name, known) : undefined
    return found && { from: "changes", found } as const
  })

  const anew = Effect.fnUntraced(function*(asked: Asked, name: string) {
    const [row] = yield* searchStatement(sql, asked)
    const found = row ?? { at: "", parts: null, facets: {}, hits: [], total: 0n }
    return { from: "index", found: yield* keep(name, { ...found, total: Number(found.total) }) } as const
  })

  const answer = Effect.fnUntraced(function*(asked: Asked) {
    const name = nameOf(asked)
    const known = memory.find(name, yield* Clock.currentTimeMillis)
    const remembered = known === undefined ? undefined : yield* again(asked, name, known)
    const { found: { facets, hits, total }, from } = remembered ?? (yield* anew(asked, name))
    yield* countAnswer(from)
    const found: Found = { hits, total, facets }
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
