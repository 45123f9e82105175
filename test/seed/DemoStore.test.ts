import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CatalogEntity } from "../../src/domain/catalog/Entity.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { Price } from "../../src/domain/pricing/Price.ts"
import { Promotion } from "../../src/domain/promotions/Promotion.ts"
import { seedDemoStore } from "../../src/layers/seed/DemoStoreRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { aGuestCart, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, TestApp, testAppLayer } from "../support/TestApp.ts"

const Store = Layer.provideMerge(StoreSettings.layerOf({}), TestDatabase)

const count = Effect.fnUntraced(function*(table: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly n: number }>`select count(*)::int as n from ${sql(table)}`
  return row?.n
})

const payloads = (type: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ readonly payload: unknown }>`select payload from outbox_events where type = ${type}`,
      (rows) => rows.map(({ payload }) => payload)
    ))

describe("the demo store", () => {
  it.effect("is written once by processes that start at the same moment, and never again", () =>
    Effect.gen(function*() {
      yield* Effect.all([seedDemoStore, seedDemoStore, seedDemoStore], { concurrency: "unbounded" })
      yield* seedDemoStore
      assert.strictEqual(yield* count("catalog_entities"), 24)
      assert.strictEqual(yield* count("entity_attributes"), 48)
      assert.strictEqual(yield* count("variants"), 12)
      assert.strictEqual(yield* count("brands"), 3)
      assert.strictEqual(yield* count("warehouses"), 1)
      assert.strictEqual(yield* count("promotions"), 2)
    }).pipe(Effect.provide(Store)))

  it.effect("leaves a store alone that already has a single product", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
        values (gen_random_uuid(), 'org_default', 'product', 'mine', 'draft', false)`
      yield* seedDemoStore
      assert.strictEqual(yield* count("catalog_entities"), 1)
      assert.strictEqual(yield* count("brands"), 0)
    }).pipe(Effect.provide(Store)))

  it.effect("announces what it wrote in the shape the API gives it", () =>
    Effect.gen(function*() {
      yield* seedDemoStore
      const entities = Schema.decodeUnknownEffect(Schema.toCodecJson(Schema.Array(CatalogEntity)))
      const prices = Schema.decodeUnknownEffect(Schema.toCodecJson(Schema.Array(Price)))
      const promotions = Schema.decodeUnknownEffect(Schema.toCodecJson(Schema.Array(Promotion)))
      assert.strictEqual((yield* entities(yield* payloads("catalog.create"))).length, 24)
      assert.strictEqual((yield* prices(yield* payloads("pricing.create"))).length, yield* count("prices"))
      assert.strictEqual((yield* promotions(yield* payloads("promotions.create"))).length, 2)
      assert.strictEqual((yield* payloads("inventory.afterAdjust")).length, 24 - 1 + 12)
    }).pipe(Effect.provide(Store)))

  it.live("sells a variant at its tier price with the welcome code, free of shipping", () =>
    Effect.gen(function*() {
      yield* Effect.provide(seedDemoStore, StoreSettings.layerOf({}))
      const tee = yield* api("GET", "/api/catalog/entities/everyday-tee?include=variants,attributes", { as: asAdmin })
      const cart = yield* aGuestCart("EUR")
      const added = yield* api("POST", `/api/carts/${cart.id}/items`, {
        headers: cart.headers,
        body: { entityId: tee.text("data.id"), variantId: tee.text("data.variants.0.id"), quantity: 5 }
      })
      assert.strictEqual(added.status, 201, JSON.stringify(added.body))
      const blend = yield* api("GET", "/api/catalog/entities/harbor-house-blend")
      yield* putInto(cart, blend.text("data.id"), 1)
      const order = yield* checkOut(cart, { currency: "EUR", promotionCodes: ["WELCOME10"] })
      assert.strictEqual(order.status, 201, JSON.stringify(order.body))
      assert.strictEqual(order.number("data.subtotal"), 5 * 2400 + 2290)
      assert.strictEqual(order.number("data.discountTotal"), 1429)
      assert.strictEqual(order.number("data.shippingTotal"), 0)
      assert.strictEqual(order.number("data.grandTotal"), 5 * 2400 + 2290 - 1429)
    }).pipe(Effect.provide(testAppLayer({ shipping: { type: "flat", flatRate: 700 } }))))

  it.live("lists its products in the order they are written down", () =>
    Effect.gen(function*() {
      const app = yield* TestApp
      yield* Effect.provide(seedDemoStore, StoreSettings.layerOf({}))
      const page = yield* app.api("GET", "/api/catalog/entities?limit=2&category=kitchen")
      assert.strictEqual(page.at("data.0.slug"), "pour-over-dripper")
      assert.strictEqual(page.at("data.1.slug"), "hand-grinder")
      assert.strictEqual(page.at("meta.pagination.total"), 9)
    }).pipe(Effect.provide(testAppLayer())))
})
