import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { shopify } from "../../index.ts"
import { valuesOf } from "../valuesOf.ts"
import { addMug, given, storeTest } from "./ShopifyStore.ts"

const native = (remoteKey: string) => ({ target: "native" as const, remoteKey })
const meta = (remoteKey: string) => ({ target: "meta" as const, remoteKey })

describe("fields of products at a Shopify", () => {
  storeTest(
    "are read and written, native ones and metafields, which keep their type",
    ({ channel, shop }) =>
      Effect.gen(function*() {
        const { read, write } = given(channel.pushCatalog)
        const { product } = addMug(shop)
        const [one, other] = [`${product.id}`, `${addMug(shop).product.id}`]
        shop.catalog.setMetafields(product, [
          { namespace: "custom", key: "care", value: "Wash", type: "single_line_text_field" },
          { namespace: "custom", key: "kept", value: "Stays", type: "single_line_text_field" }
        ])
        const fields = [
          native("title"),
          native("seo.title"),
          native("seo.description"),
          meta("custom.care"),
          meta("custom.new")
        ]
        assert.deepStrictEqual(
          valuesOf(yield* read([{ externalId: one, fields }, { externalId: "1", fields }]), fields),
          [[one, ["Mug", null, null, "Wash", null]]]
        )
        const values = ["Cup", "SEO", null, "By hand", "One\nTwo"]
        const sent = fields.map((field, at) => ({ ...field, value: values[at] ?? null }))
        const written = yield* write([{ externalId: one, values: sent }, {
          externalId: other,
          values: [{ ...native("title"), value: "" }]
        }])
        assert.deepStrictEqual(valuesOf(written, fields), [[one, values], [other, { refused: "Title can't be blank" }]])
        assert.deepStrictEqual(product.fields.seo, { title: "SEO", description: "" })
        assert.deepStrictEqual(product.metafields.map(({ key, type, value }) => [key, type, value]), [
          ["kept", "single_line_text_field", "Stays"],
          ["care", "single_line_text_field", "By hand"],
          ["new", "multi_line_text_field", "One\nTwo"]
        ])
        yield* write([{ externalId: one, values: [{ ...meta("custom.care"), value: null }] }])
        assert.deepStrictEqual(product.metafields.map(({ key }) => key), ["kept", "new"])
      })
  )

  storeTest(
    "are at most 25 metafields of a call, and more of a product",
    ({ channel, shop }) =>
      Effect.gen(function*() {
        const { write } = given(channel.pushCatalog)
        const { product } = addMug(shop)
        const values = Array.from({ length: 30 }, (_, n) => ({ ...meta(`custom.key-${n}`), value: `${n}` }))
        const written = yield* write([{ externalId: `${product.id}`, values }])
        assert.deepStrictEqual(valuesOf(written, values), [[`${product.id}`, values.map(({ value }) => value)]])
        assert.lengthOf(product.metafields, 30)
      })
  )

  storeTest("are the ones that products have", () =>
    Effect.sync(() => {
      const { accepts } = given(shopify().pushes)
      const accepted = [native("vendor"), native("handle"), meta("custom.care"), meta("care"), meta("stoa.*")].map(
        accepts
      )
      assert.deepStrictEqual(accepted, [true, false, true, false, true])
      assert.isFalse(accepts({ target: "attribute", remoteKey: "Care" }))
    }))
})
