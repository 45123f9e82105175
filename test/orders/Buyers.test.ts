import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { orderInApp } from "../support/OrderBuilder.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, withSharedApp } from "../support/TestApp.ts"
import { write } from "./OrderFixtures.ts"

const address = {
  firstName: "Ann",
  lastName: "Buyer",
  company: "ACME",
  phone: "+43 1 2345",
  line1: "1 Main St",
  city: "Vienna",
  postalCode: "1010",
  country: "AT"
}

const buyerIn = (order: Answer, path = "data") =>
  ["email", "customer", "billingAddress"].map((name) => order.at(`${path}.${name}`))

/** What an order says in an answer, a read, a list and the change log, which must be the same. */
const buyerOf = Effect.fnUntraced(function*(answer: Answer) {
  const id = answer.text("data.id")
  const read = yield* api("GET", `/api/orders/${id}`, { as: asAdmin })
  const listed = yield* api("GET", "/api/orders?limit=1", { as: asAdmin })
  const log = yield* api("GET", `/api/audit?entityType=order&entityId=${id}&event=orders.create`, { as: asAdmin })
  assert.strictEqual(listed.at("data.0.id"), id)
  const all = [buyerIn(answer), buyerIn(read), buyerIn(listed, "data.0"), buyerIn(log, "data.0.payload")]
  for (const one of all) assert.deepStrictEqual(one, all[0])
  return { email: read.at("data.email"), customer: read.at("data.customer"), billing: read.at("data.billingAddress") }
})

const aCustomer = (body: object) =>
  Effect.map(api("POST", "/api/customers", { as: asAdmin, body }), (made) => made.text("data.id"))

withSharedApp("an order", (it) => {
  it.effect("names the address of a guest, their parcel's and their invoice's", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct(), 1, "ann@example.com")
      const billing = { ...address, line1: "2 Side St" }
      const order = yield* checkOut(cart, { shippingAddress: address, billingAddress: billing })
      assert.deepInclude(order.at("data.shippingAddress"), address)
      const buyer = yield* buyerOf(order)
      assert.deepInclude(buyer, { email: "ann@example.com", customer: null })
      assert.deepInclude(buyer.billing, billing)
    }))

  it.effect("names the profile of its customer, and the address that they left with it", () =>
    Effect.gen(function*() {
      const ann = { ...asCustomer("ann"), name: "Ann Buyer", email: "ann@profile.test" }
      const entityId = yield* aProduct()
      const buy = Effect.fnUntraced(function*(email?: string) {
        const cart = yield* api("POST", "/api/carts", { as: ann, body: { currency: "USD", email } })
        const id = cart.text("data.id")
        yield* api("POST", `/api/carts/${id}/items`, { as: ann, body: { entityId, quantity: 1 } })
        const body = { cartId: id, currency: "USD", paymentMethodId: "test" }
        return yield* api("POST", "/api/checkout", { as: ann, body })
      })
      const profile = yield* api("GET", "/api/me/profile", { as: ann })
      const customer = { id: profile.at("data.id"), name: "Ann Buyer" }
      assert.deepStrictEqual(yield* buyerOf(yield* buy("gift@example.com")), {
        email: "gift@example.com",
        customer,
        billing: null
      })
      const plain = yield* buyerOf(yield* buy())
      assert.deepStrictEqual(plain.customer, customer)
      assert.strictEqual(plain.email, "ann@profile.test")
    }))

  it.effect("names the customer for whom staff writes it, whose profile may have no name", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const written = Effect.fnUntraced(function*(profile: object) {
        const customerId = yield* aCustomer(profile)
        const buyer = yield* buyerOf(yield* write({ customerId, lineItems: [{ entityId, quantity: 1 }] }))
        return { customerId, buyer }
      })
      const named = yield* written({ firstName: "Zoë", lastName: "Quist", email: "zoe@example.com" })
      assert.deepInclude(named.buyer, {
        email: "zoe@example.com",
        customer: { id: named.customerId, name: "Zoë Quist" }
      })
      const nameless = yield* written({ email: "nameless@example.com" })
      assert.deepStrictEqual(nameless.buyer.customer, { id: nameless.customerId, name: null })
    }))

  it.effect("of an earlier version shows who bought it too", () =>
    Effect.gen(function*() {
      const customerId = yield* aCustomer({ firstName: "Old", email: "old@example.com" })
      const { id } = yield* orderInApp({ customerId })
      const read = yield* api("GET", `/api/orders/${id}`, { as: asAdmin })
      assert.deepStrictEqual(buyerIn(read), ["old@example.com", { id: customerId, name: "Old" }, null])
    }))
})
