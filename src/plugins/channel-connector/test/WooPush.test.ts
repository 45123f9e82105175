import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { woocommerce } from "../index.ts"
import { valuesOf } from "./valuesOf.ts"
import { wooTests } from "./WooShop.ts"

const test = wooTests()
const native = (remoteKey: string) => ({ target: "native" as const, remoteKey })
const meta = (remoteKey: string) => ({ target: "meta" as const, remoteKey })
const attribute = (remoteKey: string) => ({ target: "attribute" as const, remoteKey })

describe("fields of products at a WooCommerce", () => {
  test("are read and written, native ones, attributes and meta, and others stay", ({ pushCatalog: { read, write }, shop }) =>
    Effect.gen(function*() {
      const { id } = shop.catalog.create({
        name: "Mug",
        sku: "m1",
        description: "Big",
        meta_data: [{ key: "care", value: "Wash" }, { key: "kept", value: { deep: 1 } }],
        attributes: [{ name: "Size", options: ["S", "M"], variation: true }, {
          name: "Care",
          options: ["Wash", "Iron"]
        }]
      })
      const fields = [
        native("name"),
        native("short_description"),
        attribute("Care"),
        attribute("Made in"),
        meta("care"),
        meta("kept")
      ]
      assert.deepStrictEqual(
        valuesOf(yield* read([{ externalId: `${id}`, fields }, { externalId: "999", fields }]), fields),
        [[`${id}`, ["Mug", null, "Wash | Iron", null, "Wash", `{"deep":1}`]]]
      )
      const values = ["Cup", "Short", "Wash", "CH", null]
      const sent = fields.slice(0, 5).map((field, at) => ({ ...field, value: values[at] ?? null }))
      const options = { ...attribute("Size"), value: "L" }
      assert.deepStrictEqual(
        valuesOf(yield* write([{ externalId: `${id}`, values: [...sent, options] }]), [...sent, options]),
        [[`${id}`, [...values, "S | M"]]]
      )
      const { fields: after } = shop.catalog.get(id)
      assert.deepInclude(after, { sku: "m1", description: "Big", meta_data: [{ key: "kept", value: { deep: 1 } }] })
      assert.deepStrictEqual(after.attributes.map(({ name, options }) => [name, options]), [
        ["Size", ["S", "M"]],
        ["Care", ["Wash"]],
        ["Made in", ["CH"]]
      ])
    }))

  test("are refused of one product and written of others, and none is there of a product that is gone", ({ pushCatalog: { write }, shop }) =>
    Effect.gen(function*() {
      const [one, other] = [shop.catalog.create({ name: "One" }), shop.catalog.create({ name: "Two" })]
      const change = shop.catalog.change.bind(shop.catalog)
      shop.catalog.change = (id, input, parent) => change(id === one.id ? 999 : id, input, parent)
      const values = [{ ...native("name"), value: "New" }]
      const written = yield* write([one, other, { id: 998 }].map(({ id }) => ({ externalId: `${id}`, values })))
      assert.deepStrictEqual(valuesOf(written, values), [
        [`${one.id}`, { refused: "Invalid ID." }],
        [`${other.id}`, ["New"]]
      ])
    }))

  test("are the ones that a request may write", () =>
    Effect.sync(() => {
      const accepts = woocommerce.pushes?.accepts ?? (() => false)
      const asked = [
        native("name"),
        native("sku"),
        meta("care"),
        meta("_price"),
        meta("_yoast_wpseo_title"),
        attribute("Care")
      ]
      assert.deepStrictEqual(asked.map(accepts), [true, false, true, false, true, true])
    }))
})
