import { Layer } from "effect"
import { EventSubscribers } from "../../domain/platform/events/EventSubscribers.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { migrations } from "../../domain/tax/migrations.ts"
import { Taxes } from "../../domain/tax/Taxes.ts"
import { TaxExemptions } from "../../domain/tax/TaxExemptions.ts"
import { taxNotices, TaxVoids } from "../../domain/tax/TaxNotices.ts"
import { TaxNoticeRepo, taxRecordsLayer, TaxRuleCache, TaxRuleRepo } from "../../domain/tax/TaxRepo.ts"
import { taxClassesHttp, taxRatesHttp } from "../../http/tax/TaxHttp.ts"
import { reportTax, voidTax } from "../../workflows/tax/TaxTasks.ts"
import { catalog } from "./catalog.ts"
import { customers } from "./customers.ts"
import { events } from "./events.ts"
import { jobs } from "./jobs.ts"
import { orders } from "./orders.ts"
import { shipping } from "./shipping.ts"
import { tenancy } from "./tenancy.ts"

/** Tax by classes, regions or an external service (contract §3.5, docs/tax-and-shipping.md). */
export const tax = defineModule({
  id: "tax",
  requires: [tenancy, events, jobs, customers, catalog, shipping, orders],
  permissions: [{ scope: "tax:manage", description: "Read and change tax classes and tax rates" }],
  migrations,
  services: Layer.mergeAll(
    Taxes.layer,
    TaxExemptions.layer,
    taxRecordsLayer,
    TaxVoids.layer,
    EventSubscribers.add(taxNotices),
    Tasks.add(reportTax),
    Tasks.add(voidTax)
  ).pipe(
    Layer.provide(TaxRuleCache.layer),
    Layer.provide(Layer.merge(TaxRuleRepo.layer, TaxNoticeRepo.layer))
  ),
  routes: Layer.merge(taxClassesHttp, taxRatesHttp)
})
