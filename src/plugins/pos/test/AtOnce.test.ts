import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aProduct } from "../../../../test/support/Purchase.ts"
import { live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aSale, aTill, get, post } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const voiding = (path: string) => post(`${path}/void`, { reason: "x" })

shop("requests at once", (it) => {
  it.effect("do not wait for each other in a circle", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const entityId = yield* aProduct({ price: 1_000, stock: 500 })
      const start = post("/transactions", { shiftId: till.shiftId, terminalId: till.terminalId })
      for (let round = 0; round < 6; round++) {
        const sync = (n: number) =>
          post("/sync", {
            sales: [{
              id: `${till.shiftId}-${round}-${n}`,
              shiftId: till.shiftId,
              at: new Date().toISOString(),
              items: [{ entityId, quantity: 1 }],
              payments: [{ method: "cash", amount: 1_000 }]
            }]
          })
        const answers = yield* Effect.all([start, sync(1), start, sync(2), start, sync(3), start, sync(4)], {
          concurrency: 8
        })
        assert.deepStrictEqual(
          new Set(answers.map(({ status }) => status)),
          new Set([201]),
          JSON.stringify(answers.map(({ body }) => body)).slice(0, 500)
        )
      }
    }))

  it.effect("split and void the same sale: one of them wins", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      for (let round = 0; round < 10; round++) {
        const { itemId, path } = yield* aSale(till, 2)
        const answers = yield* Effect.all([
          post(`${path}/split`, { parts: [{ items: [{ itemId, quantity: 1 }] }] }),
          voiding(path)
        ], { concurrency: 2 })
        assert.isBelow(
          Math.max(...answers.map(({ status }) => status)),
          500,
          JSON.stringify(answers.map(({ body }) => body)).slice(0, 500)
        )
      }
    }))

  it.effect("start no sale in a shift that is closed at the same time", () =>
    Effect.gen(function*() {
      for (let round = 0; round < 6; round++) {
        const till = yield* aTill()
        const start = post("/transactions", { shiftId: till.shiftId, terminalId: till.terminalId })
        yield* Effect.all([
          start,
          start,
          post(`/shifts/${till.shiftId}/close`, { closingCount: 0 }),
          start,
          start,
          start,
          start
        ], { concurrency: 7 })
        assert.strictEqual((yield* get(`/shifts/${till.shiftId}`)).at("data.status"), "closed")
        assert.deepStrictEqual((yield* get(`/transactions?shiftId=${till.shiftId}&status=open`)).list("data"), [])
      }
    }))
})
