import { Effect, Layer } from "effect"
import { BatchRepo } from "../../domain/exchange/BatchRepo.ts"
import { ExchangeSettings } from "../../domain/exchange/ExchangeSettings.ts"
import { ExportNoteRepo } from "../../domain/exchange/ExportNoteRepo.ts"
import { FiledProducts } from "../../domain/exchange/FiledProducts.ts"
import { ForeignProducts } from "../../domain/exchange/ForeignProducts.ts"
import { ImportKinds } from "../../domain/exchange/ImportKinds.ts"
import { ImportRepo } from "../../domain/exchange/ImportRepo.ts"
import { Imports } from "../../domain/exchange/Imports.ts"
import { migrations } from "../../domain/exchange/migrations.ts"
import { PersonPageRepo } from "../../domain/exchange/PersonPageRepo.ts"
import { PlacedPrices } from "../../domain/exchange/PlacedPrices.ts"
import { RefusalRepo } from "../../domain/exchange/RefusalRepo.ts"
import { SellablePageRepo } from "../../domain/exchange/SellablePageRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { OrderBatches } from "../../domain/orders/exchange/OrderBatches.ts"
import { OrderBatchRepo } from "../../domain/orders/exchange/OrderBatchRepo.ts"
import { OrderPageRepo } from "../../domain/orders/exchange/OrderPageRepo.ts"
import { exportsHttp } from "../../http/exchange/ExportsHttp.ts"
import { importsHttp } from "../../http/exchange/ImportsHttp.ts"
import { ExportFiles } from "../../workflows/exchange/ExportFiles.ts"
import { ExportPages } from "../../workflows/exchange/ExportPages.ts"
import { ImportRuns } from "../../workflows/exchange/ImportRuns.ts"
import { importTasks } from "../../workflows/exchange/ImportTasks.ts"
import { ImportUploads } from "../../workflows/exchange/ImportUploads.ts"
import { RefusalFiles } from "../../workflows/exchange/RefusalFiles.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { exchangeLimits } from "../config/ExchangeConfig.ts"

const settings = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => ExchangeSettings.layerOf(exchangeLimits(deployment)))
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
export const exchange = defineModule({
  id: "exchange",
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
          Layer.mergeAll(PlacedPrices.layer, FiledProducts.layer, ForeignProducts.layer, OrderBatches.layer)
        )
      )
    ),
    Layer.provideMerge(Layer.merge(repos, settings))
  ),
  routes: Layer.mergeAll(importsHttp, exportsHttp)
})
