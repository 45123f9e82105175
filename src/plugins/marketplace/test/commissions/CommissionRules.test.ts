import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { asAdmin } from "../../../../../test/support/TestApp.ts"
import { done, each, refused, refusedBodies } from "../Calls.ts"
import { aCategory, anOrderOf, aProductOf, aVendor, subOrderOf } from "../Goods.ts"
import { market } from "../Market.ts"

const [missing, invalid] = ["404 NOT_FOUND", "422 VALIDATION_FAILED"]

const rule = (type: string, rest: object = {}) => ({ name: "a rule", rateBps: 500, type, ...rest })
const made = (type: string, rest: object = {}) => done(asAdmin, "POST /commission-rules", rule(type, rest))
const preview = (body: object) =>
  Effect.map(done(asAdmin, "POST /commission-rules/preview", body), ({ at }) => at("data"))

market({ defaultCommissionRateBps: 800 })("commission rules", (test) => {
  test("are made, changed, listed by priority and deleted", function*() {
    const first = yield* made("category", { categorySlug: "hats", validUntil: "2030-01-01", minFeeCents: 5 })
    const defaults = { rateBps: 500, priority: 0, isActive: true, vendorId: null }
    assert.deepInclude(first.at("data"), { ...defaults, validUntil: "2030-01-02T00:00:00.000Z" })
    const one = `/commission-rules/${first.text("data.id")}`
    const change = { rateBps: 600, priority: 4, validUntil: null, isActive: false }
    assert.deepInclude((yield* done(asAdmin, `PATCH ${one}`, change)).at("data"), { ...change, minFeeCents: 5 })
    const [second, third] = [yield* made("promotional", { priority: 9 }), yield* made("promotional", { priority: 4 })]
    const listed = each(yield* done(asAdmin, "GET /commission-rules"), "id")
    assert.deepStrictEqual(listed, [second, third, first].map((made) => made.at("data.id")))
    assert.deepStrictEqual((yield* done(asAdmin, `DELETE ${one}`)).at("data"), { deleted: true })
    yield* refused(missing, asAdmin, `DELETE ${one}`)
    yield* refused(missing, asAdmin, `PATCH ${one}`, { rateBps: 1 })
    for (const id of listed.slice(0, 2)) yield* done(asAdmin, `DELETE /commission-rules/${id}`)
  })

  test("that do not fit together are refused, made or changed, as are vendors of other stores", function*() {
    const outsider = yield* aVendor({ within: "org_other" })
    yield* refusedBodies(invalid, asAdmin, "POST /commission-rules", [
      ...["category", "vendor_tier", "volume_tier", "gift"].map((type) => rule(type)),
      rule("volume_tier", { minVolumeCents: 10, maxVolumeCents: 9 }),
      rule("promotional", { validFrom: "2026-02-01", validUntil: "2026-01-01" }),
      rule("promotional", { minFeeCents: 3, maxFeeCents: 2 }),
      rule("promotional", { rateBps: 10_001 }),
      rule("promotional", { rateBps: -1 })
    ])
    const strange = rule("promotional", { vendorId: outsider })
    const answer = yield* refused(invalid, asAdmin, "POST /commission-rules", strange)
    assert.strictEqual(answer.at("error.details.issues.0.path"), "vendorId")
    yield* refused(missing, asAdmin, "POST /commission-rules/preview", { vendorId: outsider })
    const kept = `/commission-rules/${
      (yield* made("category", { categorySlug: "bags", validFrom: "2026-02-01" })).text("data.id")
    }`
    yield* refusedBodies(invalid, asAdmin, `PATCH ${kept}`, [{ categorySlug: null }, { validUntil: "2026-01-01" }])
    yield* done(asAdmin, `DELETE ${kept}`)
  })

  test("decide by the closest category of each line, and are kept with it", function*() {
    const vendorId = yield* aVendor({ commissionRateBps: 1500 })
    const [top, inner] = [`top-${vendorId}`, `inner-${vendorId}`]
    const child = yield* aCategory(inner, yield* aCategory(top))
    const [a, b] = [yield* aProductOf(vendorId), yield* aProductOf(vendorId)]
    yield* done(asAdmin, `POST /api/catalog/entities/${a}/categories/${child}`)
    const ruleId = (yield* made("category", { categorySlug: top, rateBps: 200, fixedFeeCents: 7 })).at("data.id")
    const sub = yield* subOrderOf(yield* anOrderOf([[a], [b]]), vendorId)
    const lineOf = (id: string) => Object(sub.list("data.lineItems").find((line) => Object(line).entityId === id))
    assert.deepInclude(lineOf(a), { ruleId, rateBps: 200, commissionAmount: 27 })
    assert.deepInclude(lineOf(b), { ruleId: null, rateBps: 1500, commissionAmount: 150 })
    assert.deepInclude(sub.at("data"), { commissionAmount: 177, payoutAmount: 1823 })
    assert.deepStrictEqual(yield* preview({ vendorId, categorySlug: inner }), { rateBps: 200, ratePercent: 2, ruleId })
    yield* made("category", { categorySlug: inner, rateBps: 100 })
    assert.deepInclude(yield* preview({ vendorId, categorySlug: inner }), { rateBps: 100 })
    assert.deepInclude(yield* preview({ vendorId, categorySlug: top }), { rateBps: 200 })
  })

  test("go by what the vendor sold in the last thirty days, and by its tier", function*() {
    const vendorId = yield* aVendor({ tier: "platinum", commissionRateBps: 1500 })
    const entityId = yield* aProductOf(vendorId)
    yield* made("volume_tier", { vendorId, minVolumeCents: 3000, rateBps: 300 })
    const rateOf = (body: object = {}) => Effect.map(preview({ vendorId, ...body }), (terms) => Object(terms).rateBps)
    const commission = (orderId: string) =>
      Effect.map(subOrderOf(orderId, vendorId), (one) => one.at("data.commissionAmount"))
    assert.strictEqual(yield* rateOf(), 1500)
    const old = yield* anOrderOf([[entityId, 3]])
    assert.deepStrictEqual([yield* commission(old), yield* rateOf()], [450, 300])
    assert.strictEqual(yield* commission(yield* anOrderOf([[entityId]])), 30)
    yield* onDatabase((sql) =>
      sql`update marketplace_vendor_sub_orders set created_at = now() - interval '31 days' where order_id = ${old}::uuid`
    )
    assert.deepStrictEqual([yield* rateOf(), yield* rateOf({ volumeCents: 3000 })], [1500, 300])
    yield* made("vendor_tier", { vendorTier: "platinum", rateBps: 1200 })
    assert.strictEqual(yield* rateOf(), 1200)
  })
})
