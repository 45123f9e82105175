import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { api, asAdmin, asStaff } from "../../../../../test/support/TestApp.ts"
import { admin, anApprovedVendor, refusal, withMarketplace } from "../VendorShop.ts"

const aCategory = Effect.fnUntraced(function*(slug: string, parentId?: string) {
  const made = yield* api("POST", "/api/catalog/categories", { as: asAdmin, body: { slug, parentId } })
  assert.include([200, 201], made.status, JSON.stringify(made.body))
  return made.text("data.id")
})

const put = (entityId: string, categoryId: string, as: object = asStaff) =>
  api("POST", `/api/catalog/entities/${entityId}/categories/${categoryId}`, { as })

const categoriesOf = (entityId: string) =>
  Effect.map(
    api("GET", `/api/catalog/entities/${entityId}?include=categories`, { as: asAdmin }),
    (read) => read.list("data.categories").map((_, at) => read.at(`data.categories.${at}.slug`))
  )

const aThingOf = Effect.fnUntraced(function*(vendorId: string) {
  const entityId = yield* aProduct()
  assert.strictEqual((yield* admin("POST", `/${vendorId}/products`, { entityId })).status, 201)
  return entityId
})

withMarketplace()("a vendor with approved categories", (it) => {
  it.effect("sells in these and below them: others are refused by name, to staff and administrators alike", () =>
    Effect.gen(function*() {
      const [shoes, hats] = [yield* aCategory("shoes"), yield* aCategory("hats")]
      const boots = yield* aCategory("boots", yield* aCategory("winter-shoes", shoes))
      const vendorId = yield* anApprovedVendor({ name: "Cobbler", approvedCategories: ["shoes", "to-come"] })
      const entityId = yield* aThingOf(vendorId)
      for (const as of [asStaff, asAdmin]) {
        const refused = yield* put(entityId, hats, as)
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [422, "VALIDATION_FAILED"])
        assert.match(
          JSON.stringify(refused.body),
          /Cobbler may not sell in \\"hats\\"; approved for it: shoes, to-come/
        )
      }
      for (const allowed of [shoes, boots, yield* aCategory("to-come")]) {
        assert.isBelow((yield* put(entityId, allowed)).status, 300)
      }
      assert.deepStrictEqual((yield* categoriesOf(entityId)).toSorted(), ["boots", "shoes", "to-come"])
      assert.strictEqual((yield* put(entityId, randomUUID())).status, 404)
    }))

  it.effect("gets no thing that lies elsewhere; without a list a vendor sells everywhere, as the store does", () =>
    Effect.gen(function*() {
      const rings = yield* aCategory("rings")
      const free = yield* anApprovedVendor()
      const empty = yield* anApprovedVendor({ approvedCategories: [] })
      const bound = yield* anApprovedVendor({ approvedCategories: ["watches"] })
      const entityId = yield* aProduct()
      assert.isBelow((yield* put(entityId, rings)).status, 300)
      const give = (to: string) => admin("POST", `/${to}/products`, { entityId })
      assert.deepStrictEqual(yield* refusal(give(bound)), [422, "VALIDATION_FAILED"])
      assert.strictEqual((yield* admin("GET", `/${bound}/products`)).list("data").length, 0)
      for (const vendorId of [free, empty]) {
        assert.strictEqual((yield* give(vendorId)).status, 201)
        assert.strictEqual((yield* admin("DELETE", `/${vendorId}/products/${entityId}`)).status, 200)
      }
      // A longer list lets it in; a shorter one takes nothing away.
      const list = (approvedCategories: ReadonlyArray<string> | null) =>
        admin("PATCH", `/${bound}`, { approvedCategories })
      yield* list(["watches", "rings"])
      assert.strictEqual((yield* give(bound)).status, 201)
      yield* list(["watches"])
      assert.deepStrictEqual(yield* categoriesOf(entityId), ["rings"])
      yield* list(null)
      assert.isBelow((yield* put(entityId, yield* aCategory("anything"))).status, 300)
    }))

  it.effect("a vendor with approved categories does not claim things of the store's own that lie elsewhere, when their metadata is changed", () =>
    Effect.gen(function*() {
      const [lamps, vendorId] = [
        yield* aCategory("lamps"),
        yield* anApprovedVendor({ approvedCategories: ["vases"] })
      ]
      const entityId = yield* aProduct()
      assert.isBelow((yield* put(entityId, lamps)).status, 300)
      const claim = (id: string) =>
        api("PATCH", `/api/catalog/entities/${entityId}`, { as: asAdmin, body: { metadata: { vendorId: id } } })
      assert.deepStrictEqual(yield* refusal(claim(vendorId)), [422, "VALIDATION_FAILED"])
      const other = yield* anApprovedVendor()
      assert.strictEqual((yield* claim(other)).status, 200)
      assert.strictEqual((yield* admin("GET", `/${other}/products`)).at("data.0.entityId"), entityId)
    }))
})
