import { Layer } from "effect"
import { defineModule } from "../../domain/modules/Module.ts"
import { postgresEngineLayer } from "../../domain/search/PostgresEngineRepo.ts"
import { Search } from "../../domain/search/Search.ts"
import { searchHttp } from "../../http/search/SearchHttp.ts"
import { searchSqlLayer } from "../Database.ts"
import { migrations } from "../search/SearchIndex.ts"
import { catalog } from "./catalog.ts"
import { tenancy } from "./tenancy.ts"

/** Finds entities of the catalog by an index that triggers keep in the database (contract §9, docs/catalog.md). */
export const search = defineModule({
  id: "search",
  requires: [tenancy, catalog],
  migrations,
  services: Search.layer.pipe(
    Layer.provide(Layer.provide(postgresEngineLayer, searchSqlLayer))
  ),
  routes: searchHttp
})
