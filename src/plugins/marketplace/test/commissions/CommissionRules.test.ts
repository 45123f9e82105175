import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase, refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin } from "../../../../../test/support/TestApp.ts"
import { anOrderOf, aProductOf, aVendor, insertVendor, subOrderOf } from "../MarketBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

const withMarket = withMarketplace({ defaultCommissionRateBps: 800 })

const rules = "/api/marketplace/commission-rules"
const make = (body: object) => api("POST", rules, { as: asAdmin, body: { name: "a rule", rateBps: 500, ...body } })
const change = (id: string, body: object) => api("PATCH", `${rules}/${id}`, { as: asAdmin, body })
const preview = (body: object) => api("POST", `${rules}/preview`, { as: asAdmin, body })

const aCategory = Effect.fnUntraced(function*(slug: string, parentId?: string) {
  const made = yield* api("POST", "/api/catalog/categories", { as: asAdmin, body: { slug, parentId, name: slug } })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return made.text("data.id")
})

withMarket("commission rules", (it) => {
  it.effect("commission rules are made, changed, listed and deleted by who runs the marketplace", () =>
    Effect.gen(function*() {
      const made = yield* make({ type: "category", categorySlug: "hats", validUntil: "2030-01-01", minFeeCents: 5 })
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      assert.deepInclude(made.at("data"), {
        type: "category",
        rateBps: 500,
        priority: 0,
        isActive: true,
        vendorId: null,
        validUntil: "2030-01-01T00:00:00.000Z"
      })
      const id = made.text("data.id")
      const changed = yield* change(id, { rateBps: 600, priority: 4, validUntil: null, isActive: false })
      assert.strictEqual(changed.status, 200, JSON.stringify(changed.body))
      assert.deepInclude(changed.at("data"), { rateBps: 600, validUntil: null, minFeeCents: 5, isActive: false })
      const second = yield* make({ type: "promotional", priority: 9 })
      const third = yield* make({ type: "promotional", priority: 4 })
      const listed = yield* api("GET", `${rules}?limit=100`, { as: asAdmin })
      assert.deepStrictEqual(
        listed.list("data").map((one) => Reflect.get(Object(one), "id")),
        [second, third].map((one) => one.text("data.id")).concat(id)
      )
      const gone = yield* api("DELETE", `${rules}/${id}`, { as: asAdmin })
      assert.deepStrictEqual([gone.status, gone.at("data")], [200, { deleted: true }])
      refused(yield* api("DELETE", `${rules}/${id}`, { as: asAdmin }), 404, "NOT_FOUND")
      refused(yield* change(id, { rateBps: 1 }), 404, "NOT_FOUND")
      for (const one of [second, third]) yield* api("DELETE", `${rules}/${one.text("data.id")}`, { as: asAdmin })
    }))

  it.effect("commission rules that do not fit together are refused, made or changed", () =>
    Effect.gen(function*() {
      for (
        const body of [
          { type: "category" },
          { type: "vendor_tier" },
          { type: "volume_tier" },
          { type: "volume_tier", minVolumeCents: 10, maxVolumeCents: 9 },
          { type: "promotional", validFrom: "2026-02-01", validUntil: "2026-01-01" },
          { type: "promotional", minFeeCents: 3, maxFeeCents: 2 },
          { type: "promotional", rateBps: 10_001 },
          { type: "promotional", rateBps: -1 },
          { type: "gift" },
          { type: "promotional", vendorId: "00000000-0000-4000-8000-000000000001" }
        ]
      ) refused(yield* make(body), 422, "VALIDATION_FAILED")
      const kept = yield* make({ type: "category", categorySlug: "bags", validFrom: "2026-02-01" })
      for (const body of [{ categorySlug: null }, { validUntil: "2026-01-01" }]) {
        refused(yield* change(kept.text("data.id"), body), 422, "VALIDATION_FAILED")
      }
      yield* api("DELETE", `${rules}/${kept.text("data.id")}`, { as: asAdmin })
    }))

  it.effect("commission rules are for vendors of their organization", () =>
    Effect.gen(function*() {
      const outsider = yield* onDatabase((sql) =>
        Effect.provideService(insertVendor({ organizationId: "org_other" }), SqlClient.SqlClient, sql)
      )
      refused(yield* make({ type: "promotional", vendorId: outsider }), 422, "VALIDATION_FAILED")
      refused(yield* preview({ vendorId: outsider }), 404, "NOT_FOUND")
    }))

  it.effect("commission rules decide by the closest category of each line, and are kept with it", () =>
    Effect.gen(function*() {
      const vendor = yield* aVendor({ commissionRateBps: 1500 })
      const [top, inner] = [`top-${vendor}`, `inner-${vendor}`]
      const parent = yield* aCategory(top)
      const child = yield* aCategory(inner, parent)
      const [a, b] = [yield* aProductOf(vendor, { price: 1000 }), yield* aProductOf(vendor, { price: 1000 })]
      yield* onDatabase((sql) =>
        sql`insert into entity_categories (organization_id, entity_id, category_id)
          values ('org_default', ${a}::uuid, ${child}::uuid)`
      )
      const made = yield* make({ type: "category", categorySlug: top, rateBps: 200, fixedFeeCents: 7 })
      const ruleId = made.text("data.id")
      const sub = yield* subOrderOf(yield* anOrderOf([[a], [b]]), vendor)
      const lines = new Map(sub.list("data.lineItems").map((line) => [Reflect.get(Object(line), "entityId"), line]))
      assert.deepInclude(Object(lines.get(a)), { ruleId, rateBps: 200, commissionAmount: 27 })
      assert.deepInclude(Object(lines.get(b)), { ruleId: null, rateBps: 1500, commissionAmount: 150 })
      assert.deepInclude(sub.at("data"), { commissionAmount: 177, payoutAmount: 1823 })
      assert.deepStrictEqual((yield* preview({ vendorId: vendor, categorySlug: inner })).at("data"), {
        rateBps: 200,
        ratePercent: 2,
        ruleId
      })
      yield* make({ type: "category", categorySlug: inner, rateBps: 100 })
      assert.deepInclude((yield* preview({ vendorId: vendor, categorySlug: inner })).at("data"), { rateBps: 100 })
      assert.deepInclude((yield* preview({ vendorId: vendor, categorySlug: top })).at("data"), { rateBps: 200 })
    }))

  it.effect("commission rules go by what the vendor sold in the last thirty days, and by its tier", () =>
    Effect.gen(function*() {
      const vendor = yield* aVendor({ tier: "platinum", commissionRateBps: 1500 })
      const a = yield* aProductOf(vendor, { price: 1000 })
      yield* make({ type: "volume_tier", vendorId: vendor, minVolumeCents: 3000, rateBps: 300 })
      const rateOf = (body: object = {}) =>
        Effect.map(preview({ vendorId: vendor, ...body }), (answer) => answer.number("data.rateBps"))
      assert.strictEqual(yield* rateOf(), 1500)
      const old = yield* anOrderOf([[a, 3]])
      assert.strictEqual((yield* subOrderOf(old, vendor)).number("data.commissionAmount"), 450)
      assert.strictEqual(yield* rateOf(), 300)
      assert.strictEqual((yield* subOrderOf(yield* anOrderOf([[a]]), vendor)).number("data.commissionAmount"), 30)
      yield* onDatabase((sql) =>
        sql`update marketplace_vendor_sub_orders set created_at = now() - interval '31 days' where order_id = ${old}::uuid`
      )
      assert.strictEqual(yield* rateOf(), 1500)
      assert.strictEqual(yield* rateOf({ volumeCents: 3000 }), 300)
      yield* make({ type: "vendor_tier", vendorTier: "platinum", rateBps: 1200 })
      assert.strictEqual(yield* rateOf(), 1200)
    }))
})
