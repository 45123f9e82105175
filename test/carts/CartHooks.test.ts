import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Hook, HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { addTo, aGuestCart, aProduct, type GuestCart, putInto } from "../support/Purchase.ts"
import { api, asStaff, at, live, testAppLayer } from "../support/TestApp.ts"

/** What the hooks of the cart were given, newest last. */
const seen: Array<{ readonly key: string; readonly data: object }> = []

/** The test of a hook picks its behaviour by the quantity it asks for. */
const refusedQuantity = 13
const brokenQuantity = 14
const changedQuantity = 15
const throwingQuantity = 17
const lateQuantity = 18
let meanwhile: Effect.Effect<void> = Effect.void

const before = (key: string): Hook => ({
  key,
  before: ({ data }) =>
    Effect.suspend(() => {
      seen.push({ key, data })
      const quantity = at(data, "quantity")
      if (quantity === throwingQuantity) throw new TypeError("secret of the plugin")
      if (quantity === refusedQuantity) return Effect.fail(new HookRefusal("Not thirteen."))
      if (quantity === lateQuantity) return Effect.as(meanwhile, data)
      return Effect.succeed(quantity === changedQuantity ? { ...data, quantity: 16 } : data)
    })
})

const after = (key: string): Hook => ({
  key,
  after: ({ result }) =>
    Effect.suspend(() => {
      seen.push({ key, data: result })
      return at(result, "quantity") === brokenQuantity ? Effect.die(new Error("Broken.")) : Effect.void
    })
})

const operations = ["AddItem", "UpdateQuantity", "RemoveItem"]
const hooks = operations.flatMap((operation) => [before(`cart.before${operation}`), after(`cart.after${operation}`)])

const withHooks = layer(testAppLayer({ hooks }), live)

const seenBy = (key: string, field: string, value: string) =>
  seen.filter((one) => one.key === key && at(one.data, field) === value).map(({ data }) => data)

const change = (cart: GuestCart, lineId: string, quantity: number) =>
  api("PATCH", `/api/carts/${cart.id}/items/${lineId}`, { headers: cart.headers, body: { quantity } })

const quantities = (cart: GuestCart) =>
  Effect.map(
    api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }),
    (found) => found.list("data.lineItems").map((line) => at(line, "quantity"))
  )

withHooks("hooks of the cart", (it) => {
  it.effect("do not let a line into a cart whose currency changes before it: its price is in the old one", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      const context = yield* Effect.context<Effect.Services<ReturnType<typeof api>>>()
      const path = `/api/carts/${cart.id}`
      const { headers } = cart
      meanwhile = api("PATCH", path, { headers, body: { currency: "EUR" } }).pipe(
        Effect.tap(({ status }) => Effect.sync(() => assert.strictEqual(status, 200))),
        Effect.asVoid,
        Effect.provide(context)
      )
      refused(yield* addTo(cart, yield* aProduct(), lateQuantity), 409, "CONFLICT")
      const read = yield* api("GET", path, { headers })
      assert.deepStrictEqual([read.at("data.currency"), read.at("data.lineItems")], ["EUR", []])
    }))

  it.effect("get the input before a change and the line after it", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const id = (yield* addTo(cart, entityId, 2)).text("data.id")
      const added = { cartId: cart.id, entityId, quantity: 2 }
      assert.include(seenBy("cart.beforeAddItem", "cartId", cart.id)[0], added)
      assert.include(seenBy("cart.afterAddItem", "id", id)[0], { id, ...added })
      yield* change(cart, id, 3)
      assert.include(seenBy("cart.beforeUpdateQuantity", "itemId", id)[0], { cartId: cart.id, itemId: id, quantity: 3 })
      assert.include(seenBy("cart.afterUpdateQuantity", "id", id)[0], { id, quantity: 3 })
      yield* api("DELETE", `/api/carts/${cart.id}/items/${id}`, { headers: cart.headers })
      for (const key of ["cart.beforeRemoveItem", "cart.afterRemoveItem"]) {
        assert.include(seenBy(key, "id", id)[0], { id, cartId: cart.id, quantity: 3 }, key)
      }
    }))

  it.effect("do not run for a cart that the visitor may not change", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const itemId = (yield* putInto(cart, entityId, 2)).text("data.id")
      const outsider = { id: cart.id, headers: { "x-cart-secret": "wrong" } }
      const known = seen.length
      refused(yield* addTo(outsider, entityId), 404, "NOT_FOUND")
      refused(yield* change(outsider, itemId, 3), 404, "NOT_FOUND")
      const removal = api("DELETE", `/api/carts/${cart.id}/items/${itemId}`, { headers: outsider.headers })
      refused(yield* removal, 404, "NOT_FOUND")
      assert.strictEqual(seen.length, known)
    }))

  it.effect("let staff without cart:read remove a guest's item", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      const itemId = (yield* putInto(cart, yield* aProduct(), 2)).text("data.id")
      assert.notInclude(asStaff.permissions ?? [], "cart:read")
      const removed = yield* api("DELETE", `/api/carts/${cart.id}/items/${itemId}`, { as: asStaff })
      assert.deepStrictEqual([removed.status, removed.body], [200, { data: { deleted: true } }])
    }))

  it.effect("refuse a change with their text, and stop it without detail when they break", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const added = yield* addTo(cart, entityId, refusedQuantity)
      refused(added, 422, "VALIDATION_FAILED")
      assert.include(added.text("error.message"), "Not thirteen.")
      const broken = yield* addTo(cart, entityId, throwingQuantity)
      refused(broken, 500, "INTERNAL_ERROR")
      assert.notInclude(JSON.stringify(broken.body), "secret")
      assert.deepStrictEqual(yield* quantities(cart), [])
      const itemId = (yield* putInto(cart, entityId, 2)).text("data.id")
      refused(yield* change(cart, itemId, refusedQuantity), 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(yield* quantities(cart), [2])
    }))

  it.effect("store what a before-hook returns", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      const added = yield* addTo(cart, yield* aProduct(), changedQuantity)
      assert.deepStrictEqual([added.status, added.at("data.quantity")], [201, 16])
      const itemId = added.text("data.id")
      assert.strictEqual((yield* change(cart, itemId, 1)).at("data.quantity"), 1)
      assert.strictEqual((yield* change(cart, itemId, changedQuantity)).at("data.quantity"), 16)
      assert.deepStrictEqual(yield* quantities(cart), [16])
    }))

  it.effect("leave the answer as it is when an after-hook fails", () =>
    Effect.gen(function*() {
      const cart = yield* aGuestCart()
      const added = yield* addTo(cart, yield* aProduct(), brokenQuantity)
      assert.deepStrictEqual([added.status, added.at("data.quantity")], [201, brokenQuantity])
      assert.strictEqual((yield* change(cart, added.text("data.id"), brokenQuantity)).status, 200)
      const path = `/api/carts/${cart.id}/items/${added.text("data.id")}`
      assert.strictEqual((yield* api("DELETE", path, { headers: cart.headers })).status, 200)
    }))
})
