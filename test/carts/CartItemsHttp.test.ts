import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { CartRepo } from "../../src/domain/carts/CartRepo.ts"
import { chosenLine } from "../../src/domain/carts/Line.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { CartId, type CartLineId, EntityId, newId } from "../../src/domain/platform/ids/Id.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { aForeignProduct, aProductInSizes, elsewhere, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { addTo, aGuestCart, aProduct, type GuestCart, putInto } from "../support/Purchase.ts"
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
  it.effect("adds a line at the store's price and ignores the client's, which counts only without one", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_999 })
      const cart = yield* aGuestCart()
      const made = yield* add(cart, { entityId, quantity: 2, unitPriceSnapshot: 1 })
      assert.match(made.text("data.addedAt"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const line = { cartId: cart.id, entityId, variantId: null, quantity: 2, unitPriceSnapshot: 1_999 }
      const { addedAt, id } = Object(made.at("data"))
      const data = { ...line, id, currency: "USD", notes: null, metadata: {}, addedAt }
      assert.deepStrictEqual([made.status, made.body], [201, { data }])
      const events = yield* onDatabase((sql) =>
        sql`select 1 from outbox_events where type = 'cart.afterAddItem' and payload ->> 'id' = ${id}`
      )
      assert.strictEqual(events.length, 1)
      const free = { entityId: yield* unpriced("no-price"), variantId: null, quantity: 1, unitPriceSnapshot: 777 }
      const own = yield* add(cart, free)
      assert.deepStrictEqual([own.status, own.at("data.unitPriceSnapshot")], [201, 777])
    }))

  it.effect("asks for no stock and adds up quantities on the same line without a cap", () =>
    Effect.gen(function*() {
      const body = { entityId: yield* aProduct({ stock: 0 }), quantity: 9_999 }
      const cart = yield* aGuestCart()
      const [first, second] = [yield* add(cart, body), yield* add(cart, body)]
      assert.deepStrictEqual([first.status, second.status, second.at("data.quantity")], [201, 201, 19_998])
      assert.strictEqual(second.at("data.id"), first.at("data.id"))
      assert.strictEqual((yield* linesOf(cart)).length, 1)
    }))

  it.effect("fifty parallel adds make one line of fifty, and fifty more make it a hundred", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const fifty = Effect.replicateEffect(addTo(cart, entityId), 50, { concurrency: "unbounded" })
      for (const quantity of [50, 100]) {
        assert.isTrue((yield* fifty).every(({ status }) => status === 201))
        const [line, ...others] = yield* linesOf(cart)
        assert.deepStrictEqual([Object(line).quantity, others], [quantity, []])
      }
    }))

  it.effect("fifty parallel adds have fifty effects when another process makes half of them past the entity", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      // The entity is resident and has the cart as it was.
      const first = yield* putInto(cart, entityId, 1)
      yield* api("PATCH", `/api/carts/${cart.id}/items/${first.text("data.id")}`, {
        body: { quantity: 2 },
        headers: cart.headers
      })
      const others = onDatabase((sql, organization) =>
        Effect.gen(function*() {
          const carts = yield* CartRepo.make
          const chosen = chosenLine({ entityId: EntityId.make(entityId), quantity: 1 })
          const add = Effect.gen(function*() {
            const from = yield* carts.state(CartId.make(cart.id))
            if (from === undefined) return yield* Effect.die("no cart")
            const line = {
              ...chosen,
              id: newId<CartLineId>(),
              cartId: from.cart.id,
              unitPriceSnapshot: 1,
              currency: "USD"
            }
            return yield* carts.addLineUnlessBusy(from, { ...line, addedAt: new Date() })
          })
          const written = Effect.repeat(add, { while: (outcome) => outcome === "stale" })
          return yield* Effect.replicateEffect(written, 25, { concurrency: "unbounded" })
        }).pipe(
          Effect.scoped,
          Effect.provide(StoreSettings.layerOf({})),
          Effect.provideService(SqlClient.SqlClient, sql),
          Effect.provideService(CurrentActor, systemActor(organization))
        )
      )
      const own = Effect.replicateEffect(addTo(cart, entityId), 25, { concurrency: "unbounded" })
      const [answers, outcomes] = yield* Effect.all([own, others], { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.filter(({ status }) => status !== 201), [])
      assert.isTrue(outcomes.every((outcome) => typeof outcome === "object"))
      assert.deepStrictEqual((yield* linesOf(cart)).map((line) => Object(line).quantity), [52])
    }))

  it.effect("refuses quantities and prices that are no whole numbers in their range, also for a line", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      for (const unitPriceSnapshot of [-1, 1.5, 9_007_199_254_740_992, "100"]) {
        refused(yield* add(cart, { entityId, quantity: 1, unitPriceSnapshot }), 422, "VALIDATION_FAILED")
      }
      const other = yield* aGuestCart()
      const path = `/api/carts/${other.id}/items/${(yield* putInto(other, entityId, 2)).text("data.id")}`
      for (const quantity of [undefined, null, 0, -1, 10_000, 1.5, "2", 9_007_199_254_740_992]) {
        refused(yield* add(cart, { entityId, quantity }), 422, "VALIDATION_FAILED", `${quantity}`)
        const changed = yield* api("PATCH", path, { body: { quantity }, headers: other.headers })
        refused(changed, 422, "VALIDATION_FAILED", `${quantity}`)
      }
      assert.deepStrictEqual(yield* linesOf(cart), [])
      assert.strictEqual(Object((yield* linesOf(other))[0]).quantity, 2)
    }))

  it.effect("refuses entities that do not exist or are another tenant's, and variants of another product", () =>
    Effect.gen(function*() {
      const [shirt, other] = [yield* aProductInSizes(), yield* aProductInSizes()]
      const { entityId } = shirt
      const cart = yield* aGuestCart()
      const rows: ReadonlyArray<readonly [item: object, status: number]> = [
        [{ entityId: randomUUID() }, 404],
        [{ entityId: yield* aForeignProduct("theirs") }, 404],
        [{ entityId: "shirt" }, 422],
        [{}, 422],
        [{ entityId }, 422],
        [{ entityId, variantId: null }, 422],
        [{ entityId, variantId: "small" }, 422],
        [{ entityId, variantId: randomUUID() }, 404],
        [{ entityId, variantId: other.small }, 404],
        [{ entityId: yield* aProduct(), variantId: shirt.small }, 404]
      ]
      for (const [item, status] of rows) {
        const answer = yield* add(cart, { ...item, quantity: 1 })
        refused(answer, status, status === 404 ? "NOT_FOUND" : "VALIDATION_FAILED", JSON.stringify(item))
      }
      assert.deepStrictEqual(yield* linesOf(cart), [])
    }))

  it.effect("hides drafts and archived entities from shoppers, not from who may see them", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      for (const status of ["draft", "archived", "discontinued"]) {
        const entityId = yield* unpriced(`hidden-${status}`, status)
        yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId, currency: "USD", amount: 5 } })
        refused(yield* addTo(cart, entityId), 404, "NOT_FOUND", status)
        const body = { entityId, quantity: 1 }
        assert.strictEqual((yield* api("POST", `/api/carts/${cart.id}/items`, { as: asAdmin, body })).status, 201)
      }
    }))

  it.effect("keeps a line per variant", () =>
    Effect.gen(function*() {
      const { entityId, medium, small } = yield* aProductInSizes()
      const cart = yield* aGuestCart()
      const one = yield* add(cart, { entityId, variantId: small, quantity: 1 })
      const two = yield* add(cart, { entityId, variantId: medium, quantity: 2 })
      const again = yield* add(cart, { entityId, variantId: small, quantity: 3 })
      assert.deepStrictEqual([one.status, one.at("data.variantId")], [201, small])
      assert.deepStrictEqual([two.at("data.variantId"), two.at("data.quantity")], [medium, 2])
      assert.deepStrictEqual([again.at("data.id"), again.at("data.quantity")], [one.at("data.id"), 4])
      assert.strictEqual((yield* linesOf(cart)).length, 2)
    }))

  it.effect("needs cart:update and a cart of the organization", () =>
    Effect.gen(function*() {
      const body = { entityId: yield* aProduct(), quantity: 1 }
      const cart = yield* aGuestCart()
      const path = `/api/carts/${cart.id}/items`
      refused(yield* api("POST", path, { body, as: asAnonymous, headers: cart.headers }), 403, "FORBIDDEN")
      refused(yield* api("POST", path, { body, as: elsewhere }), 404, "NOT_FOUND")
      refused(yield* api("POST", "/api/carts/mine/items", { body, as: asAdmin }), 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(yield* linesOf(cart), [])
    }))

  it.effect("gives a visitor without the cart's secret the answer of a cart that does not exist", () =>
    Effect.gen(function*() {
      const shirt = yield* aProductInSizes()
      const cart = yield* aGuestCart()
      const post = (id: string, item: object, call: object = {}) =>
        api("POST", `/api/carts/${id}/items`, { ...call, body: { ...item, quantity: 1 } })
      const items = [
        { entityId: randomUUID() },
        { entityId: shirt.entityId },
        { entityId: shirt.entityId, variantId: randomUUID() },
        { entityId: yield* aProduct({ currency: "EUR" }) },
        { entityId: yield* aProduct() }
      ]
      for (const item of items) {
        const nowhere = yield* post(randomUUID(), item)
        refused(nowhere, 404, "NOT_FOUND")
        for (const call of [{}, { headers: { "x-cart-secret": "wrong" } }, { as: asCustomer("another") }]) {
          const there = yield* post(cart.id, item, call)
          assert.deepStrictEqual([there.status, there.body], [nowhere.status, nowhere.body], JSON.stringify(item))
        }
      }
      assert.deepStrictEqual(yield* linesOf(cart), [])
    }))
})
