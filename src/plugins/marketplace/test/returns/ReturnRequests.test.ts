import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { refused } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin } from "../../../../../test/support/TestApp.ts"
import { aReturn, aSale, type Sale } from "../SaleBuilder.ts"
import { assertOnce, withMarketplace } from "../VendorShop.ts"

const ask = ({ buyer, subOrderId }: Sale, lineItems?: ReadonlyArray<object>, rest: object = {}) =>
  api("POST", "/api/marketplace/returns", {
    as: buyer,
    body: { subOrderId, reason: "changed_mind", ...(lineItems && { lineItems }), ...rest }
  })

withMarketplace({ returnWindowDays: 10 })("a return is asked for", (it) => {
  it.effect("a return is requested once the goods are there, and as long as the window is open", () =>
    Effect.gen(function*() {
      for (const status of ["pending", "confirmed", "shipped", "cancelled"] as const) {
        refused(yield* ask(yield* aSale({ status })), 422, "VALIDATION_FAILED", status)
      }
      refused(yield* ask(yield* aSale({ deliveredDaysAgo: 10.01 })), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* ask(yield* aSale({ deliveredDaysAgo: 9.99 }))).status, 201)
    }))

  it.effect("a return is requested of everything that is left, where no lines are named", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ vendorLines: 2, lines: [{ quantity: 2 }, { quantity: 3 }, { quantity: 1 }] })
      const [one, two] = sale.lines
      yield* api("POST", `/api/orders/${sale.orderId}/refunds`, {
        as: asAdmin,
        body: { lines: [{ lineItemId: one?.id, quantity: 2 }, { lineItemId: two?.id, quantity: 1 }] }
      })
      const asked = yield* ask(sale)
      assert.deepStrictEqual(asked.at("data.lineItems"), [{ entityId: two?.entityId, quantity: 2 }])
      refused(yield* ask(sale), 422, "VALIDATION_FAILED")
    }))

  it.effect("a return is requested for units of the sub-order only, and no more of them than are left", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ vendorLines: 1, lines: [{ quantity: 3 }, { quantity: 1 }] })
      const [line] = sale.lines
      const entityId = line?.entityId
      const others = yield* aSale()
      for (
        const lines of [
          [{ entityId: others.lines[0]?.entityId, quantity: 1 }],
          [{ entityId, quantity: 4 }],
          [{ entityId, quantity: 2 }, { entityId, quantity: 2 }],
          [{ entityId, quantity: 0 }],
          [{ entityId, quantity: 1.5 }],
          []
        ]
      ) refused(yield* ask(sale, lines), 422, "VALIDATION_FAILED", JSON.stringify(lines))
      assert.strictEqual((yield* ask(sale, [{ entityId, quantity: 2 }])).status, 201)
      refused(yield* ask(sale, [{ entityId, quantity: 2 }]), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* ask(sale, [{ entityId, quantity: 1 }])).status, 201)
    }))

  it.effect("a return is requested for units that a return asked for that came to nothing", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ lines: [{ quantity: 1 }] })
      yield* aReturn(sale, "vendor_rejected")
      assert.strictEqual((yield* ask(sale)).status, 201)
    }))

  it.effect("a return is requested once for the same units, of eight requests at once", () =>
    Effect.gen(function*() {
      const sale = yield* aSale({ lines: [{ quantity: 2 }] })
      const lines = [{ entityId: sale.lines[0]?.entityId, quantity: 2 }]
      yield* assertOnce(ask(sale, lines))
    }))
})
