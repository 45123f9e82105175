import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { BasketRepo, basketRepoLayer } from "../../src/domain/checkout/BasketRepo.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { ShippingRateRepo, shippingRateRepoLayer } from "../../src/domain/shipping/ShippingRateRepo.ts"
import { ShippingRuleRepo, shippingRuleRepoLayer } from "../../src/domain/shipping/ShippingRuleRepo.ts"
import { ShippingZoneRepo, shippingZoneRepoLayer } from "../../src/domain/shipping/ShippingZoneRepo.ts"
import { plansOf, recording } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { TestDatabase } from "../support/Postgres.ts"

const repos = Layer.mergeAll(
  shippingRateRepoLayer,
  shippingRuleRepoLayer,
  shippingZoneRepoLayer,
  basketRepoLayer
).pipe(Layer.provide(recording), Layer.provideMerge(TestDatabase))

/** 300 organizations with 20 zones of 5 rates each: 30,000 rates. */
const seedMany = inBulk(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) select 'many-' || n, 'many-' || n, 'Many' from generate_series(1, 300) n`
  yield* sql`insert into shipping_zones (id, organization_id, name, countries, priority)
    select gen_random_uuid(), o.id, 'Zone ' || n, array['US'], n from organizations o, generate_series(1, 20) n`
  yield* sql`insert into shipping_rates (id, organization_id, zone_id, name, currency, amount)
    select gen_random_uuid(), z.organization_id, z.id, 'Rate', 'USD', n from shipping_zones z, generate_series(1, 5) n`
  yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
    select gen_random_uuid(), 'org_default', 'active', 'USD', 'h', now() + interval '1 day' from generate_series(1, 5000)`
  yield* sql`insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
    select gen_random_uuid(), organization_id, id, gen_random_uuid(), 1, 1000, 'USD' from carts`
  yield* sql`analyze`
}))

const inStore = Effect.provideService(CurrentActor, systemActor("many-7"))
const page = { page: 1, limit: 20 }

describe("shipping rates among 30,000", () => {
  it.layer(repos, { excludeTestServices: true })((it) => {
    it.effect("are listed and remembered over indexes, in a fixed number of statements", () =>
      Effect.gen(function*() {
        yield* seedMany
        const [rates, zones] = [yield* ShippingRateRepo, yield* ShippingZoneRepo]
        const [zone] = (yield* inStore(zones.list(page))).items
        const asked = [
          [2, inStore(rates.listOf({}, page))],
          [2, inStore(rates.listOf({ zoneId: zone?.id }, page))],
          [2, inStore(zones.list(page))],
          [1, (yield* ShippingRuleRepo).rules("many-7")],
          [1, inStore((yield* BasketRepo).ofCart(newId()))]
        ] as const
        for (const [count, list] of asked) {
          const plans = yield* plansOf<unknown, unknown, never>(list)
          assert.strictEqual(plans.length, count)
          for (const plan of plans) assert.notMatch(plan, /Seq Scan on (shipping_\w+|carts|cart_lines)/)
        }
        const rules = yield* (yield* ShippingRuleRepo).rules("many-7")
        assert.deepStrictEqual([rules.zones.length, rules.rates.length], [20, 100])
      }))
  })
})
