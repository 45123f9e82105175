import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { checkoutFailed, refused } from "../checkout/CheckoutFixtures.ts"
import { counts, imported, jsonl } from "../import-export/ImportFixtures.ts"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const checkOf = (entityId: string) =>
  Effect.map(
    api("GET", `/api/inventory/check?entityIds=${entityId}`, { as: asAdmin }),
    (answer) => answer.at(`data.${entityId}`)
  )

const entity = (entityId: string, body: object) =>
  api("PATCH", `/api/catalog/entities/${entityId}`, { as: asAdmin, body })

const buy = Effect.fnUntraced(function*(entityId: string, quantity = 1) {
  return yield* checkOut(yield* aCartWith(entityId, quantity))
})

const short = (answer: Effect.Success<ReturnType<typeof buy>>) => checkoutFailed(answer, /^Insufficient stock/)

const settings = { catalog: { types: { ebook: { manageInventory: false } } } }

layer(testAppLayer(settings), live)("goods that are not counted", (it) => {
  it.effect("are downloads, courses, services and types of the configuration; all others are counted", () =>
    Effect.gen(function*() {
      for (const type of ["digitalDownload", "course", "service", "ebook"]) {
        const entityId = yield* aProduct({ type, stock: 0 })
        const bought = yield* buy(entityId, 1_000)
        assert.deepStrictEqual([type, bought.status, yield* checkOf(entityId)], [type, 201, null])
      }
      const unknown = yield* aProduct({ type: "sculpture", stock: 0 })
      short(yield* buy(unknown))
      assert.strictEqual(yield* checkOf(unknown), 0)
    }))

  it.effect("share a cart and an order with goods that are", () =>
    Effect.gen(function*() {
      const [lesson, book] = [yield* aProduct({ type: "course" }), yield* aProduct({ stock: 3 })]
      const cart = yield* aCartWith(lesson, 5)
      yield* addTo(cart, book, 2)
      const bought = yield* checkOut(cart)
      assert.strictEqual(bought.status, 201)
      assert.strictEqual(yield* checkOf(book), 1)
      const cancelled = yield* api("PATCH", `/api/orders/${bought.text("data.id")}/status`, {
        as: asAdmin,
        body: { status: "cancelled" }
      })
      assert.strictEqual(cancelled.status, 200)
      assert.deepStrictEqual([yield* checkOf(book), yield* checkOf(lesson)], [3, null])
    }))

  it.effect("become so, and counted again, by a change of the product", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 0 })
      short(yield* buy(entityId))
      assert.strictEqual((yield* entity(entityId, { manageInventory: false })).at("data.manageInventory"), false)
      assert.strictEqual((yield* buy(entityId)).status, 201)
      yield* entity(entityId, { manageInventory: true })
      short(yield* buy(entityId))
    }))

  it.effect("may be one variant of a product that is counted", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 0 })
      const variant = (body: object) =>
        api("POST", `/api/catalog/entities/${entityId}/variants`, { as: asAdmin, body: { options: {}, ...body } })
      yield* api("POST", `/api/catalog/entities/${entityId}/options`, {
        as: asAdmin,
        body: { name: "form", values: ["paper", "file"] }
      })
      const file = yield* variant({ options: { form: "file" }, manageInventory: false })
      const paper = yield* variant({ options: { form: "paper" } })
      assert.deepStrictEqual([file.at("data.manageInventory"), paper.at("data.manageInventory")], [false, null])
      const buyVariant = Effect.fnUntraced(function*(variantId: string) {
        const cart = yield* aGuestCart()
        const body = { entityId, variantId, quantity: 1 }
        yield* api("POST", `/api/carts/${cart.id}/items`, { headers: cart.headers, body })
        return yield* checkOut(cart)
      })
      assert.strictEqual((yield* buyVariant(file.text("data.id"))).status, 201)
      short(yield* buyVariant(paper.text("data.id")))
    }))

  it.effect("have no stock to adjust; a file's row about it is a warning, and nothing changes", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ type: "service" })
      const body = { entityId, type: "restock", quantity: 5 }
      const adjusted = yield* api("POST", "/api/inventory/adjust", { as: asAdmin, body })
      refused(adjusted, 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(adjusted.at("error.details.issues.0.code"), "not_counted")
      const slug = (yield* api("GET", `/api/catalog/entities/${entityId}`, { as: asAdmin })).text("data.slug")
      const file = yield* imported(jsonl({ slug, onHand: 5 }), { query: "kind=stock", type: "application/x-ndjson" })
      assert.deepStrictEqual([...counts(file), file.at("data.warned")], [0, 0, 1, 0, 1])
      const warnings = yield* api("GET", `/api/imports/${file.text("data.id")}/warnings`, { as: asAdmin })
      assert.deepStrictEqual(warnings.at("data"), [{
        row: 1,
        line: 1,
        key: slug,
        issues: [{
          path: "",
          message: "The stock of these goods is not counted (manageInventory is false): nothing was changed.",
          code: "not_counted"
        }]
      }])
      assert.deepInclude(warnings.at("meta.pagination"), { total: 1 })
      const levels = yield* api("GET", `/api/inventory/levels?entityId=${entityId}`, { as: asAdmin })
      assert.deepStrictEqual(levels.at("data"), [])
    }))

  it.effect("can be added to an order by staff, and taken off again", () =>
    Effect.gen(function*() {
      const [book, lesson] = [yield* aProduct({ stock: 1 }), yield* aProduct({ type: "course" })]
      const made = yield* api("POST", "/api/orders", {
        as: asAdmin,
        body: { currency: "USD", lineItems: [{ entityId: book, quantity: 1 }] }
      })
      const path = `/api/orders/${made.text("data.id")}/line-items`
      const added = yield* api("POST", path, { as: asAdmin, body: { entityId: lesson, quantity: 7 } })
      assert.strictEqual(added.at("data.lineItems.1.quantity"), 7)
      const lineId = added.text("data.lineItems.1.id")
      assert.strictEqual((yield* api("DELETE", `${path}/${lineId}`, { as: asAdmin })).status, 200)
      assert.deepStrictEqual([yield* checkOf(lesson), yield* checkOf(book)], [null, 0])
    }))
})
