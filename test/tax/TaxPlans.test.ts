import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/ids/Id.ts"
import { TaxClassRepo, taxClassRepoLayer } from "../../src/domain/tax/TaxClassRepo.ts"
import { TaxNoticeRepo, taxNoticeRepoLayer } from "../../src/domain/tax/TaxNoticeRepo.ts"
import { TaxRateRepo, taxRateRepoLayer } from "../../src/domain/tax/TaxRateRepo.ts"
import { TaxRuleRepo, taxRuleRepoLayer } from "../../src/domain/tax/TaxRuleRepo.ts"
import { inStore } from "../checkout/NewOrder.ts"
import { plansOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** A hundred organizations with a hundred classes and rates each, and a few thousand orders. */
const seedMany = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) select 'org_' || n, 'org-' || n, 'O' from generate_series(1, 100) n`
  yield* sql`insert into tax_classes (id, organization_id, name, rate_bps, is_default)
    select gen_random_uuid(), o.id, 'class ' || n, n, n = 1 from organizations o, generate_series(1, 100) n`
  yield* sql`insert into tax_rates (id, organization_id, name, country, rate_bps)
    select gen_random_uuid(), o.id, 'rate ' || n, 'NL', n from organizations o, generate_series(1, 100) n`
  yield* sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total, shipping_total,
      discount_total, grand_total, tax_provider)
    select gen_random_uuid(), 'org_default', 'ORD-1999-' || n, 'pending', 'USD', 1, 0, 0, 0, 1, 'outside'
    from generate_series(1, 5000) n`
  yield* sql`analyze`
})

const repos = Layer.mergeAll(taxClassRepoLayer, taxRateRepoLayer, taxRuleRepoLayer, taxNoticeRepoLayer).pipe(
  Layer.provideMerge(TestDatabase)
)

it.layer(repos, { excludeTestServices: true })("among ten thousand rules of tax", (it) => {
  it.effect("an organization's own are found by indexes, all of them in one statement", () =>
    Effect.gen(function*() {
      yield* seedMany
      const [classes, rates] = [yield* TaxClassRepo, yield* TaxRateRepo]
      const page = { page: 2, limit: 20 }
      const [rules = "", ...others] = yield* plansOf((yield* TaxRuleRepo).active("org_default"))
      assert.deepStrictEqual(others, [])
      const plans = [
        rules,
        ...yield* plansOf(inStore(classes.list(page))),
        ...yield* plansOf(inStore(classes.find(newId()))),
        ...yield* plansOf(inStore(rates.list(page))),
        ...yield* plansOf(inStore(rates.find(newId()))),
        ...yield* plansOf((yield* TaxNoticeRepo).outside([newId(), newId()]))
      ]
      for (const plan of plans) assert.notMatch(plan, /Seq Scan on (tax_classes|tax_rates|orders)/)
    }))
})
