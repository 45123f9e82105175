import { Layer } from "effect"
import { EntityFieldRepo } from "../../domain/catalog/fields/EntityFieldRepo.ts"
import { BatchRepo } from "../../domain/import-export/BatchRepo.ts"
import { ExportRepo } from "../../domain/import-export/ExportRepo.ts"
import { ExternalImportRepo } from "../../domain/import-export/external/ExternalImportRepo.ts"
import { ExternalImports } from "../../domain/import-export/external/ExternalImports.ts"
import { ImportKinds } from "../../domain/import-export/ImportKinds.ts"
import { ImportRepo } from "../../domain/import-export/ImportRepo.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { migrations } from "../../domain/import-export/migrations.ts"
import { StockRepo } from "../../domain/inventory/StockRepo.ts"
import { WarehouseRepo } from "../../domain/inventory/WarehouseRepo.ts"
import { RowBatchRepo } from "../../domain/platform/batching/RowBatchRepo.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { exportsHttp, importsHttp } from "../../http/import-export/ImportsHttp.ts"
import { ExportFiles } from "../../workflows/import-export/ExportFiles.ts"
import { ImportRuns, importTasks } from "../../workflows/import-export/ImportRuns.ts"
import { ImportUploads } from "../../workflows/import-export/ImportUploads.ts"
import { catalog } from "./catalog.ts"
import { customers } from "./customers.ts"
import { events } from "./events.ts"
import { inventory } from "./inventory.ts"
import { jobs } from "./jobs.ts"
import { media } from "./media.ts"
import { orders } from "./orders.ts"
import { pricing } from "./pricing.ts"
import { search } from "./search.ts"
import { tenancy } from "./tenancy.ts"

export const importExportRepos = Layer.mergeAll(
  BatchRepo.layer,
  EntityFieldRepo.layer,
  ExportRepo.layer,
  ExternalImportRepo.layer,
  ImportRepo.layer,
  RowBatchRepo.layer,
  StockRepo.layer,
  WarehouseRepo.layer
)

/** Import and export (docs/import-export.md). */
export const importExport = defineModule({
  id: "import-export",
  requires: [tenancy, events, jobs, catalog, media, search, pricing, inventory, customers, orders],
  migrations,
  services: Layer.mergeAll(importTasks, ImportUploads.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.provide(Layer.merge(ImportRuns.layer, ExternalImports.layer), ImportKinds.layer),
        ExportFiles.layer
      )
    ),
    Layer.provideMerge(Imports.layer),
    Layer.provideMerge(importExportRepos)
  ),
  routes: Layer.mergeAll(importsHttp, exportsHttp)
})
