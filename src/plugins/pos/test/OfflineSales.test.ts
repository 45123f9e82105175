import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { type Answer } from "../../../../test/support/TestApp.ts"
import { cashier, openTills, outsider, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.9. */
describe("sales that a till sends later", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  let entityId: string
  beforeAll(async () => {
    shop = await openTills()
    till = await shop.till()
    entityId = await shop.product({ price: 1_000, stock: 1_000 })
  })
  afterAll(() => shop.close())

  const saleOf = (body: object = {}) => ({
    id: randomUUID(),
    shiftId: till.shiftId,
    at: new Date(shop.app.clock.now()).toISOString(),
    items: [{ entityId, quantity: 1 }],
    payments: [{ method: "cash", amount: 1_000 }],
    ...body
  })
  const send = (...sales: ReadonlyArray<object>) => shop.done("POST", "/sync", { sales })
  const states = (answer: Answer) => answer.list("data").map((one) => Reflect.get(Object(one), "status"))

  it("are answered in their order, and a refused one stops no other", async () => {
    const [good, unpaid, other] = [saleOf(), saleOf({ payments: [{ method: "cash", amount: 1 }] }), saleOf()]
    const got = await send(good, unpaid, other)
    assert.strictEqual(got.status, 201)
    assert.deepStrictEqual(states(got), ["ok", "refused", "ok"])
    assert.deepStrictEqual(picked(got, "0.id", "1.id", "2.id"), [good.id, unpaid.id, other.id])
    assert.isString(got.at("data.1.error.code") ?? got.at("data.1.error"))
    assert.deepInclude(got.at("data.0.transaction"), { status: "completed", total: 1_000, clientId: good.id })
    const order = await shop.core("GET", `/orders/${got.text("data.0.transaction.orderId")}`)
    assert.deepStrictEqual(picked(order, "status", "grandTotal", "amountDue"), ["fulfilled", 1_000, 0])
  })

  it("may come with the key of development, which is no device's", async () => {
    const { body, status } = await shop.app.app.request("POST", "/api/pos/sync", {
      headers: { "x-api-key": "dev-admin-key" },
      body: { sales: [saleOf()] }
    })
    assert.strictEqual(status, 201, JSON.stringify(body))
  })

  it("are one however often they come, and equal ids of one body are one", async () => {
    const sale = saleOf()
    const before = await shop.stock(entityId)
    const all = [...await Promise.all([send(sale, sale), send(sale), send(sale)]), await send(sale)]
    assert.deepStrictEqual(all.flatMap(states), ["ok", "ok", "ok", "ok", "ok"])
    const [id] = picked(all[0] ?? assert.fail(), "1.transaction.id")
    for (const one of all) assert.strictEqual(one.at("data.0.transaction.id"), id)
    assert.strictEqual((await shop.stock(entityId)).onHand, before.onHand - 1)
    const changed = await send({
      ...sale,
      items: [{ entityId, quantity: 2 }],
      payments: [{ method: "cash", amount: 2_000 }]
    })
    assert.deepStrictEqual([states(changed), changed.at("data.0.error.code")], [["refused"], "CONFLICT"])
  })

  it("have the price that was paid, with staff's discounts, else the one of now", async () => {
    const got = await send(
      saleOf({
        items: [{ entityId, quantity: 2, unitPrice: 450, discountAmount: 50, notes: "old price", metadata: { a: 1 } }],
        payments: [{ method: "cash", amount: 1_000, changeGiven: 150 }]
      }),
      saleOf({ items: [{ entityId, quantity: 2 }], payments: [{ method: "card", amount: 2_000, reference: "SLIP" }] })
    )
    assert.deepStrictEqual(states(got), ["ok", "ok"], JSON.stringify(got.body))
    assert.deepStrictEqual(picked(got, "0.transaction.total", "1.transaction.total"), [850, 2_000])
  })

  it("are paid in cash, by an external card or otherwise, and by nothing that has to be asked", async () => {
    const card = await shop.giftCard(1_000)
    const got = await send(
      saleOf({ payments: [{ method: "other", amount: 1_000, reference: "voucher" }] }),
      saleOf({ payments: [{ method: "gift_card", amount: 1_000, reference: card.code }] }),
      saleOf({ payments: [{ method: "store_credit", amount: 1_000, reference: card.code }] })
    )
    assert.deepStrictEqual(states(got), ["ok", "refused", "refused"])
    assert.deepStrictEqual(picked(got, "1.error.code", "2.error.code"), ["OFFLINE_PAYMENT", "OFFLINE_PAYMENT"])
    assert.strictEqual(await card.balance(), 1_000)
  })

  it("may sell below zero, which the order says", async () => {
    const scarce = await shop.product({ price: 1_000, stock: 1 })
    const items = [{ entityId: scarce, quantity: 3 }]
    const got = await send(saleOf({ items, payments: [{ method: "cash", amount: 3_000 }] }))
    const order = await shop.core("GET", `/orders/${got.text("data.0.transaction.orderId")}`)
    assert.strictEqual(order.at("data.metadata.oversold"), true)
    assert.strictEqual((await shop.stock(scarce)).onHand, -2)
  })

  it("were voided if they say why", async () => {
    const before = await shop.stock(entityId)
    const got = await send(saleOf({ voidReason: "changed their mind" }))
    assert.deepInclude(got.at("data.0.transaction"), {
      status: "voided",
      voidReason: "changed their mind",
      orderId: null
    })
    assert.deepStrictEqual(await shop.stock(entityId), before)
    assert.strictEqual((await shop.read(`/shifts/${till.shiftId}`)).at("data.voidsCount"), 1)
  })

  it("bring a number of the offline series, or take the next", async () => {
    const day = new Date(shop.app.clock.now()).toISOString().slice(0, 10).replaceAll("-", "")
    const receiptNumber = `${till.code}-${day}-F0001`
    const elsewhere = saleOf({ receiptNumber: `T999-${day}-F0001` })
    const got = await send(saleOf({ receiptNumber }), saleOf(), saleOf({ receiptNumber }), elsewhere)
    assert.strictEqual(got.at("data.0.transaction.receiptNumber"), receiptNumber)
    assert.match(got.text("data.1.transaction.receiptNumber"), new RegExp(`^${till.code}-${day}-\\d{4}$`))
    assert.deepStrictEqual(states(got), ["ok", "ok", "refused", "refused"])
    assert.deepStrictEqual(picked(got, "2.error.code", "3.error.code"), ["CONFLICT", "VALIDATION_FAILED"])
  })

  it("sent at once are numbered without gaps, and the shift counts each once", async () => {
    const own = await shop.till()
    const batch = Array.from({ length: 20 }, () => saleOf({ shiftId: own.shiftId }))
    await Promise.all([send(...batch), send(...batch.slice(5)), send(...batch)])
    const again = await send(...batch)
    const numbers = batch.map((_, n) => again.text(`data.${n}.transaction.receiptNumber`).slice(-4))
    assert.deepStrictEqual(numbers.toSorted(), batch.map((_, n) => String(n + 1).padStart(4, "0")))
    const report = await shop.read(`/shifts/${own.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "salesCount", "salesTotal", "cash.expected"), [20, 20_000, 30_000])
  })

  it("happened between the opening of their shift and now", async () => {
    const minutes = (by: number) => new Date(shop.app.clock.now() + by * 60_000).toISOString()
    const got = await shop.ask("POST", "/pos/sync", {
      sales: [saleOf({ at: minutes(4) }), saleOf({ at: minutes(10) }), saleOf({ at: minutes(-60 * 24 * 365) })]
    })
    assert.strictEqual(got.status, 201, JSON.stringify(got.body))
    assert.deepStrictEqual(states(got), ["ok", "refused", "refused"])
    const { at: first } = saleOf()
    const shown = await send(saleOf({ at: first }))
    assert.strictEqual(Date.parse(shown.text("data.0.transaction.completedAt")), Date.parse(first))
  })

  it("are those of their shift for two days after its end, as corrections", async () => {
    const own = await shop.till()
    const at = saleOf({ shiftId: own.shiftId }).at
    const close = () => shop.done("POST", "/closings", { terminalId: own.terminalId })
    await shop.done("POST", `/shifts/${own.shiftId}/close`, { closingCount: 10_000 })
    await close()
    const got = await send(saleOf({ shiftId: own.shiftId, at }))
    assert.deepStrictEqual(states(got), ["ok"], JSON.stringify(got.body))
    assert.deepInclude((await shop.read(`/shifts/${own.shiftId}`)).at("data"), {
      status: "closed",
      salesCount: 0,
      salesTotal: 0,
      lateCount: 1,
      lateTotal: 1_000,
      cashVariance: 0
    })
    assert.deepStrictEqual(picked(await close(), "number", "totals.salesTotal", "grandTotal"), [2, 1_000, 1_000])
    const later = saleOf({ shiftId: own.shiftId, at })
    shop.app.clock.advance("49 hours")
    assert.strictEqual((await send(later)).at("data.0.error.code"), "CONFLICT")
  })

  it("are refused whole when the body is none", async () => {
    const refuse = (body: object) => shop.refused("422 VALIDATION_FAILED", "POST", "/sync", body)
    await refuse({})
    await refuse({ sales: [] })
    await refuse({ sales: Array.from({ length: 101 }, () => saleOf()) })
    for (
      const wrong of [{ at: "yesterday" }, { items: [] }, { shiftId: "x" }, { id: "x".repeat(65) }, { id: "1234567" }]
    ) {
      const got = await shop.ask("POST", "/pos/sync", { sales: [saleOf(wrong)] })
      assert.isTrue(got.status === 422 || got.at("data.0.status") === "refused", JSON.stringify(wrong))
    }
    assert.deepStrictEqual(states(await send(saleOf({ id: randomUUID().slice(0, 8) }))), ["ok"])
  })

  it("of goods and shifts that there are not are refused", async () => {
    const got = await send(
      saleOf({ items: [{ entityId: randomUUID(), quantity: 1 }] }),
      saleOf({ shiftId: randomUUID() }),
      saleOf({ customerId: randomUUID() })
    )
    assert.deepStrictEqual(states(got), ["refused", "refused", "refused"])
    assert.strictEqual(got.at("data.1.error.code"), "NOT_FOUND")
    const elsewhere = await shop.done("POST", "/sync", { sales: [saleOf()] }, outsider)
    assert.deepStrictEqual(states(elsewhere), ["refused"])
    await shop.refused("403 FORBIDDEN", "POST", "/sync", { sales: [saleOf()] }, { ...cashier, permissions: [] })
  })
})
