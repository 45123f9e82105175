import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { seedDemoStore } from "../../src/layers/seed/DemoStoreRepo.ts"
import { anOrganization } from "../support/Organizations.ts"
import { aGuestCart, checkOut, putInto } from "../support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { counts, exported, imported, reasons } from "./ImportFixtures.ts"

type Someone = typeof asAdmin

/** In the order in which they name each other. */
const kinds = ["categories", "brands", "catalog", "stock", "customers", "prices", "orders"] as const

/** Sends what a store exported, and returns its counts; nothing of it may be refused. */
const sendBack = Effect.fnUntraced(function*(file: string, kind: string, format: string, as: Someone) {
  const done = yield* imported(file, { as, query: `kind=${kind}&format=${format}` })
  assert.deepStrictEqual(yield* reasons(done.text("data.id"), as), [], kind)
  return counts(done)
})

/** A guest who buys three of a product and one of another. */
const aPurchase = Effect.gen(function*() {
  const cart = yield* aGuestCart("EUR", "guest@home.example")
  for (const [slug, quantity] of [["stoneware-mug", 3], ["harbor-house-blend", 1]] as const) {
    const entity = yield* api("GET", `/api/catalog/entities/${slug}`)
    yield* putInto(cart, entity.text("data.id"), quantity)
  }
  const order = yield* checkOut(cart, { currency: "EUR", promotionCodes: ["WELCOME10"] })
  assert.strictEqual(order.status, 201, JSON.stringify(order.body))
  return order.text("data.id")
})

const aDemoStore = Effect.gen(function*() {
  yield* Effect.provide(seedDemoStore, StoreSettings.layerOf({}))
  yield* aPurchase
  const order = yield* aPurchase
  yield* api("PATCH", `/api/orders/${order}/status`, { as: asAdmin, body: { status: "confirmed" } })
  yield* api("PATCH", `/api/orders/${order}/status`, { as: asAdmin, body: { status: "cancelled" } })
  for (const email of ["two@home.example", "TWO@home.example"]) {
    const body = {
      email,
      firstName: email,
      addresses: [{ type: "shipping", line1: "1 St", city: "Rotterdam", country: "NL" }]
    }
    assert.strictEqual((yield* api("POST", "/api/customers", { as: asAdmin, body })).status, 201)
  }
})

layer(testAppLayer({ shipping: { type: "flat", flatRate: 700 } }), live)("the sample shop", (it) => {
  it.effect("reads the files that it wrote, of every kind, without a refusal or a change", () =>
    Effect.gen(function*() {
      yield* aDemoStore
      for (const kind of kinds) {
        for (const format of ["csv", "jsonl"]) {
          const file = yield* exported(kind, format)
          const [created, updated, unchanged = 0] = yield* sendBack(file, kind, format, asAdmin)
          assert.deepStrictEqual([created, updated], [0, 0], `${kind} ${format}`)
          assert.isAbove(unchanged, 0, kind)
          assert.strictEqual(yield* exported(kind, format), file)
        }
      }
    }))

  it.effect("moves to an empty store, which exports the same files, and sells there", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const body = { name: "Main warehouse", code: "MAIN" }
      yield* api("POST", "/api/inventory/warehouses", { as, body })
      for (const kind of kinds) {
        const file = yield* exported(kind, "jsonl")
        yield* sendBack(file, kind, "jsonl", as)
        // What is reserved for orders stays with the store that took them.
        const plain = (text: string) => text.replaceAll(/"(reserved|available)":-?\d+,?/g, "")
        assert.strictEqual(plain(yield* exported(kind, "jsonl", as)), plain(file), kind)
      }
      const tee = yield* api("GET", "/api/catalog/entities/everyday-tee?include=variants", { as })
      const cart = yield* api("POST", "/api/carts", { as, body: { currency: "EUR" } })
      const item = { entityId: tee.text("data.id"), variantId: tee.text("data.variants.0.id"), quantity: 5 }
      const added = yield* api("POST", `/api/carts/${cart.text("data.id")}/items`, { as, body: item })
      assert.strictEqual(added.status, 201, JSON.stringify(added.body))
      const order = yield* api("POST", "/api/checkout", {
        as,
        body: { cartId: cart.text("data.id"), currency: "EUR", paymentMethodId: "test" }
      })
      assert.deepStrictEqual([order.status, order.at("data.subtotal")], [201, 5 * 2400], JSON.stringify(order.body))
    }))
})
