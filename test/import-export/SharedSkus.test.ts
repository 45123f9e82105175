import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, live, testAppLayer, withApp } from "../support/TestApp.ts"
import { aStore, expectRoundTrip, imported, jsonl, withReasons } from "./ImportFixtures.ts"

/** A shirt of two sizes and a hat, all with one SKU. */
const sharing = jsonl(
  {
    slug: "shirt",
    type: "product",
    status: "active",
    attributes: [{ title: "Shirt" }],
    variants: [{ sku: "ONE", options: { Size: "S" } }, { sku: "ONE", options: { Size: "M" } }]
  },
  { slug: "hat", type: "product", variants: [{ sku: "ONE" }] },
  { slug: "cap", type: "product", variants: [{ sku: "TWO" }] }
)

const warningsOf = (id: string, as: object) =>
  Effect.map(
    api("GET", `/api/imports/${id}/warnings`, { as }),
    (answer) =>
      answer.list("data").map((
        _,
        n
      ) => [answer.at(`data.${n}.key`), answer.at(`data.${n}.issues.0.path`), answer.at(`data.${n}.issues.0.message`)])
  )

withApp("a SKU that several variants have", (it) => {
  it.effect("is imported with each of them and reported, and the same file again changes nothing", () =>
    Effect.gen(function*() {
      const { as, get } = yield* aStore
      const first = yield* imported(sharing, { as, query: "format=jsonl" })
      const again = yield* imported(sharing, { as, query: "format=jsonl" })
      const counts = (name: string) => [first, again].map((one) => one.number(`data.${name}`))
      assert.deepStrictEqual([counts("created"), counts("unchanged"), counts("warned")], [[3, 0], [0, 3], [2, 2]])
      assert.deepStrictEqual(yield* warningsOf(first.text("data.id"), as), [
        ["shirt", "variants.0.sku", "The SKU 'ONE' is also that of 'shirt'."],
        ["hat", "variants.0.sku", "The SKU 'ONE' is also that of 'shirt' (2 variants)."]
      ])
      const shirt = yield* get("catalog/entities/shirt?include=variants")
      assert.deepStrictEqual([0, 1].map((n) => shirt.at(`data.variants.${n}.sku`)), ["ONE", "ONE"])
    }))

  it.effect("names a price or stock only with the slug, or the slug and the options", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      yield* store.send(sharing)
      const all = "Several variants have the SKU 'ONE': 'hat', 'shirt' (Size: S) and 'shirt' (Size: M). "
      const shirts = "Several variants have the SKU 'ONE': 'shirt' (Size: S) and 'shirt' (Size: M). "
      const advice = "Name the slug and the options of one."
      const rows = ",ONE,,5\nhat,ONE,,6\nshirt,ONE,,7\nshirt,ONE,\"{\"\"Size\"\":\"\"M\"\"}\",8\n,TWO,,9\n"
      for (
        const [kind, header] of [["stock", "slug,sku,options,onHand"], ["prices", "slug,sku,options,amount"]] as const
      ) {
        const file = kind === "stock"
          ? `${header}\n${rows}`
          : `${header},currency\n${rows.replaceAll(/(\d)\n/g, "$1,USD\n")}`
        const done = yield* store.send(file, `kind=${kind}`)
        assert.deepStrictEqual(done, withReasons([3, 0, 0, 2], `2:  ${all}${advice}`, `4:  ${shirts}${advice}`))
        assert.deepStrictEqual((yield* store.send(file, `kind=${kind}`)).slice(0, 4), [0, 0, 3, 2])
      }
      const hat = yield* store.get("catalog/entities/hat?include=inventory")
      assert.strictEqual(hat.at("data.inventory.0.onHand"), 6)
      const other = yield* aStore
      for (const kind of ["catalog", "prices", "stock"]) yield* expectRoundTrip(store, other, kind)
    }))

  it.effect("of one product needs options in a file of products", () =>
    Effect.gen(function*() {
      const { send } = yield* aStore
      yield* send(sharing)
      const file = jsonl({ slug: "shirt", variants: [{ sku: "ONE", barcode: "1" }] }, {
        slug: "hat",
        variants: [{ sku: "ONE" }]
      })
      const message = "1: variants.0.sku Several variants of this product have the SKU 'ONE': name their options."
      assert.deepStrictEqual(yield* send(file), withReasons([0, 0, 1, 1], message))
    }))
})

layer(testAppLayer({ catalog: { uniqueSkus: true } }), live)("where SKUs are unique", (it) => {
  it.effect("a second variant with a SKU is refused by files and routes, also one of before", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const done = yield* imported(sharing, { as, query: "format=jsonl" })
      assert.deepStrictEqual(["created", "refused"].map((name) => done.number(`data.${name}`)), [2, 1])
      const bag = yield* api("POST", "/api/catalog/entities", { as, body: { type: "product", slug: "bag" } })
      const path = `/api/catalog/entities/${bag.text("data.id")}/variants`
      // As if they were made before SKUs had to be unique.
      yield* onDatabase((sql) => sql`update variants set unique_sku = null where sku = 'ONE'`)
      for (const sku of ["ONE", "TWO"]) {
        const answer = yield* api("POST", path, { as, body: { options: {}, sku } })
        assert.strictEqual(answer.status, 409, sku)
      }
      assert.strictEqual((yield* api("POST", path, { as, body: { options: {}, sku: "NEW" } })).status, 201)
    }))
})
