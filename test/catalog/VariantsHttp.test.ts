import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { created, entities, make, refused } from "./CatalogCalls.ts"

/** An entity with two sizes and two colors, and the ids of their values by name. */
const shirt = Effect.gen(function*() {
  const { id } = yield* make({})
  yield* created(`${entities}/${id}/options`, { name: "size", values: ["s", "m"] })
  yield* created(`${entities}/${id}/options`, { name: "color", values: ["red", "blue"] })
  const read = yield* api("GET", `${entities}/${id}?include=optionTypes`, { as: asAdmin })
  const value = (type: number, index: number) => read.text(`data.optionTypes.${type}.values.${index}.id`)
  const values = { s: value(0, 0), m: value(0, 1), red: value(1, 0), blue: value(1, 1) }
  return { id, ...values, size: read.text("data.optionTypes.0.id") }
})

const generate = Effect.fnUntraced(function*(id: string, body: unknown) {
  const answer = yield* created(`${entities}/${id}/variants/generate`, body)
  return answer.list("data").map((one) => one as { optionValueIds: ReadonlyArray<string>; metadata: object })
})

const combinations = (made: ReadonlyArray<{ readonly optionValueIds: ReadonlyArray<string> }>) =>
  made.map((one) => one.optionValueIds.join())

withSharedApp("options and variants over HTTP", (it) => {
  it.effect("options take their place after the ones before, and show their name as display name", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      const first = yield* created(`${entities}/${id}/options`, { name: "size" })
      const typeId = first.text("data.id")
      const size = { id: typeId, entityId: id, name: "size", displayName: "size", sortOrder: 0 }
      assert.deepStrictEqual(first.at("data"), size)
      const second = yield* created(`${entities}/${id}/options`, { name: "color" })
      assert.strictEqual(second.number("data.sortOrder"), 1)
      const path = `/api/catalog/options/${typeId}/values`
      yield* api("POST", path, { as: asAdmin, body: { value: "s" } })
      const value = yield* api("POST", path, { as: asAdmin, body: { value: "m" } })
      assert.strictEqual(value.status, 201)
      assert.deepStrictEqual(value.at("data"), {
        id: value.text("data.id"),
        optionTypeId: typeId,
        value: "m",
        displayValue: "m",
        sortOrder: 1,
        metadata: {}
      })
    }))

  it.effect("options exist once by name, as do their values", () =>
    Effect.gen(function*() {
      const { id, size } = yield* shirt
      yield* refused("POST", `${entities}/${id}/options`, { name: "size" }, 409)
      yield* refused("POST", `${entities}/${id}/options`, { name: "fit", values: ["a", "a"] }, 409)
      yield* refused("POST", `${entities}/${newId()}/options`, { name: "size" }, 404)
      yield* refused("POST", `${entities}/${id}/options`, {}, 422)
      yield* refused("POST", `/api/catalog/options/${size}/values`, { value: "m" }, 409)
      yield* refused("POST", `/api/catalog/options/${newId()}/values`, { value: "m" }, 404)
      yield* refused("POST", `/api/catalog/options/${size}/values`, {}, 422)
    }))

  it.effect("one variant is made of named options and keeps its codes", () =>
    Effect.gen(function*() {
      const { blue, id, m } = yield* shirt
      const food = yield* api("POST", "/api/tax/classes", {
        as: asAdmin,
        body: { name: "food", rateBps: 700, isActive: false }
      })
      const body = { options: { color: "blue", size: "m" }, sku: newId(), barcode: "123", taxClass: "food", price: 9 }
      const made = yield* api("POST", `${entities}/${id}/variants`, { as: asAdmin, body })
      assert.strictEqual(made.status, 201)
      assert.deepStrictEqual(made.at("data"), {
        id: made.text("data.id"),
        entityId: id,
        organizationId: yield* theOrganization,
        sourceStoreId: null,
        sku: body.sku,
        barcode: "123",
        taxClass: "food",
        taxClassId: food.text("data.id"),
        manageInventory: null,
        allowBackorder: null,
        backorderLimit: null,
        status: "active",
        sortOrder: 0,
        metadata: {},
        optionValueIds: [blue, m]
      })
      yield* refused("POST", `${entities}/${id}/variants`, { options: { size: "m", color: "blue" } }, 409)
      const plain = yield* api("POST", `${entities}/${id}/variants`, { as: asAdmin, body: { options: {} } })
      assert.deepStrictEqual([plain.status, plain.at("data.optionValueIds"), plain.at("data.sku")], [201, [], null])
      assert.isUndefined(plain.at("meta"))
      yield* refused("POST", `${entities}/${id}/variants`, { options: {} }, 409)
    }))

  it.effect("a SKU that other variants have is taken with a warning that names them", () =>
    Effect.gen(function*() {
      const [shirt, hat, sku] = [yield* make({}), yield* make({}), newId()]
      const add = (id: string) => api("POST", `${entities}/${id}/variants`, { as: asAdmin, body: { options: {}, sku } })
      assert.isUndefined((yield* add(shirt.id)).at("meta"))
      const second = yield* add(hat.id)
      assert.deepStrictEqual([second.status, second.at("data.sku"), second.at("data.uniqueSku")], [201, sku, undefined])
      const message = `The SKU '${sku}' is also that of '${shirt.slug}'.`
      assert.deepStrictEqual(second.at("meta.warnings"), [{ path: "sku", message, code: "shared_sku" }])
      assert.isUndefined(second.at("data.warnings"))
    }))

  it.effect("one variant is refused for an option or a value the entity does not have, and without options", () =>
    Effect.gen(function*() {
      const { id } = yield* shirt
      const path = `${entities}/${id}/variants`
      const unknown = yield* refused("POST", path, { options: { fit: "slim" } }, 422)
      assert.strictEqual(unknown.at("error.details.issues.0.path"), "options.fit")
      yield* refused("POST", path, { options: { size: "xxl" } }, 422)
      yield* refused("POST", path, {}, 422)
      yield* refused("POST", `${entities}/${newId()}/variants`, { options: {} }, 404)
    }))

  it.effect("generating without a body makes all combinations once; again it makes only what is new", () =>
    Effect.gen(function*() {
      const { blue, id, m, red, s, size } = yield* shirt
      const made = yield* generate(id, undefined)
      assert.deepStrictEqual(combinations(made), [`${s},${red}`, `${s},${blue}`, `${m},${red}`, `${m},${blue}`])
      assert.deepStrictEqual(made[0]?.metadata, { generatedBy: "all" })
      assert.deepStrictEqual(yield* generate(id, { mode: "all" }), [])
      yield* api("POST", `/api/catalog/options/${size}/values`, { as: asAdmin, body: { value: "l" } })
      assert.strictEqual((yield* generate(id, { mode: "all" })).length, 2)
    }))

  it.effect("generating of a matrix keeps what is included and not excluded", () =>
    Effect.gen(function*() {
      const { blue, id, m, red, s } = yield* shirt
      const made = yield* generate(id, { mode: "matrix", matrix: { include: [[s], [red]], exclude: [[s, red]] } })
      assert.deepStrictEqual(combinations(made), [`${s},${blue}`, `${m},${red}`])
      assert.deepStrictEqual(made[0]?.metadata, { generatedBy: "matrix" })
    }))

  it.effect("generating by hand makes the combinations given", () =>
    Effect.gen(function*() {
      const { blue, id, m } = yield* shirt
      const made = yield* generate(id, { mode: "manual", combinations: [[m.toUpperCase(), blue], [m], []] })
      assert.deepStrictEqual(combinations(made), [`${m},${blue}`, m, ""])
      const unknown = { mode: "manual", combinations: [[newId()]] }
      yield* refused("POST", `${entities}/${id}/variants/generate`, unknown, 422)
    }))

  it.effect("generating without options makes one variant without options", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      assert.deepStrictEqual(combinations(yield* generate(id, { mode: "all" })), [""])
      assert.deepStrictEqual(yield* generate(id, { mode: "all" }), [])
    }))

  it.effect("generating is refused without a mode, with an unknown one, and above 1,000 combinations", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      const path = `${entities}/${id}/variants/generate`
      const values = Array.from({ length: 32 }, (_, n) => `v${n}`)
      for (const name of ["a", "b"]) {
        yield* api("POST", `${entities}/${id}/options`, { as: asAdmin, body: { name, values } })
      }
      for (const mode of [undefined, "some", "manual", "all"]) yield* refused("POST", path, { mode }, 422)
      yield* refused("POST", `${entities}/${newId()}/variants/generate`, { mode: "all" }, 404)
    }))
})
