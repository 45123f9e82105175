import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { stockOf } from "../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aSale, aTill, complete, get, pay } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }), live)

shop("a sale at a till", (it) => {
  it.effect("is paid in cash with change, and is an order, stock and counters at once", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const { entityId, id, path, receiptNumber } = yield* aSale(till, 2)
      const paid = yield* pay(path, 5_000, { changeGiven: 3_000 })
      assert.deepStrictEqual([paid.status, paid.at("data.amountDue")], [201, 0], JSON.stringify(paid.body))
      const done = yield* complete(path)
      assert.deepStrictEqual(
        ["status", "total", "cartId"].map((field) => done.at(`data.transaction.${field}`)),
        ["completed", 2_000, null],
        JSON.stringify(done.body)
      )
      assert.match(receiptNumber, new RegExp(`^${till.code}-\\d{8}-0001$`))
      const order = yield* api("GET", `/api/orders/${done.text("data.transaction.orderId")}`, { as: asAdmin })
      assert.deepStrictEqual([order.at("data.status"), order.at("data.grandTotal")], ["fulfilled", 2_000])
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 48, reserved: 0 })
      const report = yield* get(`/shifts/${till.shiftId}/report`)
      assert.deepStrictEqual(
        ["salesCount", "salesTotal", "cash.expected"].map((field) => report.at(`data.${field}`)),
        [1, 2_000, 12_000],
        JSON.stringify(report.body)
      )
      const again = yield* complete(path)
      assert.strictEqual(again.at("data.transaction.orderId"), order.at("data.id"))
      const receipt = yield* get(`/transactions/${id}/receipt`)
      assert.strictEqual(receipt.at("data.lineItems.0.totalPrice"), 2_000, JSON.stringify(receipt.body))
    }))
})
