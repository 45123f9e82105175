import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, stockOf } from "../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../test/support/Purchase.ts"
import { type Answer, at, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aTill, get, post } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const sync = (...sales: ReadonlyArray<object>) => post("/sync", { sales })
const statuses = (answer: Answer) => answer.list("data").map((one) => at(one, "status"))
const codes = (answer: Answer) => answer.list("data").map((one) => at(one, "error.code"))

/** A till, and how a device would send sales of something for 7.00 that costs 10.00 now. */
const anOfflineTill = Effect.gen(function*() {
  const till = yield* aTill()
  const entityId = yield* aProduct({ price: 1_000, stock: 5 })
  const made = (id: string, body: object = {}) => ({
    id,
    shiftId: till.shiftId,
    at: new Date().toISOString(),
    items: [{ entityId, quantity: 1, unitPrice: 700 }],
    payments: [{ method: "cash", amount: 1_000, changeGiven: 300 }],
    ...body
  })
  return { ...till, entityId, made }
})

shop("sales that a device made offline", (it) => {
  it.effect("count at the price that was paid, once, however often and at once they are sent", () =>
    Effect.gen(function*() {
      const { entityId, made, shiftId } = yield* anOfflineTill
      const batch = Array.from({ length: 20 }, (_, n) => made(`offline-${shiftId}-${n}`.slice(0, 60)))
      const answers = yield* Effect.all([sync(...batch), sync(...batch.slice(5)), sync(...batch)], { concurrency: 3 })
      for (const answer of answers) {
        assert.deepStrictEqual(new Set(statuses(answer)), new Set(["ok"]), JSON.stringify(answer.body).slice(0, 500))
      }
      const again = yield* sync(...batch)
      assert.deepStrictEqual(
        again.list("data").map((one) => at(one, "transaction.orderId")),
        answers[0]?.list("data").map((one) => at(one, "transaction.orderId"))
      )
      const numbers = again.list("data").map((one) => String(at(one, "transaction.receiptNumber")).slice(-4)).toSorted()
      assert.deepStrictEqual(numbers, Array.from({ length: 20 }, (_, n) => String(n + 1).padStart(4, "0")))
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: -15, reserved: 0 })
      const report = yield* get(`/shifts/${shiftId}/report`)
      assert.deepStrictEqual(
        ["salesCount", "salesTotal", "cash.expected"].map((field) => report.at(`data.${field}`)),
        [20, 14_000, 24_000]
      )
    }))

  it.effect("are refused one by one, and stop no other", () =>
    Effect.gen(function*() {
      const { code, made, shiftId } = yield* anOfflineTill
      const id = (n: number) => `${shiftId}-${n}`
      const first = made(id(0))
      yield* sync(first)
      const answer = yield* sync(
        { ...first, payments: [{ method: "card", amount: 700 }] },
        made(id(1), { payments: [{ method: "gift_card", amount: 700, reference: "X" }] }),
        made(id(2), { payments: [{ method: "cash", amount: 600 }] }),
        made(id(3), { at: new Date(Date.now() + 600_000).toISOString() }),
        made(id(4), { at: "2020-01-01T00:00:00.000Z" }),
        made(id(5), { receiptNumber: "T999-20200101-F0001" }),
        made(id(6), { shiftId: "00000000-0000-4000-8000-000000000000" }),
        made(id(7))
      )
      assert.deepStrictEqual(
        codes(answer),
        [
          "CONFLICT",
          "OFFLINE_PAYMENT",
          "VALIDATION_FAILED",
          "VALIDATION_FAILED",
          "VALIDATION_FAILED",
          "VALIDATION_FAILED",
          "NOT_FOUND",
          undefined
        ],
        JSON.stringify(answer.body).slice(0, 2_000)
      )
      const day = String(at(answer.list("data")[7], "transaction.businessDate")).replaceAll("-", "")
      const own = yield* sync(made(id(8), { receiptNumber: `${code}-${day}-F0001` }))
      assert.deepStrictEqual(statuses(own), ["ok"], JSON.stringify(own.body).slice(0, 500))
      assert.deepStrictEqual(codes(yield* sync(made(id(9), { receiptNumber: `${code}-${day}-F0001` }))), ["CONFLICT"])
    }))

  it.effect("count for a shift that was closed meanwhile, beside its counters, and in the next closing", () =>
    Effect.gen(function*() {
      const { made, shiftId, terminalId } = yield* anOfflineTill
      yield* post(`/shifts/${shiftId}/close`, { closingCount: 10_000 })
      yield* post("/closings", { terminalId })
      assert.deepStrictEqual(statuses(yield* sync(made(`${shiftId}-late`))), ["ok"])
      const shift = yield* get(`/shifts/${shiftId}`)
      assert.deepStrictEqual(
        ["salesCount", "salesTotal", "lateCount", "lateTotal", "expectedCash"].map((field) =>
          shift.at(`data.${field}`)
        ),
        [0, 0, 1, 700, 10_000]
      )
      const closing = yield* post("/closings", { terminalId })
      assert.deepStrictEqual(
        [closing.at("data.number"), closing.at("data.totals.salesTotal"), closing.at("data.grandTotal")],
        [2, 700, 700]
      )
      yield* onDatabase((sql) =>
        sql`update pos_shifts set closed_at = now() - interval '49 hours' where id = ${shiftId}::uuid`
      )
      assert.deepStrictEqual(codes(yield* sync(made(`${shiftId}-too-late`))), ["CONFLICT"])
    }))

  it.effect("that were voided on the device take nothing", () =>
    Effect.gen(function*() {
      const { entityId, made, shiftId } = yield* anOfflineTill
      const answer = yield* sync(made(`${shiftId}-void`, { voidReason: "Wrong table" }))
      assert.deepStrictEqual(
        answer.list("data").map((one) => [at(one, "transaction.status"), at(one, "transaction.orderId")]),
        [["voided", null]],
        JSON.stringify(answer.body).slice(0, 500)
      )
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
      assert.strictEqual((yield* get(`/shifts/${shiftId}`)).at("data.voidsCount"), 1)
    }))
})
