import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { elsewhere, onDatabase, openElsewhere, refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { asAdmin, at, live, TestApp, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aSale, aTill, complete, get, pay, post } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const close = (shiftId: string, closingCount: number) => post(`/shifts/${shiftId}/close`, { closingCount })

shop("shifts of a till", (it) => {
  it.effect("open once at a till, of several requests at once too", () =>
    Effect.gen(function*() {
      const { shiftId, terminalId } = yield* aTill()
      refused(yield* post("/shifts/open", { terminalId, openingFloat: 0 }), 409, "CONFLICT")
      yield* close(shiftId, 10_000)
      const answers = yield* Effect.all(
        Array.from({ length: 4 }, () => post("/shifts/open", { terminalId, openingFloat: 0 })),
        { concurrency: 4 }
      )
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409, 409])
      refused(yield* post("/shifts/open", { terminalId, openingFloat: -1 }), 422, "VALIDATION_FAILED")
    }))

  it.effect("count what the drawer should hold: completed sales in cash, and cash that came and went", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const cash = (type: string, amount: number) => post(`/shifts/${till.shiftId}/cash-events`, { type, amount })
      const sold = yield* aSale(till, 3)
      yield* pay(sold.path, 3_500, { changeGiven: 500 })
      yield* complete(sold.path)
      const byCard = yield* aSale(till)
      yield* pay(byCard.path, 1_000, { method: "card" })
      yield* complete(byCard.path)
      const voided = yield* aSale(till)
      yield* pay(voided.path, 1_000)
      yield* post(`${voided.path}/void`, { reason: "x" })
      for (const [type, amount] of [["paid_in", 100], ["pickup", 200], ["drop", 1_000], ["paid_out", 50]] as const) {
        assert.strictEqual((yield* cash(type, amount)).status, 201)
      }
      refused(yield* cash("drop", 0), 422, "VALIDATION_FAILED")
      yield* post(`/shifts/${till.shiftId}/no-sale`, { reason: "Change" })
      const expected = 10_000 + 3_000 + 100 + 200 - 1_000 - 50
      const closed = yield* close(till.shiftId, expected - 5)
      assert.deepStrictEqual(
        ["status", "expectedCash", "cashVariance", "salesCount", "salesTotal", "voidsCount", "noSaleCount"].map((
          field
        ) => closed.at(`data.${field}`)),
        ["closed", expected, -5, 2, 4_000, 1, 1],
        JSON.stringify(closed.body)
      )
      const events = yield* get(`/shifts/${till.shiftId}/cash-events`)
      assert.deepStrictEqual(
        events.list("data").map((one) => at(one, "type")),
        ["float", "paid_in", "pickup", "drop", "paid_out", "no_sale"]
      )
      refused(yield* close(till.shiftId, 0), 422, "INVALID_TRANSITION")
      refused(yield* cash("drop", 1), 409, "CONFLICT")
    }))

  it.effect("are not closed with open sales, void empty ones, and leave held ones to the next shift", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const [sale, held] = [yield* aSale(till), yield* aSale(till)]
      const empty = yield* post("/transactions", { shiftId: till.shiftId, terminalId: till.terminalId })
      yield* pay(held.path, 500)
      yield* post(`${held.path}/hold`, { label: "Blue coat" })
      const refusal = yield* close(till.shiftId, 0)
      refused(refusal, 409, "CONFLICT")
      assert.include(refusal.text("error.message"), sale.receiptNumber)
      yield* post(`${sale.path}/void`, { reason: "x" })
      assert.strictEqual((yield* close(till.shiftId, 10_000)).at("data.expectedCash"), 10_000)
      assert.strictEqual((yield* get(`/transactions/${empty.text("data.id")}`)).at("data.status"), "voided")
      const next = yield* post("/shifts/open", { terminalId: till.terminalId, openingFloat: 0 })
      const list = yield* get(`/transactions/held?terminalId=${till.terminalId}`)
      assert.deepStrictEqual(list.list("data").map((one) => at(one, "holdLabel")), ["Blue coat"])
      refused(yield* post(`${held.path}/recall`), 409, "CONFLICT")
      const recalled = yield* post(`${held.path}/recall`, { shiftId: next.text("data.id") })
      assert.deepStrictEqual(
        ["status", "shiftId", "receiptNumber", "amountDue"].map((field) => recalled.at(`data.${field}`)),
        ["open", next.at("data.id"), held.receiptNumber, 500]
      )
      yield* pay(held.path, 500)
      assert.strictEqual((yield* complete(held.path)).status, 201)
      assert.strictEqual((yield* get(`/shifts/${next.text("data.id")}`)).at("data.salesCount"), 1)
    }))

  it.effect("number receipts without gaps, also of transactions that start at once", () =>
    Effect.gen(function*() {
      const { code, shiftId, terminalId } = yield* aTill()
      const started = yield* Effect.all(
        Array.from({ length: 6 }, () => post("/transactions", { shiftId, terminalId })),
        { concurrency: 6 }
      )
      const numbers = started.map((one) => one.text("data.receiptNumber")).toSorted()
      assert.deepStrictEqual(numbers.map((one) => one.slice(-4)), ["0001", "0002", "0003", "0004", "0005", "0006"])
      assert.isTrue(numbers.every((one) => one.startsWith(`${code}-`)))
      const once = { shiftId, terminalId, clientId: "device-0001" }
      const [first, again] = [yield* post("/transactions", once), yield* post("/transactions", once)]
      assert.strictEqual(first.at("data.id"), again.at("data.id"))
    }))

  it.effect("end in a closing that is numbered and chained, in which one changed byte is found", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* aSale(till, 2)
      yield* pay(sale.path, 2_000)
      yield* complete(sale.path)
      const make = post("/closings", { terminalId: till.terminalId })
      refused(yield* make, 409, "CONFLICT")
      yield* close(till.shiftId, 12_000)
      const first = yield* make
      assert.deepStrictEqual(
        ["number", "grandTotal", "firstReceipt", "totals.salesTotal", "totals.cash.expected"].map((field) =>
          first.at(`data.${field}`)
        ),
        [1, 2_000, sale.receiptNumber, 2_000, 12_000],
        JSON.stringify(first.body)
      )
      refused(yield* make, 409, "CONFLICT")
      const shift = yield* post("/shifts/open", { terminalId: till.terminalId, openingFloat: 0 })
      yield* close(shift.text("data.id"), 0)
      const second = yield* make
      assert.deepStrictEqual(
        [second.at("data.number"), second.at("data.previousHash"), second.at("data.grandTotal")],
        [2, first.at("data.hash"), 2_000]
      )
      const { url } = yield* TestApp
      const day = new Date().toISOString().slice(0, 10)
      const exported = yield* Effect.promise(async () =>
        (await fetch(`${url}/api/pos/fiscal/export?from=${day}&to=2999-01-01`, {
          headers: { "x-test-actor": JSON.stringify(asAdmin) }
        })).text()
      )
      const ofTill = exported.trim().split("\n").map((line): unknown => JSON.parse(line))
        .filter((record) => at(record, "terminalId") === till.terminalId)
      assert.deepStrictEqual(ofTill.map((record) => at(record, "number")), [1, 2, 3])
      const verify = get(`/closings/${second.text("data.id")}/verify`)
      assert.strictEqual((yield* verify).at("data.valid"), true)
      yield* onDatabase((sql) =>
        sql`update pos_fiscal_records set payload = jsonb_set(payload, '{total}', '2001')
          where transaction_id = ${sale.id}::uuid`
      )
      assert.deepStrictEqual([(yield* verify).at("data.valid"), (yield* verify).at("data.recordsFit")], [false, false])
      const ofFirst = get(`/closings/${first.text("data.id")}/verify`)
      yield* onDatabase((sql) =>
        sql`update pos_closings set totals = jsonb_set(totals, '{salesTotal}', '1999') where number = 1
          and terminal_id = ${till.terminalId}::uuid`
      )
      assert.notStrictEqual((yield* ofFirst).at("data.hash"), (yield* ofFirst).at("data.expectedHash"))
    }))

  it.effect("are of their organization", () =>
    Effect.gen(function*() {
      const { shiftId, terminalId } = yield* aTill()
      yield* openElsewhere
      for (const path of [`/shifts/${shiftId}`, `/shifts/${shiftId}/report`, `/terminals/${terminalId}`]) {
        refused(yield* get(path, elsewhere), 404, "NOT_FOUND", path)
      }
      refused(yield* post("/shifts/open", { terminalId, openingFloat: 0 }, elsewhere), 404, "NOT_FOUND")
      refused(yield* post("/closings", { terminalId }, elsewhere), 404, "NOT_FOUND")
    }))
})
