import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { postgresEngineLayer } from "../../src/domain/search/PostgresEngineRepo.ts"
import { searchChangesRepoLayer } from "../../src/domain/search/SearchChangesRepo.ts"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { type SearchQuery, usualFacets } from "../../src/domain/search/SearchQuery.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** As a service of this organization. */
export const as = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

const all: SearchQuery = { page: 1, limit: 20, attributes: [], facets: usualFacets }

/** What the engine of the test answers, which remembers. */
export const ask = Effect.fnUntraced(function*(query: Partial<SearchQuery>, publicOnly = true) {
  return yield* (yield* SearchEngine).search({ ...all, ...query }, publicOnly)
})

/** The same of an engine that remembers nothing yet. */
export const askAnew = (query: Partial<SearchQuery>, publicOnly: boolean) =>
  Effect.scoped(Effect.flatMap(
    Layer.build(Layer.fresh(postgresEngineLayer)),
    (context) => Context.get(context, SearchEngine).search({ ...all, ...query }, publicOnly)
  ))

/** Whether the answer comes from memory: by one statement, in which no word is looked for. */
export const isRemembered = (query: Partial<SearchQuery>) =>
  Effect.map(statementsOf(ask(query)), (sent) => sent.length === 1 && !sent[0]?.[0].includes("search_words"))

/** Something that is for sale, by one statement. */
export const aLamp = (organization: string, slug: string, type = "product") =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`with made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
        values (gen_random_uuid(), ${organization}, ${type}, ${slug}, 'active', true) returning *)
      insert into entity_attributes (id, organization_id, entity_id, locale, title)
        select gen_random_uuid(), organization_id, id, l, l || ' lamp ' || slug from made, unnest(array['en', 'de']) l`
  )

/** An organization. */
export const aStore = (organization: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`insert into organizations (id, slug, name) values (${organization}, ${organization}, ${organization})`
  )

/** The engine over a database of the file. */
export const engineLayer = Layer.provideMerge(Layer.merge(postgresEngineLayer, searchChangesRepoLayer), TestDatabase)
