import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { audit } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { startService, talkingTo } from "../support/Service.ts"
import { api } from "../support/TestApp.ts"

const purchase = Effect.gen(function*() {
  const cup = yield* aProduct({ slug: "cup", price: 1_200, stock: 10 })
  const pot = yield* aProduct({ slug: "pot", price: 4_500, stock: 3 })
  const shelf = yield* api("GET", "/api/catalog/entities")
  assert.deepStrictEqual(new Set(shelf.list("data").map((_, n) => shelf.at(`data.${n}.id`))), new Set([cup, pot]))

  const cart = yield* aGuestCart()
  yield* putInto(cart, cup, 2)
  yield* putInto(cart, pot)
  const bought = yield* checkOut(cart)
  assert.strictEqual(bought.status, 201)

  const order = yield* api("GET", `/api/orders/${bought.text("data.id")}`, { headers: cart.headers })
  assert.strictEqual(order.status, 200)
  assert.strictEqual(order.number("data.grandTotal"), 6_900)
  assert.strictEqual(order.number("data.amountCaptured"), 6_900)
  assert.strictEqual(order.list("data.lineItems").length, 2)
  assert.strictEqual((yield* checkOut(cart)).status, 422)
})

it.live("a visitor buys two things from a running service and reads the order", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const service = yield* startService({ databaseUrl: url, fromSources: [] })
    yield* Effect.provide(purchase, talkingTo(service, url))
    yield* audit(url)
  }))
