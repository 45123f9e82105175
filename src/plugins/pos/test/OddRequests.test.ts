import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { holding } from "../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../test/support/Purchase.ts"
import { live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aSale, aTill, get, pay, post, tillOf } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const cashier = { ...holding("pos:operate"), userId: "cashier-1" }
const other = { ...holding("pos:operate"), userId: "cashier-2" }

shop("payments", (it) => {
  it.effect("by a method of another plugin that is not there fail at once", () =>
    Effect.gen(function*() {
      const { path } = yield* aSale(yield* aTill())
      const answer = yield* pay(path, 1_000, { method: "gift_card", reference: "ABCD" })
      assert.isBelow(answer.status, 500, JSON.stringify(answer.body))
      assert.strictEqual((yield* get(path)).at("data.payments.0.status"), "failed")
    }))
})

shop("requests with odd text", (it) => {
  it.effect("are refused", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const { path, entityId } = yield* aSale(till)
      const nul = "\u0000"
      for (
        const answer of yield* Effect.all([
          get(`/lookup/search?q=a%00b`),
          get(`/lookup/sku/a%00b`),
          get("/lookup/stock/x"),
          post(`${path}/hold`, { label: `a${nul}` }),
          post(`${path}/items`, { entityId, metadata: { a: [`x${nul}`] } }),
          post(`${path}/items`, { entityId, notes: nul }),
          post(`${path}/payments`, { method: "other", amount: 1, reference: nul }),
          post(`${path}/payments`, { method: "cash", amount: 1, metadata: { a: nul } }),
          post(`${path}/codes`, { code: nul }),
          post("/auth/override", { operatorId: nul, pin: "7294", action: "void" }),
          post("/auth/override", { operatorId: "x", pin: "7294", action: `v${nul}` }),
          post("/sync", {
            sales: [{
              id: `12345678${nul}`,
              shiftId: till.shiftId,
              at: new Date().toISOString(),
              items: [],
              payments: []
            }]
          })
        ])
      ) {
        assert.isBelow(answer.status, 500, JSON.stringify(answer.body))
        assert.isAtLeast(answer.status, 400, JSON.stringify(answer.body).slice(0, 300))
      }
    }))
})

shop("other operators", (it) => {
  it.effect("take no money for the sales of a cashier", () =>
    Effect.gen(function*() {
      const till = yield* tillOf(cashier)
      const entityId = yield* aProduct({ price: 1_000, stock: 50 })
      const started = yield* post("/transactions", { shiftId: till.shiftId, terminalId: till.terminalId }, cashier)
      const path = `/transactions/${started.text("data.id")}`
      yield* post(`${path}/items`, { entityId }, cashier)
      const tries = [
        yield* post(`${path}/payments`, { method: "cash", amount: 1_000 }, other),
        yield* post(`${path}/complete`, {}, other)
      ]
      assert.deepStrictEqual(tries.map(({ status }) => status), [403, 403])
    }))
})
