import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, asStaff, withSharedApp } from "../support/TestApp.ts"
import { aCustomerCart, buyAs, elsewhere, holding, onDatabase, openElsewhere, refused } from "./CheckoutFixtures.ts"

const readOrder = (idOrNumber: string, as?: typeof asAdmin, headers: Readonly<Record<string, string>> = {}) =>
  api("GET", `/api/orders/${idOrNumber}`, { ...(as && { as }), headers })

/** A product of 1000 that costs members of the group `vip` 1. */
const aProductForVips = Effect.fnUntraced(function*() {
  const entityId = yield* aProduct({ price: 1_000 })
  yield* api("POST", "/api/pricing/prices", {
    as: asAdmin,
    body: { entityId, currency: "USD", amount: 1, customerGroupId: "vip" }
  })
  return entityId
})

withSharedApp("customers at checkout", (it) => {
  describe("customer", () => {
    it.effect("a shopper's order is theirs, whomever they name", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const other = yield* aCustomerCart(asCustomer("somebody"))
        const own = yield* aCustomerCart(asCustomer("shopper"))
        const plain = yield* buyAs(asCustomer("shopper"), entityId)
        const naming = yield* buyAs(asCustomer("shopper"), entityId, { customerId: other.customerId })
        assert.deepStrictEqual([plain.status, plain.at("data.customerId")], [201, own.customerId])
        assert.deepStrictEqual([naming.status, naming.at("data.customerId")], [201, own.customerId])
      }))

    it.effect("a guest cannot name one", () =>
      Effect.gen(function*() {
        const { customerId } = yield* aCustomerCart(asCustomer("somebody"))
        const made = yield* checkOut(yield* aCartWith(yield* aProduct()), { customerId })
        assert.deepStrictEqual([made.status, made.at("data.customerId")], [201, null])
      }))

    it.effect("staff can name one with customers:read", () =>
      Effect.gen(function*() {
        const { customerId } = yield* aCustomerCart(asCustomer("phoned-in"))
        const cart = yield* aCartWith(yield* aProduct())
        const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD", customerId }
        const made = yield* api("POST", "/api/checkout", { as: asStaff, body, headers: cart.headers })
        assert.deepStrictEqual([made.status, made.at("data.customerId")], [201, customerId])
      }))

    it.effect("of a guest's cart is the guest's when staff check it out, who reads it by the cart's secret", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD" }
        const made = yield* api("POST", "/api/checkout", { as: asStaff, body })
        assert.deepStrictEqual([made.status, made.at("data.customerId")], [201, null])
        assert.strictEqual((yield* readOrder(made.text("data.id"), undefined, cart.headers)).status, 200)
      }))

    it.effect("without customers:read the name is not honoured", () =>
      Effect.gen(function*() {
        const { customerId } = yield* aCustomerCart(asCustomer("somebody"))
        const cart = yield* aCartWith(yield* aProduct())
        const seller = { ...holding("cart:read", "cart:update", "orders:create"), userId: "seller", role: "staff" }
        const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD", customerId }
        const made = yield* api("POST", "/api/checkout", { as: seller, body, headers: cart.headers })
        if (made.status === 201) assert.notStrictEqual(made.at("data.customerId"), customerId)
        else refused(made, 403, "FORBIDDEN")
      }))
  })

  describe("groups", () => {
    it.effect("that a guest or a shopper claims are ignored", () =>
      Effect.gen(function*() {
        const entityId = yield* aProductForVips()
        const guest = yield* checkOut(yield* aCartWith(entityId), { customerGroupIds: ["vip"] })
        assert.deepStrictEqual([guest.status, guest.at("data.subtotal")], [201, 1_000])
        const shopper = yield* buyAs(asCustomer("claims-vip"), entityId, { customerGroupIds: ["vip"] })
        assert.deepStrictEqual([shopper.status, shopper.at("data.subtotal")], [201, 1_000])
      }))

    it.effect("that staff with customers:read name are honoured", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProductForVips())
        const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD", customerGroupIds: ["vip"] }
        const made = yield* api("POST", "/api/checkout", { as: asStaff, body, headers: cart.headers })
        assert.deepStrictEqual([made.status, made.at("data.subtotal")], [201, 1])
      }))
  })

  describe("order", () => {
    it.effect("is read by a guest by id and by number with the cart's secret only", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        const other = yield* aCartWith(yield* aProduct())
        const made = yield* checkOut(cart)
        const { paymentClientSecret: _, ...order } = Object(made.at("data"))
        for (const key of [made.text("data.id"), made.text("data.orderNumber")]) {
          const found = yield* readOrder(key, undefined, cart.headers)
          assert.strictEqual(found.status, 200)
          assert.deepStrictEqual(found.at("data"), order)
          assert.strictEqual((yield* readOrder(key, asAdmin)).status, 200)
          refused(yield* readOrder(key), 403, "FORBIDDEN")
          refused(yield* readOrder(key, undefined, other.headers), 403, "FORBIDDEN")
          refused(yield* readOrder(key, asCustomer("curious")), 403, "FORBIDDEN")
        }
      }))

    it.effect("is read by a guest for seven days", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        const orderId = (yield* checkOut(cart)).text("data.id")
        const placed = (ago: string) =>
          onDatabase((sql) => sql`update orders set placed_at = now() - ${ago}::interval where id = ${orderId}::uuid`)
        yield* placed("6 days 23 hours")
        assert.strictEqual((yield* readOrder(orderId, undefined, cart.headers)).status, 200)
        yield* placed("7 days 1 hour")
        refused(yield* readOrder(orderId, undefined, cart.headers), 403, "FORBIDDEN")
      }))

    it.effect("of a shopper is theirs and the store's, and unknown in another organization", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const made = yield* buyAs(asCustomer("reader"), yield* aProduct())
        for (const key of [made.text("data.id"), made.text("data.orderNumber")]) {
          assert.strictEqual((yield* readOrder(key, asCustomer("reader"))).status, 200)
          assert.strictEqual((yield* readOrder(key, asStaff)).status, 200)
          refused(yield* readOrder(key, asCustomer("another")), 403, "FORBIDDEN")
          refused(yield* readOrder(key), 403, "FORBIDDEN")
          refused(yield* readOrder(key, elsewhere), 404, "NOT_FOUND")
        }
      }))

    it.effect("shows no customer's secrets: neither the cart's nor the claim's", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        const made = yield* checkOut(cart)
        const text = JSON.stringify(made.body)
        assert.notInclude(text, cart.headers["x-cart-secret"])
        assert.notInclude(text, "checkoutClaimToken")
        assert.notInclude(text, "idempotencyScope")
      }))
  })
})
