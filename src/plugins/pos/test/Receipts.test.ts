import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { testAdminActor } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { cashier, openTills, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.10 and contract-plugins §2.3: receipts, their numbers and their days. */
describe("receipts of a till", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills()
  })
  afterAll(() => shop.close())

  const receipt = (path: string, query = "") => shop.done("GET", `${path}/receipt${query}`)

  it("have lines, payments, taxes and totals of a completed sale, and how often they were read again", async () => {
    const till = await shop.till({ cashRounding: 5, tipMode: "on_terminal" })
    const customerId = await shop.customer()
    const { id, itemId, path, receiptNumber } = await shop.sale(till, 999, 2, { customerId })
    await shop.done("PATCH", `${path}/items/${itemId}`, { notes: "no onions", discountAmount: 100, reason: "x" })
    await shop.pay(path, 500, { method: "card", reference: "SLIP-1", tip: 50 })
    await shop.pay(path, 2_000, { changeGiven: 600 })
    const done = await shop.complete(path)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    const first = await receipt(path)
    assert.deepInclude(first.at("data"), {
      receiptNumber,
      transactionId: id,
      terminalCode: till.code,
      orderNumber: order.at("data.orderNumber"),
      subtotal: 1_998,
      discountTotal: 100,
      taxTotal: 0,
      taxByRate: [],
      rounding: 2,
      tips: 50,
      total: 1_898,
      changeDue: 600,
      customerId,
      currency: "USD",
      businessDate: done.at("data.transaction.businessDate")
    })
    assert.isString(first.at("data.operatorName"))
    assert.isNotNaN(Date.parse(first.text("data.timestamp")))
    assert.deepInclude(first.at("data.lineItems.0"), {
      quantity: 2,
      unitPrice: 999,
      totalPrice: 1_998,
      notes: "no onions"
    })
    assert.isString(first.at("data.lineItems.0.title"))
    assert.deepInclude(first.at("data.payments.0"), { method: "card", amount: 500, reference: "SLIP-1", tip: 50 })
    assert.deepInclude(first.at("data.payments.1"), { method: "cash", amount: 2_000, changeGiven: 600 })
    assert.isString(first.at("data.payments.1.label"))
    assert.property(Object(first.at("data")), "fiscal")
    const before = first.number("data.reprint")
    const count = async () => (await receipt(path)).number("data.reprint")
    assert.isAtLeast(await count(), before)
  })

  it("are there for completed and voided sales only", async () => {
    const till = await shop.till()
    const open = await shop.sale(till)
    await shop.refused("422 INVALID_TRANSITION", "GET", `${open.path}/receipt`)
    await shop.done("POST", `${open.path}/hold`, { label: "x" })
    await shop.refused("422 INVALID_TRANSITION", "GET", `${open.path}/receipt`)
    await shop.done("POST", `${open.path}/void`, { reason: "x" })
    assert.strictEqual((await receipt(open.path)).at("data.receiptNumber"), open.receiptNumber)
    await shop.refused("404 NOT_FOUND", "GET", `/transactions/${randomUUID()}/receipt`)
  })

  it("run nothing of what was typed into them", async () => {
    const one = await shop.sale(await shop.till(), 1_000, 2)
    const title = "<script>alert(1)</script>"
    await shop.core("PUT", `/catalog/entities/${one.entityId}/attributes/en`, { title })
    await shop.add(one.path, { entityId: one.entityId, seat: 1, notes: title })
    await shop.pay(one.path, 3_000)
    await shop.complete(one.path)
    const got = await shop.app.app.request("GET", `/api/pos${one.path}/receipt?format=html`, {
      as: testAdminActor
    })
    assert.include(String(got.body), "30.00")
    assert.include(String(got.body), "alert(1)")
    assert.notInclude(String(got.body), "<script>alert")
  })

  it("are HTML for a screen or bytes for a printer, which count as printed again", async () => {
    const { path, receiptNumber } = await shop.sold(await shop.till())
    const at = async (format: string) => {
      const got = await shop.app.app.request("GET", `/api/pos${path}/receipt?format=${format}`, {
        as: testAdminActor
      })
      assert.strictEqual(got.status, 200)
      return { type: got.headers.get("content-type") ?? "", text: String(got.body) }
    }
    const reprints = async () => (await receipt(path)).number("data.reprint")
    const html = await at("html")
    assert.include(html.type, "text/html")
    assert.include(html.text, receiptNumber)
    const before = await reprints()
    const printed = await at("escpos")
    assert.isTrue(printed.text.startsWith("\u001b@"))
    assert.include(printed.text, receiptNumber)
    await Promise.all([1, 2, 3, 4].map(() => at("escpos")))
    assert.strictEqual(await reprints(), before + 5)
    const wrong = await shop.ask("GET", `/pos${path}/receipt?format=pdf`)
    assert.strictEqual(wrong.status, 422)
  })

  it("are mailed to the address that is asked for", async () => {
    const { path, receiptNumber } = await shop.sold(await shop.till(), 1_000, 2)
    const sent = await shop.done("POST", `${path}/receipt/email`, { email: "ada@example.com" })
    assert.deepStrictEqual([sent.status, sent.body], [201, { data: { sent: true } }])
    await waitFor("the mail with the receipt", () => shop.mails.length > 0)
    const mail = shop.mails.find(({ to }) => to === "ada@example.com")
    assert.include(JSON.stringify(mail), receiptNumber)
    for (const email of ["no address", "", undefined]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", `${path}/receipt/email`, { email })
    }
    const open = await shop.sale(await shop.till())
    const early = await shop.ask("POST", `/pos${open.path}/receipt/email`, { email: "ada@example.com" })
    assert.strictEqual(early.status, 422)
    await shop.refused("404 NOT_FOUND", "POST", `/transactions/${randomUUID()}/receipt/email`, {
      email: "a@example.com"
    })
  })

  it("are numbered per terminal without gaps, those of voided sales too", async () => {
    const [one, another] = [await shop.till(), await shop.till()]
    const numbers = [
      (await shop.sale(one)).receiptNumber,
      ...(await Promise.all(Array.from({ length: 6 }, () => shop.start(one)))).map((sale) => sale.receiptNumber),
      (await shop.sold(one)).receiptNumber
    ]
    const { started } = await shop.start(one)
    const day = started.text("data.businessDate").replaceAll("-", "")
    const expected = Array.from({ length: 8 }, (_, index) => `${one.code}-${day}-000${index + 1}`)
    assert.deepStrictEqual(numbers.toSorted(), expected)
    await shop.done("POST", `/transactions/${started.text("data.id")}/void`, { reason: "x" })
    // A refused start takes no number.
    await shop.ask("POST", "/pos/transactions", { shiftId: one.shiftId, terminalId: one.terminalId, currency: "?" })
    assert.strictEqual((await shop.start(one)).receiptNumber, `${one.code}-${day}-0010`)
    assert.strictEqual((await shop.start(another)).receiptNumber, `${another.code}-${day}-0001`)
  })

  it("with the client's id are one, however often and at which till the start is sent", async () => {
    const till = await shop.till()
    const clientId = randomUUID()
    const body = { shiftId: till.shiftId, terminalId: till.terminalId, clientId }
    const send = () => shop.ask("POST", "/pos/transactions", body)
    const answers = await Promise.all(Array.from({ length: 4 }, send))
    assert.deepStrictEqual(answers.map(({ status }) => status), [201, 201, 201, 201])
    const other = await shop.till({}, 0, cashier)
    const elsewhere = await shop.start(other, { clientId }, cashier)
    assert.deepStrictEqual(new Set(answers.map((one) => one.at("data.id"))), new Set([elsewhere.id]))
    assert.strictEqual((await shop.read(`/transactions?shiftId=${till.shiftId}`)).at("meta.pagination.total"), 1)
  })
})
