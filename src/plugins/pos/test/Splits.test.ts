import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin, at, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aSale, aTill, get, post } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const patch = (path: string, body: object, as: typeof asAdmin = asAdmin) =>
  api("PATCH", `/api/pos${path}`, { as, body })
const figures = (answer: Answer, ...fields: ReadonlyArray<string>) => fields.map((field) => answer.at(`data.${field}`))

shop("splitting and merging", (it) => {
  it.effect("share discounts to the last cent", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const { itemId, path } = yield* aSale(till, 3)
      yield* patch(`${path}/items/${itemId}`, { discountAmount: 100, reason: "x" })
      const split = yield* post(`${path}/split`, {
        parts: [{ items: [{ itemId, quantity: 1 }] }, { items: [{ itemId, quantity: 1 }] }]
      })
      assert.strictEqual(split.status, 201, JSON.stringify(split.body))
      const totals = split.list("data.transactions").map((one) => Number(at(one, "total")))
      assert.strictEqual(totals.reduce((sum, one) => sum + one, 0), 2_900, JSON.stringify(totals))
    }))

  it.effect("take sales only, and count them once", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const source = yield* aSale(till)
      const started = yield* post("/transactions", {
        shiftId: till.shiftId,
        terminalId: till.terminalId,
        type: "return"
      })
      refused(yield* post(`/transactions/${started.text("data.id")}/merge`, { from: source.id }), 409, "CONFLICT")
      const target = yield* aSale(till)
      const merged = yield* post(`${target.path}/merge`, { from: source.id })
      assert.strictEqual(merged.at("data.total"), 2_000, JSON.stringify(merged.body))
      const report = yield* get(`/shifts/${till.shiftId}/report`)
      assert.deepStrictEqual(figures(report, "voidsCount", "voidsTotal", "shift.voidsCount"), [1, 0, 1])
      yield* post(`${target.path}/void`, { reason: "x" })
      assert.strictEqual(
        (yield* post(`/shifts/${till.shiftId}/close`, { closingCount: 10_000 })).at("data.voidsCount"),
        3
      )
    }))
})
