import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import giftShop from "../../examples/deployment/commerce.config.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, live, testAppLayer, withApp } from "../support/TestApp.ts"
import { example } from "./Program.ts"

/** Every program of the folder is run below; one that is added here too. */
const programs = ["import-products.ts", "stock-keeper.ts", "storefront.ts"]

withApp("the examples", (it) => {
  it("are all run by these tests", () => {
    const found = readdirSync("examples").filter((name) => /^[a-z-]+\.ts$/.test(name))
    assert.deepStrictEqual(found.sort(), programs)
  })

  it.effect("import products, and a second run changes nothing", () =>
    Effect.gen(function*() {
      const first = yield* example("import-products.ts")
      assert.strictEqual(first.code, 0, first.output)
      const list = () =>
        api("GET", "/api/catalog/entities?include=pricing,inventory,attributes&sort=slug:asc", { as: asAdmin })
      const before = yield* list()
      assert.strictEqual(before.at("meta.pagination.total"), 3)
      assert.deepInclude(before.at("data.0.inventory.0"), { onHand: 80 })
      assert.deepInclude(before.at("data.1.pricing.0"), { amount: 4200, currency: "EUR" })
      const second = yield* example("import-products.ts")
      assert.strictEqual(second.code, 0, second.output)
      const after = yield* list()
      assert.strictEqual(after.at("meta.pagination.total"), 3)
      assert.deepEqual(after.at("data.0.inventory"), before.at("data.0.inventory"))
      assert.strictEqual(after.list("data.1.pricing").length, 1)
    }))

  it.effect("buy as a guest", () =>
    Effect.gen(function*() {
      const bought = yield* example("storefront.ts", "example-teapot")
      assert.strictEqual(bought.code, 0, bought.output)
      assert.match(
        bought.output,
        /found Teapot\nbought as ORD-\d{4}-\d{6} for 8400 EUR in minor units\nthe order is pending/
      )
    }))

  it.effect("keep the stock over /rpc and hear of it", () =>
    Effect.gen(function*() {
      const kept = yield* example("stock-keeper.ts", "40")
      assert.strictEqual(kept.code, 0, kept.output)
      assert.match(kept.output, /2 below 40\n2 changes heard of/)
      const levels = yield* api("GET", "/api/inventory/levels", { as: asAdmin })
      const available = levels.list("data").map((level) => Reflect.get(Object(level), "available"))
      assert.deepStrictEqual(available.sort(), [40, 40, 80])
    }))
})

layer(testAppLayer(giftShop), live)("the example of a module", (it) => {
  it.effect("refuses what fits into no gift, and wraps what was ordered by a job", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* example("import-products.ts")).code, 0)
      const cup = yield* api("GET", "/api/catalog/entities/example-tea-cup", { as: asAdmin })
      const cart = yield* api("POST", "/api/carts", { body: { currency: "EUR" } })
      const headers = { "x-cart-secret": cart.text("data.secret") }
      const add = (quantity: number) =>
        api("POST", `/api/carts/${cart.text("data.id")}/items`, {
          headers,
          body: { entityId: cup.text("data.id"), quantity }
        })
      const refused = yield* add(21)
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text("error.message"), "At most 20 of one thing")
      assert.strictEqual((yield* add(20)).status, 201)
      const order = yield* api("POST", "/api/checkout", {
        headers,
        body: { cartId: cart.text("data.id"), currency: "EUR", paymentMethodId: "test" }
      })
      assert.strictEqual(order.status, 201)
      yield* eventually("the gift to be wrapped", wrapped(order.text("data.orderNumber")))
    }))
})

/** Whether the job of the order has succeeded. */
const wrapped = (orderNumber: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{ output: object }>`select output from commerce_jobs where task_slug = 'gifts/wrap' and status = 'succeeded'`
    ),
    (rows) => rows.some(({ output }) => Reflect.get(output, "orderNumber") === orderNumber)
  )
