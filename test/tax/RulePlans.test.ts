import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { BasketRepo, basketRepoLayer } from "../../src/domain/checkout/BasketRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { CacheInvalidation } from "../../src/domain/platform/access/CacheInvalidation.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { ShippingRates } from "../../src/domain/shipping/ShippingRate.ts"
import { shippingRecordsLayer, ShippingRuleCache, ShippingRuleRepo } from "../../src/domain/shipping/ShippingRepo.ts"
import { ShippingZones } from "../../src/domain/shipping/ShippingZone.ts"
import { TaxClasses } from "../../src/domain/tax/TaxClass.ts"
import { TaxRates } from "../../src/domain/tax/TaxRate.ts"
import { TaxNoticeRepo, taxRecordsLayer, TaxRuleCache, TaxRuleRepo } from "../../src/domain/tax/TaxRepo.ts"
import { plansOf, recording } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { TestDatabase } from "../support/Postgres.ts"

const repos = Layer.mergeAll(
  Layer.mergeAll(taxRecordsLayer, TaxNoticeRepo.layer),
  Layer.mergeAll(shippingRecordsLayer, basketRepoLayer)
).pipe(
  Layer.provide(Layer.merge(TaxRuleCache.layer, ShippingRuleCache.layer)),
  Layer.provideMerge(Layer.merge(TaxRuleRepo.layer, ShippingRuleRepo.layer)),
  Layer.provide(CacheInvalidation.layer),
  Layer.provide(recording),
  Layer.provideMerge(TestDatabase)
)

/** 300 organizations with 100 classes, rates of tax and rates of shipping in 20 zones each, and thousands of orders and carts. */
const seedMany = inBulk(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) select 'many-' || n, 'many-' || n, 'Many' from generate_series(1, 300) n`
  yield* sql`insert into tax_classes (id, organization_id, name, slug, rate_bps, rate, is_default)
    select gen_random_uuid(), o.id, 'class ' || n, 'class-' || n, n, '1', n = 1 from organizations o, generate_series(1, 100) n`
  yield* sql`insert into tax_rates (id, organization_id, name, country, region_country, rate_bps, rate)
    select gen_random_uuid(), o.id, 'rate ' || n, 'NL', 'NL', n, '1' from organizations o, generate_series(1, 100) n`
  yield* sql`insert into shipping_zones (id, organization_id, name, countries, priority)
    select gen_random_uuid(), o.id, 'Zone ' || n, array['US'], n from organizations o, generate_series(1, 20) n`
  yield* sql`insert into shipping_rates (id, organization_id, zone_id, name, currency, amount)
    select gen_random_uuid(), z.organization_id, z.id, 'Rate', 'USD', n from shipping_zones z, generate_series(1, 5) n`
  yield* sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total, shipping_total,
      discount_total, grand_total, tax_provider)
    select gen_random_uuid(), 'org_default', 'ORD-1999-' || n, 'pending', 'USD', 1, 0, 0, 0, 1, 'outside'
    from generate_series(1, 5000) n`
  yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
    select gen_random_uuid(), 'org_default', 'active', 'USD', 'h', now() + interval '1 day' from generate_series(1, 5000)`
  yield* sql`insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
    select gen_random_uuid(), organization_id, id, gen_random_uuid(), 1, 1000, 'USD' from carts`
  yield* sql`insert into cart_lines_with_metadata
      (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency, metadata, metadata_hash)
    select gen_random_uuid(), organization_id, id, gen_random_uuid(), 1, 1000, 'USD', '{"a": 1}', 'hash' from carts`
  yield* sql`analyze`
}))

const inStore = Effect.provideService(CurrentActor, systemActor("many-7"))
const page = { page: 2, limit: 10 }
const scan = /Seq Scan on (tax_classes|tax_rates|shipping_\w+|orders|carts|cart_lines)/

it.layer(repos, { excludeTestServices: true })("rules of tax and shipping among 30,000", (it) => {
  it.effect("reads and lists rules over indexes, in a fixed number of statements", () =>
    Effect.gen(function*() {
      yield* seedMany
      const [classes, taxRates] = [yield* TaxClasses, yield* TaxRates]
      const [zones, rates] = [yield* ShippingZones, yield* ShippingRates]
      const [zone] = (yield* inStore(zones.list(page))).items
      const asked = [
        [1, (yield* TaxRuleRepo).active("many-7")],
        [2, inStore(classes.list(page))],
        [1, inStore(Effect.exit(classes.get(newId())))],
        [2, inStore(taxRates.list(page))],
        [1, inStore(Effect.exit(taxRates.get(newId())))],
        [1, (yield* TaxNoticeRepo).outside([newId(), newId()])],
        [1, (yield* ShippingRuleRepo).rules("many-7")],
        [2, inStore(rates.list({}, page))],
        [2, inStore(rates.list({ zoneId: zone?.id }, page))],
        [2, inStore(zones.list(page))],
        [1, inStore((yield* BasketRepo).ofCart(newId()))]
      ] as const
      for (const [count, list] of asked) {
        const plans = yield* plansOf<unknown, unknown, never>(list)
        assert.lengthOf(plans, count)
        for (const plan of plans) assert.notMatch(plan, scan)
      }
      const [shipping, tax] = [
        yield* (yield* ShippingRuleRepo).rules("many-7"),
        yield* (yield* TaxRuleRepo).active("many-7")
      ]
      assert.deepStrictEqual([shipping.zones.length, shipping.rates.length], [20, 100])
      assert.deepStrictEqual([tax.classes.length, tax.rates.length], [100, 100])
    }))
})
