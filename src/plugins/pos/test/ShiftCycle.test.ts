import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { raceOf, testAdminActor } from "stoa/plugin/testing"
import { cashier, code, colleague, manager, openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.2 and A.6, contract-plugins §2.2, 2.3 and 17.12. */
describe("shifts at a till", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills()
  })
  afterAll(() => shop.close())

  const close = (shiftId: string, closingCount: number) =>
    shop.done("POST", `/shifts/${shiftId}/close`, { closingCount })

  it("open once per terminal, with their float as the first event", async () => {
    const { terminalId } = await shop.terminal()
    const body = { terminalId, openingFloat: 5_000 }
    const [first] = (await raceOf(shop.app, { method: "POST", path: "/api/pos/shifts/open", body }))
      .filter(({ status }) => status === 201)
    assert.isDefined(first)
    await shop.refused("409 CONFLICT", "POST", "/shifts/open", body)
    const current = await shop.read("/shifts/current")
    assert.deepInclude(current.at("data"), {
      terminalId,
      status: "open",
      openingFloat: 5_000,
      closingCount: null,
      salesCount: 0,
      voidsCount: 0,
      closedAt: null
    })
    const events = await shop.read(`/shifts/${current.text("data.id")}/cash-events`)
    assert.strictEqual(events.list("data").length, 1)
    assert.deepInclude(events.at("data.0"), { type: "float", amount: 5_000 })
    await shop.refused("404 NOT_FOUND", "POST", "/shifts/open", { terminalId: randomUUID(), openingFloat: 0 })
    for (const openingFloat of [-1, 0.5, undefined]) {
      const { terminalId: free } = await shop.terminal()
      await shop.refused("422 VALIDATION_FAILED", "POST", "/shifts/open", { terminalId: free, openingFloat })
    }
  })

  it("are the caller's own at `current`, or null, and several at several terminals", async () => {
    const free = { ...cashier, userId: "without-shift" }
    assert.deepStrictEqual((await shop.done("GET", "/shifts/current", undefined, free)).body, { data: null })
    const worker = { ...cashier, userId: "two-tills" }
    await shop.till({}, 0, worker)
    const second = await shop.till({}, 0, worker)
    assert.strictEqual((await shop.done("GET", "/shifts/current", undefined, worker)).at("data.id"), second.shiftId)
  })

  it("are touched by their operator or a manager", async () => {
    const { shiftId } = await shop.till({}, 0, cashier)
    const event = { type: "drop", amount: 1 }
    const refuse = (path: string, body: object) =>
      shop.refused("403 FORBIDDEN", "POST", `/shifts/${shiftId}/${path}`, body, colleague)
    await refuse("close", { closingCount: 0 })
    await refuse("cash-events", event)
    await shop.done("POST", `/shifts/${shiftId}/cash-events`, { type: "paid_in", amount: 10 }, manager)
    await shop.done("POST", `/shifts/${shiftId}/close`, { closingCount: 10 }, manager)
  })

  it("that are closed keep their figures when a sale that they held is voided", async () => {
    const worker = { ...manager, userId: "voids-later" }
    const till = await shop.till({}, 0)
    const [own, late] = [await shop.sale(till, 700), await shop.sale(till, 300)]
    for (const { path } of [own, late]) await shop.done("POST", `${path}/hold`, { label: "x" })
    await close(till.shiftId, 0)
    const before = (await shop.read(`/shifts/${till.shiftId}/report`)).body
    // Without an open shift of whom voids it, only the closing counts it.
    const voided = await shop.done("POST", `${late.path}/void`, { reason: "x" }, worker)
    assert.deepStrictEqual(picked(voided, "shiftId", "isLate"), [till.shiftId, true])
    const shiftId = await shop.shift(till.terminalId, 0, worker)
    const counted = await shop.done("POST", `${own.path}/void`, { reason: "x" }, worker)
    assert.deepStrictEqual(picked(counted, "shiftId", "terminalId", "isLate"), [shiftId, till.terminalId, false])
    assert.deepStrictEqual((await shop.read(`/shifts/${till.shiftId}/report`)).body, before)
    const report = await shop.read(`/shifts/${shiftId}/report`)
    assert.deepStrictEqual(picked(report, "voidsCount", "voidsTotal", "shift.voidsTotal"), [1, 700, 700])
    await close(shiftId, 0)
    const z = await shop.done("POST", "/closings", { terminalId: till.terminalId })
    assert.deepStrictEqual(picked(z, "totals.voidsCount", "totals.voidsTotal"), [2, 1_000])
    await shop.refused("422 INVALID_TRANSITION", "POST", `${(await shop.sale(await shop.till())).path}/merge`, {
      from: own.id
    })
  })

  it("count what goes in and out of the drawer, and close with the difference", async () => {
    const till = await shop.till({}, 10_000)
    const event = (type: string, amount: number) =>
      shop.done("POST", `/shifts/${till.shiftId}/cash-events`, { type, amount, reason: type })
    const made = await event("drop", 3_000)
    assert.deepStrictEqual(made.status, 201)
    assert.deepInclude(made.at("data"), { type: "drop", amount: 3_000, reason: "drop", performedBy: "test-admin-1" })
    await event("pickup", 500)
    await event("paid_in", 200)
    await event("paid_out", 150)
    const sold = await shop.sold(till, 1_000, 2)
    await shop.sold(till, 700, 1, { payment: { method: "card" } })
    await shop.done("POST", "/returns", {
      shiftId: till.shiftId,
      terminalId: till.terminalId,
      originalOrderId: sold.orderId,
      items: [{ originalLineItemId: sold.lineId, quantity: 1, reason: "defective" }],
      payment: { method: "cash" }
    })
    const voided = await shop.sale(till, 333)
    await shop.pay(voided.path, 333)
    await shop.done("POST", `${voided.path}/void`, { reason: "x" })
    // 100.00 + 20.00 - 10.00 + 2.00 + 5.00 - 30.00 - 1.50
    const closed = await close(till.shiftId, 8_500)
    assert.deepInclude(closed.at("data"), {
      status: "closed",
      expectedCash: 8_550,
      closingCount: 8_500,
      cashVariance: -50,
      salesCount: 2,
      salesTotal: 2_700,
      refundsCount: 1,
      refundsTotal: 1_000,
      voidsCount: 1
    })
    const report = await shop.read(`/shifts/${till.shiftId}/report`)
    assert.deepStrictEqual(report.at("data.cash"), {
      float: 10_000,
      sales: 2_000,
      refunds: 1_000,
      paidIn: 200,
      paidOut: 150,
      pickups: 500,
      drops: 3_000,
      expected: 8_550,
      counted: 8_500,
      variance: -50
    })
    assert.deepStrictEqual(picked(report, "transactionCount", "voidsTotal", "noSaleCount"), [3, 333, 0])
    const methods = report.list("data.methods").map((one) => JSON.stringify(one)).sort()
    assert.deepStrictEqual(
      methods,
      [
        { method: "card", type: "sale", total: 700, count: 1 },
        { method: "cash", type: "refund", total: 1_000, count: 1 },
        { method: "cash", type: "sale", total: 2_000, count: 1 }
      ].map((one) => JSON.stringify(one))
    )
    assert.strictEqual(report.list("data.cashEvents").length, 5)
    await shop.refused("422 INVALID_TRANSITION", "POST", `/shifts/${till.shiftId}/close`, { closingCount: 0 })
    const after = { type: "drop", amount: 1 }
    await shop.refused("409 CONFLICT", "POST", `/shifts/${till.shiftId}/cash-events`, after)
    for (const wrong of [{ type: "float", amount: 1 }, { type: "drop", amount: 0 }, { amount: 1 }]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", `/shifts/${till.shiftId}/cash-events`, wrong)
    }
  })

  it("close once of eight at once", async () => {
    const { shiftId } = await shop.till()
    const body = { closingCount: 10_000 }
    await raceOf(shop.app, { method: "POST", path: `/api/pos/shifts/${shiftId}/close`, body })
  })

  it("stay open while a sale has lines or payments, void empty ones and leave held ones", async () => {
    const till = await shop.till()
    const [empty, held, full] = [await shop.start(till), await shop.sale(till), await shop.sale(till)]
    await shop.pay(held.path, 500)
    await shop.done("POST", `${held.path}/hold`, { label: "x" })
    const body = { closingCount: 10_000 }
    const refused = await shop.refused("409 CONFLICT", "POST", `/shifts/${till.shiftId}/close`, body)
    assert.include(refused.text("error.message"), full.receiptNumber)
    assert.notInclude(refused.text("error.message"), empty.receiptNumber)
    await shop.done("POST", `${full.path}/void`, { reason: "x" })
    assert.strictEqual((await close(till.shiftId, 10_000)).at("data.expectedCash"), 10_000)
    assert.strictEqual((await shop.read(empty.path)).at("data.status"), "voided")
    assert.strictEqual((await shop.read(held.path)).at("data.status"), "held")
    const next = await shop.shift(till.terminalId)
    const recalled = await shop.done("POST", `${held.path}/recall`, { shiftId: next })
    assert.deepStrictEqual(picked(recalled, "status", "shiftId"), ["open", next])
  })

  it("open the drawer without a sale for a reason, which is counted", async () => {
    const till = await shop.till({}, 0, cashier)
    const path = `/shifts/${till.shiftId}/no-sale`
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", path, { reason: "change" }, cashier)
    const { token } = await shop.override("no-sale")
    const opened = await shop.withToken(token, "POST", path, { reason: "change" })
    assert.strictEqual(opened.status, 201, JSON.stringify(opened.body))
    await shop.done("POST", path, { reason: "look" }, manager)
    await shop.refused("422 VALIDATION_FAILED", "POST", path, {}, manager)
    assert.strictEqual((await shop.read(`/shifts/${till.shiftId}/report`)).at("data.noSaleCount"), 2)
    await shop.done("POST", `/shifts/${till.shiftId}/close`, { closingCount: 0 }, cashier)
    assert.strictEqual(code(await shop.ask("POST", `/pos${path}`, { reason: "x" })), "409 CONFLICT")
  })

  describe("that are closed", () => {
    it("make a closing, numbered without gaps and chained by its hash", async () => {
      const till = await shop.till()
      const { terminalId } = till
      const first = await shop.sold(till, 1_000, 2)
      const last = await shop.sold(till)
      await shop.refused("409 CONFLICT", "POST", "/closings", { terminalId })
      await close(till.shiftId, 13_000)
      const z = await shop.done("POST", "/closings", { terminalId })
      assert.strictEqual(z.status, 201)
      assert.deepInclude(z.at("data"), {
        terminalId,
        number: 1,
        kind: "z",
        firstReceipt: first.receiptNumber,
        lastReceipt: last.receiptNumber,
        grandTotal: 3_000,
        createdBy: "test-admin-1"
      })
      assert.deepInclude(z.at("data.totals"), { salesCount: 2, salesTotal: 3_000, refundsCount: 0, voidsCount: 0 })
      await shop.refused("409 CONFLICT", "POST", "/closings", { terminalId })
      const next = { terminalId, shiftId: await shop.shift(terminalId) }
      await shop.sold(next, 500)
      await close(next.shiftId, 10_500)
      const second = await shop.done("POST", "/closings", { terminalId })
      assert.deepStrictEqual(picked(second, "number", "previousHash", "grandTotal", "totals.salesTotal"), [
        2,
        z.at("data.hash"),
        3_500,
        500
      ])
      for (const one of [z, second]) {
        assert.strictEqual((await shop.read(`/closings/${one.text("data.id")}/verify`)).at("data.valid"), true)
        assert.strictEqual((await shop.read(`/closings/${one.text("data.id")}`)).at("data.hash"), one.at("data.hash"))
      }
      const list = await shop.read(`/closings?terminalId=${terminalId}`)
      assert.deepStrictEqual(list.list("data").map((one) => Reflect.get(Object(one), "number")), [2, 1])
      const day = z.text("data.businessDate")
      const none = await shop.read(`/closings?terminalId=${terminalId}&businessDate=2001-01-01`)
      assert.deepStrictEqual(none.at("data"), [])
      const today = await shop.read(`/closings?terminalId=${terminalId}&businessDate=${day}&limit=1`)
      assert.strictEqual(today.at("meta.pagination.total"), 2)
      const exported = await fetch(`${shop.app.app.url}/api/pos/fiscal/export?from=2000-01-01&to=2999-01-01`, {
        headers: { "x-test-actor": JSON.stringify(testAdminActor) }
      })
      const records = (await exported.text()).trim().split("\n").map((line): unknown => JSON.parse(line))
        .filter((one) => Reflect.get(Object(one), "terminalId") === terminalId)
      assert.deepStrictEqual(records.map((one) => Reflect.get(Object(one), "number")), [1, 2, 3, 4, 5])
      await shop.refused("404 NOT_FOUND", "POST", "/closings", { terminalId: randomUUID() })
      await shop.refused("404 NOT_FOUND", "GET", `/closings/${randomUUID()}`)
      const changed = await shop.app.db.query("update pos_closings set grand_total = 1 where terminal_id = $1", [
        terminalId
      ])
        .then(() => true, () => false)
      const verified = await shop.read(`/closings/${second.text("data.id")}/verify`)
      assert.strictEqual(verified.at("data.valid"), !changed)
    })

    it("begin and end with the receipts of their counts, also beyond the ten thousandth of a day", async () => {
      const till = await shop.till()
      const day = (await shop.sold(till)).receiptNumber.slice(0, -4)
      for (const count of ["9999", "10000"]) {
        const { id } = await shop.sold(till)
        await shop.app.db.query("update pos_transactions set receipt_number = $2 where id = $1::uuid", [
          id,
          day + count
        ])
      }
      await shop.app.db.query("update pos_transactions set receipt_number = $1 where receipt_number = $2", [
        `${day}9998`,
        `${day}0001`
      ])
      await close(till.shiftId, 13_000)
      const z = await shop.done("POST", "/closings", { terminalId: till.terminalId })
      assert.deepStrictEqual(picked(z, "firstReceipt", "lastReceipt"), [`${day}9998`, `${day}10000`])
    })

    it("are verified in pages, up to their own record", async () => {
      const till = await shop.till()
      const { query } = shop.app.db
      // Records of 1,200 sales before.
      await query(
        `with recursive chain as (
          select 0 as number, repeat('0', 64) as previous, repeat('0', 64) as hash
          union all
          select number + 1, hash, encode(sha256(convert_to(
            concat(hash, chr(10), '{"number":', number + 1, ',"payload":{}}'), 'UTF8')), 'hex')
          from chain where number < 1200)
        insert into pos_fiscal_records (id, organization_id, terminal_id, number, payload, previous_hash, hash, state)
          select gen_random_uuid(), 'org_default', $1::uuid, number, '{}', previous, hash, 'skipped'
          from chain where number > 0`,
        [till.terminalId]
      )
      await query(
        "insert into plugin_counters (organization_id, plugin, kind, scope, period, value) values ('org_default', 'pos', 'fiscal', $1, '', 1200)",
        [till.terminalId]
      )
      await close(till.shiftId, 10_000)
      const z = await shop.done("POST", "/closings", { terminalId: till.terminalId })
      const verified = async () =>
        picked(await shop.read(`/closings/${z.text("data.id")}/verify`), "valid", "recordsFit")
      assert.deepStrictEqual(await verified(), [true, true])
      const next = { terminalId: till.terminalId, shiftId: await shop.shift(till.terminalId) }
      const { id } = await shop.sold(next)
      await query("update pos_fiscal_records set hash = 'x' where transaction_id = $1::uuid", [id])
      assert.deepStrictEqual(await verified(), [true, true])
      await query("update pos_fiscal_records set payload = '{\"a\":1}' where number = 900 and terminal_id = $1::uuid", [
        till.terminalId
      ])
      assert.deepStrictEqual(await verified(), [false, false])
    })

    it("make one closing of several shifts, and one of eight who ask at once", async () => {
      const till = await shop.till()
      const { terminalId } = till
      await shop.sold(till)
      await close(till.shiftId, 11_000)
      const next = { terminalId, shiftId: await shop.shift(terminalId) }
      await shop.sold(next)
      await close(next.shiftId, 11_000)
      const body = { terminalId }
      await raceOf(shop.app, { method: "POST", path: "/api/pos/closings", body })
      const list = await shop.read(`/closings?terminalId=${terminalId}`)
      assert.strictEqual(list.list("data").length, 1)
      assert.deepInclude(list.at("data.0.totals"), { salesCount: 2, salesTotal: 2_000 })
    })
  })

  it("are figures of analytics, with their payments", async () => {
    const till = await shop.till()
    await shop.sold(till, 900)
    await close(till.shiftId, 10_899)
    const query = async (measures: ReadonlyArray<string>) =>
      (await shop.ask("POST", "/analytics/query", { measures })).status
    const meta = JSON.stringify((await shop.ask("GET", "/analytics/meta")).body)
    for (const model of ["PosShifts", "PosPayments", "PosItems"]) assert.include(meta, `"${model}"`)
    assert.strictEqual(await query(["PosShifts.count", "PosShifts.salesTotal", "PosShifts.cashVariance"]), 200)
    assert.strictEqual(await query(["PosPayments.count", "PosPayments.amount"]), 200)
  })
})

describe("shifts that are closed blindly, of sales in the default currency", () => {
  it("show what was expected to managers alone", async () => {
    const shop = await openTills({ blindClose: true, defaultCurrency: "CHF" })
    const till = await shop.till({}, 1_000, cashier)
    assert.strictEqual((await shop.start(till)).started.at("data.currency"), "CHF")
    const body = { closingCount: 900 }
    const closed = await shop.done("POST", `/shifts/${till.shiftId}/close`, body, cashier)
    assert.deepStrictEqual(picked(closed, "expectedCash", "cashVariance"), [null, null])
    const seen = await shop.done("GET", `/shifts/${till.shiftId}`, undefined, cashier)
    assert.deepStrictEqual(picked(seen, "expectedCash", "cashVariance"), [null, null])
    const report = await shop.read(`/shifts/${till.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "cash.expected", "cash.variance"), [1_000, -100])
    await shop.close()
  })
})
