import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { holding, refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aSale, aTill, aToken, tillOf } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const cashier = { ...holding("pos:operate"), userId: "cashier-1" }
const supervisor = { ...holding("pos:operate", "pos:manage"), userId: "supervisor" }

const patch = (path: string, body: object, as: typeof asAdmin = asAdmin) =>
  api("PATCH", `/api/pos${path}`, { as, body })

shop("discounts", (it) => {
  it.effect("do not grow by fewer units without approval", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const { itemId, path } = yield* aSale(till, 10)
      yield* patch(`${path}/items/${itemId}`, { discountPercent: 20, reason: "Friend" }, supervisor)
      refused(yield* patch(`${path}/items/${itemId}`, { quantity: 2 }, supervisor), 403, "OVERRIDE_REQUIRED")
      refused(
        yield* patch(`${path}/items/${itemId}`, { quantity: 9 }, { ...cashier, userId: "user-admin" }),
        403,
        "OVERRIDE_REQUIRED"
      )
      assert.strictEqual(
        (yield* patch(`${path}/items/${itemId}`, { quantity: 11 }, { ...cashier, userId: "user-admin" })).status,
        200
      )
    }))

  it.effect("and prices that are larger than a line can be are refused", () =>
    Effect.gen(function*() {
      const { itemId, path } = yield* aSale(yield* aTill())
      const own = `${path}/items/${itemId}`
      refused(yield* patch(own, { unitPrice: 1_000_000_000_000, quantity: 9_999 }), 422, "CHECKOUT_FAILED")
      refused(yield* patch(own, { discountAmount: 1_001, reason: "x" }), 422, "CHECKOUT_FAILED")
    }))

  it.effect("that a supervisor allows set no price", () =>
    Effect.gen(function*() {
      const { itemId, path } = yield* aSale(yield* tillOf(cashier))
      const change = (token: string) =>
        api("PATCH", `/api/pos${path}/items/${itemId}`, {
          as: cashier,
          headers: { "x-pos-override": token },
          body: { unitPrice: 2, discountAmount: 1, reason: "x" }
        })
      refused(yield* change(yield* aToken("discount")), 403, "OVERRIDE_INVALID")
      assert.strictEqual((yield* change(yield* aToken("price"))).status, 200)
    }))
})
