import { Effect, Layer } from "effect"
import { BatchRepo } from "../../domain/import-export/BatchRepo.ts"
import { ExportNoteRepo } from "../../domain/import-export/ExportNoteRepo.ts"
import { ExternalProducts } from "../../domain/import-export/ExternalProducts.ts"
import { FiledProducts } from "../../domain/import-export/FiledProducts.ts"
import { ImportExportSettings } from "../../domain/import-export/ImportExportSettings.ts"
import { ImportKinds } from "../../domain/import-export/ImportKinds.ts"
import { ImportRepo } from "../../domain/import-export/ImportRepo.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { migrations } from "../../domain/import-export/migrations.ts"
import { PersonPageRepo } from "../../domain/import-export/PersonPageRepo.ts"
import { PlacedPrices } from "../../domain/import-export/PlacedPrices.ts"
import { RefusalRepo } from "../../domain/import-export/RefusalRepo.ts"
import { SellablePageRepo } from "../../domain/import-export/SellablePageRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { OrderBatches } from "../../domain/orders/import-export/OrderBatches.ts"
import { OrderBatchRepo } from "../../domain/orders/import-export/OrderBatchRepo.ts"
import { OrderPageRepo } from "../../domain/orders/import-export/OrderPageRepo.ts"
import { exportsHttp } from "../../http/import-export/ExportsHttp.ts"
import { importsHttp } from "../../http/import-export/ImportsHttp.ts"
import { ExportFiles } from "../../workflows/import-export/ExportFiles.ts"
import { ExportPages } from "../../workflows/import-export/ExportPages.ts"
import { ImportRuns } from "../../workflows/import-export/ImportRuns.ts"
import { importTasks } from "../../workflows/import-export/ImportTasks.ts"
import { ImportUploads } from "../../workflows/import-export/ImportUploads.ts"
import { RefusalFiles } from "../../workflows/import-export/RefusalFiles.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { importExportLimits } from "../config/ImportExportConfig.ts"

const settings = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => ImportExportSettings.layerOf(importExportLimits(deployment)))
)

const repos = Layer.mergeAll(
  ImportRepo.layer,
  BatchRepo.layer,
  RefusalRepo.layer,
  ExportNoteRepo.layer,
  SellablePageRepo.layer,
  PersonPageRepo.layer,
  OrderPageRepo.layer,
  OrderBatchRepo.layer
)

/** Import and export of what a store has, as files (docs/import-export.md). */
export const importExport = defineModule({
  id: "import-export",
  version: "1.0.0",
  requires: ["tenancy", "events", "jobs", "catalog", "media", "search", "pricing", "inventory", "customers", "orders"],
  permissions: [],
  migrations,
  services: Layer.mergeAll(importTasks, RefusalFiles.layer, ImportUploads.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(ImportRuns.layer, Layer.provide(ExportFiles.layer, ExportPages.layer))),
    Layer.provideMerge(
      Layer.mergeAll(
        Imports.layer,
        Layer.provide(
          ImportKinds.layer,
          Layer.mergeAll(PlacedPrices.layer, FiledProducts.layer, ExternalProducts.layer, OrderBatches.layer)
        )
      )
    ),
    Layer.provideMerge(Layer.merge(repos, settings))
  ),
  routes: Layer.mergeAll(importsHttp, exportsHttp)
})
