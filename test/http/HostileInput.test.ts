import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aGuestCart, aProduct, aWarehouse, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)

withApp("input that is meant to break the service", (it) => {
  for (const levels of [100, 5_000, 400_000]) {
    it.effect(`metadata nested ${levels} levels deep is refused and the cart stays usable`, () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        const body = `{"cartId":"${cart.id}","paymentMethodId":"test","currency":"USD","metadata":{"a":${
          nested(levels)
        }}}`
        refused(yield* api("POST", "/api/checkout", { headers: cart.headers, body }), 422, "VALIDATION_FAILED")
        assert.strictEqual((yield* checkOut(cart)).status, 201)
      }))
  }

  it.effect("metadata of 100 levels is kept as it is", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      const metadata: unknown = JSON.parse(`{"a":${nested(99)}}`)
      const made = yield* checkOut(cart, { metadata })
      assert.deepStrictEqual(
        [made.status, JSON.stringify(made.at("data.metadata.a"))],
        [201, nested(99)]
      )
    }))

  it.effect("keys with a meaning in JavaScript are data and reach no prototype", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      const metadata = `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x"}`
      const body =
        `{"cartId":"${cart.id}","paymentMethodId":"test","currency":"USD","__proto__":{"currency":"EUR"},"metadata":${metadata}}`
      const made = yield* api("POST", "/api/checkout", { headers: cart.headers, body })
      assert.deepStrictEqual([made.status, made.at("data.metadata.cartId")], [201, cart.id])
      assert.notProperty({}, "polluted")
    }))

  it.effect("a day that no calendar has is refused, and not read as one of the next month", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const day = "2027-02-30T00:00:00Z"
      const price = { entityId, currency: "USD", amount: 1 }
      const promotion = { name: "Late", type: "percentage_off_order", value: 10 }
      const key = { name: "Late", role: "staff" }
      const requests: ReadonlyArray<readonly ["GET" | "POST" | "PUT", string, object?]> = [
        ["POST", "/api/pricing/prices", { ...price, validFrom: day }],
        ["POST", "/api/promotions", { ...promotion, validUntil: day }],
        ["POST", "/api/admin/api-keys", { ...key, expiresAt: day }],
        ["PUT", `/api/catalog/entities/${entityId}/schedule`, { publishAt: day }],
        ["GET", `/api/audit?from=${day}`]
      ]
      for (const [method, path, body] of requests) {
        const answer = yield* api(method, path, { as: asAdmin, ...(body === undefined ? {} : { body }) })
        refused(answer, 422, "VALIDATION_FAILED")
        assert.match(answer.text("error.details.issues.0.message"), /^\w+ must be a day of the calendar\.$/)
        assert.isUndefined(answer.at("error.details.issues.1"))
      }
    }))

  it.effect("a correction of stock by more than a movement can record is refused", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 0 })
      const adjust = { entityId, warehouseId: yield* aWarehouse() }
      const send = (body: object) => api("POST", "/api/inventory/adjust", { as: asAdmin, body: { ...adjust, ...body } })
      assert.strictEqual((yield* send({ adjustment: -2_147_483_647, allowNegative: true })).status, 200)
      refused(yield* send({ mode: "set", amount: 2_147_483_647 }), 422, "VALIDATION_FAILED")
    }))

  it.effect("quantities that add up beyond a line's limits are refused", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aGuestCart()
      const add = api("POST", `/api/carts/${cart.id}/items`, {
        headers: cart.headers,
        body: { entityId, quantity: 9999 }
      })
      assert.strictEqual((yield* add).status, 201)
      yield* onDatabase((sql) => sql`update cart_lines set quantity = 2147483640 where cart_id = ${cart.id}::uuid`)
      refused(yield* add, 422, "VALIDATION_FAILED")
    }))
})
