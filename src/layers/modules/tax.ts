import { Effect, Layer } from "effect"
import { EventSubscribers } from "../../domain/events/EventSubscribers.ts"
import { Tasks } from "../../domain/jobs/Task.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { migrations } from "../../domain/tax/migrations.ts"
import { taxClassesLayer } from "../../domain/tax/TaxClassRepo.ts"
import { Taxes } from "../../domain/tax/Taxes.ts"
import { taxNoticeRepoLayer } from "../../domain/tax/TaxNoticeRepo.ts"
import { taxNotices, TaxVoids } from "../../domain/tax/TaxNotices.ts"
import { taxRatesLayer } from "../../domain/tax/TaxRateRepo.ts"
import { TaxRuleCache, taxRuleRepoLayer } from "../../domain/tax/TaxRuleRepo.ts"
import { taxClassesHttp, taxRatesHttp } from "../../http/tax/TaxHttp.ts"
import { reportTax, voidTax } from "../../workflows/tax/TaxTasks.ts"

const subscription = Layer.effectDiscard(
  Effect.flatMap(taxNotices, (hear) => Effect.flatMap(EventSubscribers, (all) => all.register(hear)))
)

/** Tax of orders: by tax classes, by regions, or by an external service (contract §3.5, docs/tax-and-shipping.md). */
export const tax = defineModule({
  id: "tax",
  requires: ["tenancy", "events", "jobs", "catalog", "shipping", "orders"],
  permissions: [{ scope: "tax:manage", description: "Read and change tax classes and tax rates" }],
  migrations,
  services: Layer.mergeAll(
    Taxes.layer,
    taxClassesLayer,
    taxRatesLayer,
    TaxVoids.layer,
    subscription,
    Tasks.add(reportTax),
    Tasks.add(voidTax)
  ).pipe(
    Layer.provide(TaxRuleCache.layer),
    Layer.provide(Layer.merge(taxRuleRepoLayer, taxNoticeRepoLayer))
  ),
  routes: Layer.merge(taxClassesHttp, taxRatesHttp)
})
