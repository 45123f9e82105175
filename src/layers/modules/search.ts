import { Layer } from "effect"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { postgresEngineLayer } from "../../domain/search/PostgresEngineRepo.ts"
import { Search } from "../../domain/search/Search.ts"
import { SearchAdditionRepo } from "../../domain/search/SearchAdditionRepo.ts"
import { SearchUpdates, updateSearch } from "../../domain/search/SearchUpdates.ts"
import { searchHttp } from "../../http/search/SearchHttp.ts"
import { searchSqlLayer } from "../Database.ts"
import { migrations } from "../search/SearchIndex.ts"
import { catalog } from "./catalog.ts"
import { inventory } from "./inventory.ts"
import { jobs } from "./jobs.ts"
import { tenancy } from "./tenancy.ts"

/** Searches the catalog by an index that triggers maintain (contract §9, docs/catalog.md). */
export const search = defineModule({
  id: "search",
  requires: [tenancy, jobs, catalog, inventory],
  migrations,
  services: Layer.mergeAll(
    Layer.provide(Search.layer, Layer.provide(postgresEngineLayer, searchSqlLayer)),
    Layer.provideMerge(Tasks.add(updateSearch), SearchAdditionRepo.layer),
    SearchUpdates.layer
  ),
  routes: searchHttp
})
