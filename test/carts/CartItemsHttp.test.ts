import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aForeignProduct, aProductInSizes, elsewhere, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { addTo, aGuestCart, aProduct, type GuestCart } from "../support/Purchase.ts"
import { api, asAdmin, asAnonymous, asCustomer, withSharedApp } from "../support/TestApp.ts"

const add = (cart: GuestCart, body: unknown) =>
  api("POST", `/api/carts/${cart.id}/items`, { body, headers: cart.headers })
const linesOf = (cart: GuestCart) =>
  Effect.map(api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }), (found) => found.list("data.lineItems"))

/** An entity without a price. */
const unpriced = Effect.fnUntraced(function*(slug: string, status = "active") {
  const made = yield* api("POST", "/api/catalog/entities", { as: asAdmin, body: { type: "product", slug, status } })
  return made.text("data.id")
})

withSharedApp("items of a cart over HTTP", (it) => {
  it.effect("adding answers 201 with the line, at the store's price whatever the client says", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_999 })
      const cart = yield* aGuestCart()
      const made = yield* add(cart, { entityId, quantity: 2, unitPriceSnapshot: 1 })
      assert.strictEqual(made.status, 201)
      assert.match(made.text("data.addedAt"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual(made.body, {
        data: {
          id: made.text("data.id"),
          cartId: cart.id,
          entityId,
          variantId: null,
          quantity: 2,
          unitPriceSnapshot: 1_999,
          currency: "USD",
          notes: null,
          metadata: {},
          addedAt: made.text("data.addedAt")
        }
      })
    }))

  it.effect("keeps the client's price only where the store has none", () =>
    Effect.gen(function*() {
      const made = yield* add(yield* aGuestCart(), {
        entityId: yield* unpriced("no-price"),
        variantId: null,
        quantity: 1,
        unitPriceSnapshot: 777
      })
      assert.deepStrictEqual([made.status, made.at("data.unitPriceSnapshot")], [201, 777])
    }))

  it.effect("asks for no stock and adds up quantities on the same line without a cap", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 0 })
      const cart = yield* aGuestCart()
      const first = yield* add(cart, { entityId, quantity: 9_999 })
      const second = yield* add(cart, { entityId, quantity: 9_999 })
      assert.deepStrictEqual([first.status, second.status, second.at("data.quantity")], [201, 201, 19_998])
      assert.strictEqual(second.at("data.id"), first.at("data.id"))
      assert.strictEqual((yield* linesOf(cart)).length, 1)
    }))

  it.effect("eight parallel adds make one line of eight, and eight more make it sixteen", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const eight = Effect.all(Array.from({ length: 8 }, () => addTo(cart, entityId)), { concurrency: "unbounded" })
      for (const expected of [8, 16]) {
        assert.isTrue((yield* eight).every(({ status }) => status === 201))
        const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
        assert.deepStrictEqual([found.list("data.lineItems").length, found.at("data.lineItems.0.quantity")], [
          1,
          expected
        ])
      }
    }))

  for (const quantity of [undefined, null, 0, -1, 10_000, 1.5, "2", 9_007_199_254_740_992]) {
    it.effect(`refuses a quantity of ${JSON.stringify(quantity)}`, () =>
      Effect.gen(function*() {
        const cart = yield* aGuestCart()
        refused(yield* add(cart, { entityId: yield* aProduct(), quantity }), 422, "VALIDATION_FAILED")
        assert.deepStrictEqual(yield* linesOf(cart), [])
      }))
  }

  for (const unitPriceSnapshot of [-1, 1.5, 9_007_199_254_740_992, "100"]) {
    it.effect(`refuses a price of ${JSON.stringify(unitPriceSnapshot)}`, () =>
      Effect.gen(function*() {
        const body = { entityId: yield* aProduct(), quantity: 1, unitPriceSnapshot }
        refused(yield* add(yield* aGuestCart(), body), 422, "VALIDATION_FAILED")
      }))
  }

  it.effect("refuses entities that do not exist, are another organization's, or no UUID", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      refused(yield* add(cart, { entityId: randomUUID(), quantity: 1 }), 404, "NOT_FOUND")
      refused(yield* add(cart, { entityId: yield* aForeignProduct("theirs"), quantity: 1 }), 404, "NOT_FOUND")
      refused(yield* add(cart, { entityId: "shirt", quantity: 1 }), 422, "VALIDATION_FAILED")
      refused(yield* add(cart, { quantity: 1 }), 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(yield* linesOf(cart), [])
    }))

  it.effect("hides drafts and archived entities from shoppers, not from who may see them", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      for (const status of ["draft", "archived", "discontinued"]) {
        const entityId = yield* unpriced(`hidden-${status}`, status)
        yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId, currency: "USD", amount: 5 } })
        refused(yield* add(cart, { entityId, quantity: 1 }), 404, "NOT_FOUND", status)
        const byAdmin = yield* api("POST", `/api/carts/${cart.id}/items`, {
          as: asAdmin,
          body: { entityId, quantity: 1 }
        })
        assert.strictEqual(byAdmin.status, 201, status)
      }
    }))

  it.effect("wants a variant where the product has variants, and one of this product", () =>
    Effect.gen(function*() {
      const shirt = yield* aProductInSizes()
      const other = yield* aProductInSizes()
      const cart = yield* aGuestCart()
      const entityId = shirt.entityId
      refused(yield* add(cart, { entityId, quantity: 1 }), 422, "VALIDATION_FAILED")
      refused(yield* add(cart, { entityId, variantId: null, quantity: 1 }), 422, "VALIDATION_FAILED")
      refused(yield* add(cart, { entityId, variantId: randomUUID(), quantity: 1 }), 404, "NOT_FOUND")
      refused(yield* add(cart, { entityId, variantId: other.small, quantity: 1 }), 404, "NOT_FOUND")
      refused(yield* add(cart, { entityId, variantId: "small", quantity: 1 }), 422, "VALIDATION_FAILED")
      refused(yield* add(cart, { entityId: yield* aProduct(), variantId: shirt.small, quantity: 1 }), 404, "NOT_FOUND")
      assert.deepStrictEqual(yield* linesOf(cart), [])
    }))

  it.effect("keeps a line per variant", () =>
    Effect.gen(function*() {
      const shirt = yield* aProductInSizes()
      const cart = yield* aGuestCart()
      const small = yield* add(cart, { entityId: shirt.entityId, variantId: shirt.small, quantity: 1 })
      const medium = yield* add(cart, { entityId: shirt.entityId, variantId: shirt.medium, quantity: 2 })
      const again = yield* add(cart, { entityId: shirt.entityId, variantId: shirt.small, quantity: 3 })
      assert.deepStrictEqual([small.status, small.at("data.variantId")], [201, shirt.small])
      assert.deepStrictEqual([medium.at("data.variantId"), medium.at("data.quantity")], [shirt.medium, 2])
      assert.deepStrictEqual([again.at("data.id"), again.at("data.quantity")], [small.at("data.id"), 4])
      assert.strictEqual((yield* linesOf(cart)).length, 2)
    }))

  it.effect("needs cart:update and a cart of the organization", () =>
    Effect.gen(function*() {
      const body = { entityId: yield* aProduct(), quantity: 1 }
      const cart = yield* aGuestCart()
      const path = `/api/carts/${cart.id}/items`
      refused(yield* api("POST", path, { body, as: asAnonymous, headers: cart.headers }), 403, "FORBIDDEN")
      refused(yield* api("POST", path, { body, as: elsewhere }), 404, "NOT_FOUND")
      refused(yield* api("POST", `/api/carts/${randomUUID()}/items`, { body, as: asAdmin }), 404, "NOT_FOUND")
      refused(yield* api("POST", "/api/carts/mine/items", { body, as: asAdmin }), 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(yield* linesOf(cart), [])
    }))

  it.effect("reads as missing to whoever does not hold the cart", () =>
    Effect.gen(function*() {
      const body = { entityId: yield* aProduct(), quantity: 1 }
      const cart = yield* aGuestCart()
      const path = `/api/carts/${cart.id}/items`
      const answers = {
        "without a secret": yield* api("POST", path, { body }),
        "with a wrong secret": yield* api("POST", path, { body, headers: { "x-cart-secret": "wrong" } }),
        "another shopper": yield* api("POST", path, { body, as: asCustomer("stranger") })
      }
      assert.deepStrictEqual(yield* linesOf(cart), [])
      for (const [who, answer] of Object.entries(answers)) refused(answer, 404, "NOT_FOUND", who)
    }))

  it.effect("tells whoever does not hold the cart nothing about it, whatever he would put into it", () =>
    Effect.gen(function*() {
      const shirt = yield* aProductInSizes()
      const cart = yield* aGuestCart()
      const things = [
        { entityId: randomUUID() },
        { entityId: shirt.entityId },
        { entityId: shirt.entityId, variantId: randomUUID() },
        { entityId: yield* aProduct({ currency: "EUR" }) }
      ]
      for (const thing of things) {
        const body = { ...thing, quantity: 1 }
        const there = yield* api("POST", `/api/carts/${cart.id}/items`, { body })
        const nowhere = yield* api("POST", `/api/carts/${randomUUID()}/items`, { body })
        refused(nowhere, 404, "NOT_FOUND")
        assert.deepStrictEqual([there.status, there.body], [nowhere.status, nowhere.body], JSON.stringify(thing))
      }
    }))

  it.effect("tells the change log about every line that was added", () =>
    Effect.gen(function*() {
      const line = yield* addTo(yield* aGuestCart(), yield* aProduct(), 2)
      const events = yield* onDatabase((sql) =>
        sql<{ readonly payload: unknown }>`select payload from outbox_events
          where type = 'cart.afterAddItem' and payload ->> 'id' = ${line.text("data.id")}`
      )
      assert.strictEqual(events.length, 1)
    }))
})
