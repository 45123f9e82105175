import { Effect, Layer } from "effect"
import { defineModule } from "../../domain/modules/Module.ts"
import { postgresEngineLayer } from "../../domain/search/PostgresEngineRepo.ts"
import { Search } from "../../domain/search/Search.ts"
import { SearchSettings } from "../../domain/search/SearchSettings.ts"
import { searchHttp } from "../../http/search/SearchHttp.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { searchSqlLayer } from "../Database.ts"
import { migrations } from "../search/SearchIndex.ts"

const settings = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => SearchSettings.layerOf(deployment.search))
)

/** Finds entities of the catalog by an index that triggers keep in the database (contract §9, docs/catalog.md). */
export const search = defineModule({
  id: "search",
  version: "1.0.0",
  requires: ["tenancy", "catalog"],
  permissions: [],
  migrations,
  services: Search.layer.pipe(
    Layer.provide(Layer.provide(postgresEngineLayer, searchSqlLayer)),
    Layer.provide(settings)
  ),
  routes: searchHttp
})
