import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aCartWith, addTo, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { type Answer, api, asCustomer, live, testAppLayer } from "../support/TestApp.ts"
import {
  aCustomerCart,
  aFilledCart,
  assertNothingLeft,
  checkoutFailed,
  ordersFrom,
  refused,
  stockOf
} from "./CheckoutFixtures.ts"
import { scriptedProvider } from "./ScriptedProvider.ts"

const provider = scriptedProvider()

/** The two places a client may put the key in. */
const places: Readonly<Record<string, (cart: GuestCart, key: string, body?: object) => ReturnType<typeof checkOut>>> = {
  "in the header": (cart, key, body) => checkOut(cart, body, { "idempotency-key": key }),
  "in the body": (cart, key, body) => checkOut(cart, { ...body, idempotencyKey: key })
}

const sameAnswer = (first: Answer, second: Answer) => {
  assert.strictEqual(second.status, first.status)
  assert.deepStrictEqual(second.at("data"), first.at("data"))
}

layer(testAppLayer({ payments: { adapters: [provider.adapter] } }), live)("idempotency of checkout", (it) => {
  for (const [place, pay] of Object.entries(places)) {
    describe(place, () => {
      it.effect("the same key and body give the same order again, with the client secret, and pay once", () =>
        Effect.gen(function*() {
          const cart = yield* aFilledCart(2)
          const key = randomUUID()
          const first = yield* pay(cart, key)
          assert.strictEqual(first.status, 201)
          assert.isString(first.at("data.paymentClientSecret"))
          sameAnswer(first, yield* pay(cart, key))
          assert.strictEqual((yield* ordersFrom(cart.id)).length, 1)
          assert.strictEqual((yield* stockOf(cart.entityId)).reserved, 2)
          const token = `replayed_${key}`
          const [other, otherKey] = [yield* aFilledCart(), randomUUID()]
          const body = { paymentMethodId: "scripted", paymentMethodToken: token }
          for (const _ of [1, 2, 3]) assert.strictEqual((yield* pay(other, otherKey, body)).status, 201)
          assert.deepStrictEqual(provider.operationsFor(token), ["authorize", "capture"])
        }))

      it.effect("the same key with another body is a conflict", () =>
        Effect.gen(function*() {
          const cart = yield* aFilledCart()
          const key = randomUUID()
          const first = yield* pay(cart, key)
          refused(yield* pay(cart, key, { metadata: { other: true } }), 409, "CONFLICT")
          refused(yield* pay(cart, key, { promotionCodes: ["OTHER"] }), 409, "CONFLICT")
          sameAnswer(first, yield* pay(cart, key))
        }))

      it.effect("the same key with another cart of the same shopper is a conflict and sells nothing", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const as = asCustomer(`two-carts-${randomUUID()}`)
          const key = randomUUID()
          const send = Effect.fnUntraced(function*() {
            const cart = yield* aCustomerCart(as)
            yield* api("POST", `/api/carts/${cart.id}/items`, { as, body: { entityId, quantity: 1 } })
            const inBody = place === "in the body"
            const made = yield* api("POST", "/api/checkout", {
              as,
              body: {
                cartId: cart.id,
                paymentMethodId: "test",
                currency: "USD",
                ...(inBody && { idempotencyKey: key })
              },
              headers: inBody ? {} : { "idempotency-key": key }
            })
            return { cart, made }
          })
          assert.strictEqual((yield* send()).made.status, 201)
          const { cart, made } = yield* send()
          refused(made, 409, "CONFLICT")
          assert.deepStrictEqual(yield* ordersFrom(cart.id), [])
          assert.strictEqual((yield* stockOf(entityId)).reserved, 1)
        }))

      it.effect("two guests do not share a key", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const key = randomUUID()
          const first = yield* pay(yield* aCartWith(entityId), key)
          const second = yield* pay(yield* aCartWith(entityId), key)
          assert.deepStrictEqual([first.status, second.status], [201, 201])
          assert.notStrictEqual(first.text("data.id"), second.text("data.id"))
        }))

      it.effect("of five requests with one key at once one sells, and the others get the same order or have to wait", () =>
        Effect.gen(function*() {
          const cart = yield* aFilledCart()
          const answers = yield* Effect.replicateEffect(pay(cart, randomUUID()), 5, { concurrency: "unbounded" })
          const made = answers.filter(({ status }) => status === 201)
          assert.strictEqual(new Set(made.map((answer) => answer.text("data.id"))).size, 1)
          for (const answer of answers.filter((one) => !made.includes(one))) {
            refused(answer, 409, "CONFLICT")
            assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/)
          }
          assert.strictEqual((yield* ordersFrom(cart.id)).length, 1)
          assert.strictEqual((yield* stockOf(cart.entityId)).reserved, 1)
        }))

      it.effect("a checkout that fails frees its key for another try", () =>
        Effect.gen(function*() {
          const { entityId, ...cart } = yield* aFilledCart(2, { stock: 1 })
          const key = randomUUID()
          checkoutFailed(yield* pay(cart, key), /Insufficient stock/)
          const line = yield* addTo(cart, entityId, 1)
          const path = `/api/carts/${cart.id}/items/${line.text("data.id")}`
          yield* api("PATCH", path, { body: { quantity: 1 }, headers: cart.headers })
          checkoutFailed(yield* pay(cart, key, { paymentMethodId: "test_decline" }))
          yield* assertNothingLeft(cart.id, entityId)
          const made = yield* pay(cart, key)
          assert.strictEqual(made.status, 201)
          sameAnswer(made, yield* pay(cart, key))
        }))
    })
  }

  it.effect("a key of fewer than 8 or more than 255 characters in the body is refused", () =>
    Effect.gen(function*() {
      const cart = yield* aFilledCart()
      refused(yield* checkOut(cart, { idempotencyKey: "1234567" }), 422, "VALIDATION_FAILED")
      refused(yield* checkOut(cart, { idempotencyKey: "k".repeat(256) }), 422, "VALIDATION_FAILED")
      const idempotencyKey = `${randomUUID()}${"k".repeat(219)}`
      const made = yield* checkOut(cart, { idempotencyKey })
      assert.deepStrictEqual([made.status, made.at("data.idempotencyKey")], [201, idempotencyKey])
      assert.notProperty(made.at("data"), "idempotencyScope")
    }))
})
