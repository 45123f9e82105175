import { Effect, Layer } from "effect"
import { EntityFieldRepo } from "../../domain/catalog/fields/EntityFieldRepo.ts"
import { CatalogBatches } from "../../domain/catalog/import-export/CatalogBatches.ts"
import { CatalogBatchRepo } from "../../domain/catalog/import-export/CatalogBatchRepo.ts"
import { CatalogExport } from "../../domain/catalog/import-export/CatalogExport.ts"
import { CatalogPageRepo } from "../../domain/catalog/import-export/CatalogPageRepo.ts"
import { CatalogStateRepo } from "../../domain/catalog/import-export/CatalogStateRepo.ts"
import { FieldStateRepo } from "../../domain/catalog/import-export/FieldStateRepo.ts"
import { GroupImport } from "../../domain/catalog/import-export/GroupImport.ts"
import { GroupImportRepo } from "../../domain/catalog/import-export/GroupImportRepo.ts"
import { CustomerImport } from "../../domain/customers/CustomerImport.ts"
import { CustomerImportRepo } from "../../domain/customers/CustomerImportRepo.ts"
import { BatchRepo } from "../../domain/import-export/BatchRepo.ts"
import { ExportRepo } from "../../domain/import-export/ExportRepo.ts"
import { ExternalProducts } from "../../domain/import-export/ExternalProducts.ts"
import { FiledProducts } from "../../domain/import-export/FiledProducts.ts"
import { ImportBatchRepo } from "../../domain/import-export/ImportBatchRepo.ts"
import { ImportExportSettings } from "../../domain/import-export/ImportExportSettings.ts"
import { ImportKinds } from "../../domain/import-export/ImportKinds.ts"
import { ImportRepo } from "../../domain/import-export/ImportRepo.ts"
import { Imports } from "../../domain/import-export/Imports.ts"
import { migrations } from "../../domain/import-export/migrations.ts"
import { RefusalRepo } from "../../domain/import-export/RefusalRepo.ts"
import { StockImport } from "../../domain/inventory/StockImport.ts"
import { StockImportRepo } from "../../domain/inventory/StockImportRepo.ts"
import { WarehouseRepo } from "../../domain/inventory/WarehouseRepo.ts"
import { MediaBatches } from "../../domain/media/MediaBatches.ts"
import { MediaBatchRepo } from "../../domain/media/MediaBatchRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { OrderBatches } from "../../domain/orders/import-export/OrderBatches.ts"
import { OrderBatchRepo } from "../../domain/orders/import-export/OrderBatchRepo.ts"
import { PriceImport } from "../../domain/pricing/PriceImport.ts"
import { PriceImportRepo } from "../../domain/pricing/PriceImportRepo.ts"
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

/** Repositories, also those of other modules that only files need. */
export const importExportRepos = Layer.mergeAll(
  BatchRepo.layer,
  CatalogBatchRepo.layer,
  CatalogPageRepo.layer,
  CatalogStateRepo.layer,
  CustomerImportRepo.layer,
  ExportRepo.layer,
  Layer.provide(FieldStateRepo.layer, EntityFieldRepo.layer),
  GroupImportRepo.layer,
  ImportBatchRepo.layer,
  ImportRepo.layer,
  MediaBatchRepo.layer,
  OrderBatchRepo.layer,
  PriceImportRepo.layer,
  RefusalRepo.layer,
  StockImportRepo.layer,
  WarehouseRepo.layer
)

/** The upserts of every kind of record, those that are made of others on top. */
const kinds = ImportKinds.layer.pipe(
  Layer.provide(Layer.mergeAll(FiledProducts.layer, ExternalProducts.layer, OrderBatches.layer)),
  Layer.provide(
    Layer.mergeAll(CatalogBatches.layer, GroupImport.layer, CustomerImport.layer, PriceImport.layer, StockImport.layer)
  )
)

const exports = Layer.provide(ExportFiles.layer, Layer.provide(ExportPages.layer, CatalogExport.layer))

/** Import and export of what a store has, as files (docs/import-export.md). */
export const importExport = defineModule({
  id: "import-export",
  version: "1.0.0",
  requires: ["tenancy", "events", "jobs", "catalog", "media", "search", "pricing", "inventory", "customers", "orders"],
  permissions: [],
  migrations,
  services: Layer.mergeAll(importTasks, RefusalFiles.layer, ImportUploads.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(Layer.provide(ImportRuns.layer, kinds), exports)),
    Layer.provideMerge(Imports.layer),
    Layer.provide(MediaBatches.layer),
    Layer.provideMerge(Layer.merge(importExportRepos, settings))
  ),
  routes: Layer.mergeAll(importsHttp, exportsHttp)
})
