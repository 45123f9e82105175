import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { BasketRepo, basketRepoLayer } from "../../src/domain/checkout/BasketRepo.ts"
import { systemActor } from "../../src/domain/platform/access/Actor.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { type CartId, type EntityId, newId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { SetPrice } from "../../src/domain/pricing/Price.ts"
import { priceRepoLayer } from "../../src/domain/pricing/PriceRepo.ts"
import { Prices } from "../../src/domain/pricing/Prices.ts"
import { priceCandidateRepoLayer } from "../../src/domain/pricing/PriceStatements.ts"
import { inBulk } from "../support/InBulk.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { asStaff, seedOrganization } from "./Seed.ts"
import { plansOf, recording, statementsOf } from "./Statements.ts"

/** 12,000 entities in each of two organizations, 24,000 prices in all, every tenth for a group; 5,000 modifiers. */
const seedMany = inBulk(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* seedOrganization
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select gen_random_uuid(), o, 'product', 'bulk-' || n, 'active', true
    from generate_series(1, 12000) n, unnest(array['org_default', 'org_other']) o`
  yield* sql`insert into prices (id, organization_id, entity_id, currency, amount, customer_group_id, created_at)
    select gen_random_uuid(), organization_id, id, 'USD', 100,
      case when row_number() over () % 10 = 0 then 'g' || row_number() over () % 500 end,
      now() - row_number() over () * interval '1 second'
    from catalog_entities`
  yield* sql`insert into price_modifiers (id, organization_id, name, type, value, entity_id)
    select gen_random_uuid(), organization_id, 'm', 'percentage_discount', 10, id from catalog_entities
    where organization_id = 'org_default' limit 5000`
  yield* sql`insert into promotions (id, organization_id, code, name, type, value)
    select gen_random_uuid(), 'org_default', 'CODE-' || n, 'p', 'percentage_off_order', 10 from generate_series(1, 5000) n`
  yield* sql`analyze`
  const rows = yield* sql<
    { id: EntityId }
  >`select id from catalog_entities where organization_id = 'org_default' limit 50`
  return rows.map((row) => row.id)
}))

const layer = Layer.merge(Prices.layer, basketRepoLayer).pipe(
  Layer.provide(Layer.mergeAll(priceRepoLayer, priceCandidateRepoLayer, Hooks.layerNone, CatalogSettings.layerOf({}))),
  Layer.provide(recording),
  Layer.provideMerge(TestDatabase)
)

const page = { page: 1, limit: 20 }

describe("prices among 24,000", () => {
  it.layer(layer)((it) => {
    it.effect("prices among 24,000 are resolved for 50 lines by one statement over indexes", () =>
      Effect.gen(function*() {
        const prices = yield* Prices
        const lines = (yield* seedMany).map((entityId) => ({ entityId, variantId: null, quantity: 1 }))
        const ask = (count: number) => prices.candidates(lines.slice(0, count), "USD", new Date())
        assert.strictEqual((yield* statementsOf(ask(1))).length, 1)
        const [plan = "", ...others] = yield* plansOf(ask(50))
        assert.deepStrictEqual(others, [])
        assert.include(plan, "prices_natural")
        assert.include(plan, "price_modifiers_scope")
        assert.notMatch(plan, /Seq Scan on (prices|price_modifiers|catalog_entities)/)
      }).pipe(asStaff))

    it.effect("prices among 24,000 are read with the cart that a checkout claims, over the same indexes", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const cartId = newId<CartId>()
        yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
          values (${cartId}, 'org_default', 'active', 'USD', 'h', now() + interval '1 day')`
        yield* sql`insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
          select gen_random_uuid(), 'org_default', ${cartId}, id, 1, 100, 'USD' from catalog_entities
          where organization_id = 'org_default' limit 50`
        const visitor = { actor: systemActor("org_default"), customerId: null, secretHash: "h" }
        const request = { cartId, currency: CurrencyCode.make("USD"), promotionCodes: ["CODE-1"] }
        const [plan = ""] = yield* plansOf((yield* BasketRepo).claim(newId(), visitor, request, null))
        assert.include(plan, "prices_natural")
        assert.include(plan, "price_modifiers_scope")
        assert.include(plan, "promotions_code")
        assert.notMatch(plan, /Seq Scan on (prices|price_modifiers|promotions|catalog_entities)/)
      }).pipe(asStaff))

    it.effect("prices among 24,000 are listed newest first by three statements, no page reading the table", () =>
      Effect.gen(function*() {
        const prices = yield* Prices
        const plans = yield* plansOf(prices.list({}, page))
        assert.strictEqual(plans.length, 3)
        const paged = plans.filter((plan) => plan.startsWith("Limit") && !plan.includes("price_modifiers"))
        assert.strictEqual(paged.length, 1)
        assert.include(paged[0], "prices_created")
        assert.notInclude(paged[0], "Seq Scan")
      }).pipe(asStaff))

    it.effect("prices among 24,000 of one entity or one group are found by an index, the count too", () =>
      Effect.gen(function*() {
        const [prices, sql] = [yield* Prices, yield* SqlClient.SqlClient]
        const [row] = yield* sql<{ entity_id: EntityId }>`select entity_id from prices
          where organization_id = 'org_default' limit 1`
        const entityId = row?.entity_id ?? newId<EntityId>()
        for (const filter of [{ entityId }, { customerGroupId: "g10" }, { entityId, currency: "USD" }]) {
          for (const plan of yield* plansOf(prices.list(filter, page))) {
            if (!plan.includes("price_modifiers")) assert.notInclude(plan, "Seq Scan")
            if (!plan.includes("price_modifiers")) assert.match(plan, /prices_(natural|entity|group)/)
          }
        }
      }).pipe(asStaff))

    it.effect("prices among 24,000 are set by one statement over the natural key", () =>
      Effect.gen(function*() {
        const [prices, sql] = [yield* Prices, yield* SqlClient.SqlClient]
        const [row] = yield* sql<{ entity_id: string }>`select entity_id from prices
          where organization_id = 'org_default' limit 1`
        const sent = Schema.decodeUnknownSync(SetPrice)({ entityId: row?.entity_id, currency: "USD", amount: 1 })
        const [plan = "", ...others] = yield* plansOf(prices.set(sent))
        assert.deepStrictEqual(others, [])
        assert.include(plan, "Conflict Arbiter Indexes: prices_natural")
        console.log(plan)
        assert.notInclude(plan, "Seq Scan")
      }).pipe(asStaff))
  })
})
