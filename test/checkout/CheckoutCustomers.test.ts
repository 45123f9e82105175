import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, asStaff, withSharedApp } from "../support/TestApp.ts"
import { aCustomerCart, aFilledCart, buyAs, elsewhere, holding, openElsewhere, refused } from "./CheckoutFixtures.ts"

const readOrder = (idOrNumber: string, as?: typeof asAdmin, headers: Readonly<Record<string, string>> = {}) =>
  api("GET", `/api/orders/${idOrNumber}`, { ...(as && { as }), headers })

/** A product of 1000 that costs members of the group `vip` 1. */
const aProductForVips = Effect.fnUntraced(function*() {
  const entityId = yield* aProduct({ price: 1_000 })
  const body = { entityId, currency: "USD", amount: 1, customerGroupId: "vip" }
  yield* api("POST", "/api/pricing/prices", { as: asAdmin, body })
  return entityId
})

/** Staff checks a guest's cart out. */
const checkOutAs = (as: typeof asAdmin, cart: { readonly id: string; readonly headers?: object }, body: object = {}) =>
  api("POST", "/api/checkout", {
    as,
    body: { cartId: cart.id, paymentMethodId: "test", currency: "USD", ...body },
    headers: { ...cart.headers }
  })

withSharedApp("customers at checkout", (it) => {
  it.effect("a shopper's order is the shopper's, and a guest's has no customer, also when they name one", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const { customerId } = yield* aCustomerCart(asCustomer("somebody"))
      const own = yield* aCustomerCart(asCustomer("shopper"))
      const made = [
        yield* buyAs(asCustomer("shopper"), entityId),
        yield* buyAs(asCustomer("shopper"), entityId, { customerId }),
        yield* checkOut(yield* aCartWith(entityId), { customerId })
      ]
      const owners = made.map((order) => [order.status, order.at("data.customerId")])
      assert.deepStrictEqual(owners, [[201, own.customerId], [201, own.customerId], [201, null]])
    }))

  it.effect("staff names the customer of a guest's cart with customers:read only", () =>
    Effect.gen(function*() {
      const { customerId } = yield* aCustomerCart(asCustomer("phoned-in"))
      const named = yield* checkOutAs(asStaff, yield* aFilledCart(), { customerId })
      assert.deepStrictEqual([named.status, named.at("data.customerId")], [201, customerId])
      const seller = { ...holding("cart:read", "cart:update", "orders:create"), userId: "seller", role: "staff" }
      const made = yield* checkOutAs(seller, yield* aFilledCart(), { customerId })
      assert.strictEqual(made.status, 201)
      assert.notStrictEqual(made.at("data.customerId"), customerId)
    }))

  it.effect("a guest's order stays the guest's when staff checks its cart out", () =>
    Effect.gen(function*() {
      const { headers, id } = yield* aFilledCart()
      const made = yield* checkOutAs(asStaff, { id })
      assert.deepStrictEqual([made.status, made.at("data.customerId")], [201, null])
      assert.strictEqual((yield* readOrder(made.text("data.id"), undefined, headers)).status, 200)
    }))

  it.effect("groups that a guest or a shopper claims are ignored, and those that staff names count", () =>
    Effect.gen(function*() {
      const entityId = yield* aProductForVips()
      const claim = { customerGroupIds: ["vip"] }
      const made = [
        yield* checkOut(yield* aCartWith(entityId), claim),
        yield* buyAs(asCustomer("claims-vip"), entityId, claim),
        yield* checkOutAs(asStaff, yield* aCartWith(entityId), claim)
      ]
      const prices = made.map((order) => [order.status, order.at("data.subtotal")])
      assert.deepStrictEqual(prices, [[201, 1_000], [201, 1_000], [201, 1]])
    }))

  it.effect("an order is read by id and by number with the cart's secret, by its shopper and by the store only", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const [cart, other] = [yield* aFilledCart(), yield* aFilledCart()]
      const made = yield* checkOut(cart)
      const bought = yield* buyAs(asCustomer("reader"), cart.entityId)
      const { paymentClientSecret: _, ...order } = Object(made.at("data"))
      for (const field of ["data.id", "data.orderNumber"]) {
        const [key, mine] = [made.text(field), bought.text(field)]
        assert.deepStrictEqual((yield* readOrder(key, undefined, cart.headers)).at("data"), order)
        for (const as of [asAdmin, asStaff]) assert.strictEqual((yield* readOrder(key, as)).status, 200)
        assert.strictEqual((yield* readOrder(mine, asCustomer("reader"))).status, 200)
        refused(yield* readOrder(key, undefined, other.headers), 404, "NOT_FOUND")
        for (const id of [key, mine]) {
          refused(yield* readOrder(id), 404, "NOT_FOUND")
          refused(yield* readOrder(id, asCustomer("curious")), 404, "NOT_FOUND")
          refused(yield* readOrder(id, elsewhere), 404, "NOT_FOUND")
        }
      }
    }))
})
