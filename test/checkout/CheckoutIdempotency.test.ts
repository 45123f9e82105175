import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aCartWith, addTo, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { type Answer, api, asCustomer, testAppLayer } from "../support/TestApp.ts"
import { aCustomerCart, assertNothingLeft, checkoutFailed, ordersFrom, refused, stockOf } from "./CheckoutFixtures.ts"
import { operationsFor, recorder } from "./PaymentRecorder.ts"

const withRecorder = layer(testAppLayer({ payments: { adapters: [recorder] } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

/** The two places a client may put the key in. */
const places: Readonly<Record<string, (cart: GuestCart, key: string, body?: object) => ReturnType<typeof checkOut>>> = {
  "in the header": (cart, key, body) => checkOut(cart, body, { "idempotency-key": key }),
  "in the body": (cart, key, body) => checkOut(cart, { ...body, idempotencyKey: key })
}

const sameAnswer = (first: Answer, second: Answer) => {
  assert.strictEqual(second.status, first.status)
  assert.deepStrictEqual(second.at("data"), first.at("data"))
}

withRecorder("idempotency of checkout", (it) => {
  for (const [place, pay] of Object.entries(places)) {
    describe(place, () => {
      it.effect("the same key and body give the same order again, with the client secret", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const cart = yield* aCartWith(entityId, 2)
          const key = randomUUID()
          const first = yield* pay(cart, key)
          assert.strictEqual(first.status, 201)
          assert.isString(first.at("data.paymentClientSecret"))
          const second = yield* pay(cart, key)
          sameAnswer(first, second)
          assert.strictEqual((yield* ordersFrom(cart.id)).length, 1)
          assert.strictEqual((yield* stockOf(entityId)).reserved, 2)
        }))

      it.effect("one authorization and one capture are made however often it is sent", () =>
        Effect.gen(function*() {
          const cart = yield* aCartWith(yield* aProduct())
          const key = randomUUID()
          const token = `replayed_${key}`
          for (const _ of [1, 2, 3]) {
            const made = yield* pay(cart, key, { paymentMethodId: "recorder", paymentMethodToken: token })
            assert.strictEqual(made.status, 201)
          }
          assert.deepStrictEqual(operationsFor(token), ["authorize", "capture"])
        }))

      it.effect("the same key with another body is a conflict", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const cart = yield* aCartWith(entityId)
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
            const body = { cartId: cart.id, paymentMethodId: "test", currency: "USD" }
            const made = yield* place === "in the body"
              ? api("POST", "/api/checkout", { as, body: { ...body, idempotencyKey: key } })
              : api("POST", "/api/checkout", { as, body, headers: { "idempotency-key": key } })
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

      it.effect("of five requests with one key at once one sells, the others tell the same or to wait", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const cart = yield* aCartWith(entityId)
          const key = randomUUID()
          const five = Array.from({ length: 5 }, () => pay(cart, key))
          const answers = yield* Effect.all(five, { concurrency: "unbounded" })
          const made = answers.find(({ status }) => status === 201)
          assert.isDefined(made)
          for (const answer of answers) {
            if (answer.status === 201) assert.strictEqual(answer.text("data.id"), made?.text("data.id"))
            else {
              refused(answer, 409, "CONFLICT")
              assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/)
            }
          }
          assert.strictEqual((yield* ordersFrom(cart.id)).length, 1)
          assert.strictEqual((yield* stockOf(entityId)).reserved, 1)
        }))

      it.effect("a failed checkout frees its key for another try", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct()
          const cart = yield* aCartWith(entityId)
          const key = randomUUID()
          checkoutFailed(yield* pay(cart, key, { paymentMethodId: "test_decline" }))
          yield* assertNothingLeft(cart.id, entityId)
          const made = yield* pay(cart, key)
          assert.strictEqual(made.status, 201)
          sameAnswer(made, yield* pay(cart, key))
        }))

      it.effect("a checkout refused for stock can be sent again as it was when there is stock", () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 1 })
          const cart = yield* aCartWith(entityId, 2)
          const key = randomUUID()
          checkoutFailed(yield* pay(cart, key), /Insufficient stock/)
          const line = yield* addTo(cart, entityId, 1)
          const path = `/api/carts/${cart.id}/items/${line.text("data.id")}`
          yield* api("PATCH", path, { body: { quantity: 1 }, headers: cart.headers })
          assert.strictEqual((yield* pay(cart, key)).status, 201)
        }))
    })
  }

  it.effect("a key of fewer than 8 or more than 255 characters in the body is refused", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      refused(yield* checkOut(cart, { idempotencyKey: "1234567" }), 422, "VALIDATION_FAILED")
      refused(yield* checkOut(cart, { idempotencyKey: "k".repeat(256) }), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* checkOut(cart, { idempotencyKey: "k".repeat(255) })).status, 201)
    }))

  it.effect("the order shows the key and never its scope", () =>
    Effect.gen(function*() {
      const key = randomUUID()
      const made = yield* checkOut(yield* aCartWith(yield* aProduct()), { idempotencyKey: key })
      assert.strictEqual(made.at("data.idempotencyKey"), key)
      assert.notProperty(made.at("data"), "idempotencyScope")
    }))
})
