import { Effect, Layer } from "effect"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { postgresEngineLayer } from "../../src/domain/search/PostgresEngineRepo.ts"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { type SearchQuery, usualFacets } from "../../src/domain/search/SearchQuery.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** As a service of this organization. */
export const as = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

/** What the engine finds. */
export const find = Effect.fnUntraced(function*(query: Partial<SearchQuery>, publicOnly = true) {
  return yield* (yield* SearchEngine).search(
    { page: 1, limit: 20, attributes: [], facets: usualFacets, ...query },
    publicOnly
  )
})

/** The engine over a database of the file. */
export const engineLayer = Layer.provideMerge(postgresEngineLayer, TestDatabase)
