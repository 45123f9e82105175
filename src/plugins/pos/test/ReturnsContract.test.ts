import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { cashier, manager, openTills, outsider, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.7. */
describe("goods that come back to a till", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills()
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const at = () => ({ shiftId: till.shiftId, terminalId: till.terminalId })
  const bodyOf = (sold: { readonly orderId: string; readonly lineId: string }, item: object = {}, payment = {}) => ({
    ...at(),
    originalOrderId: sold.orderId,
    items: [{ originalLineItemId: sold.lineId, quantity: 1, reason: "changed_mind", ...item }],
    payment: { method: "cash", ...payment }
  })
  const give = (sold: Parameters<typeof bodyOf>[0], item?: object, payment?: object) =>
    shop.done("POST", "/returns", bodyOf(sold, item, payment))
  const refuse = (expected: string, body: object, as?: typeof cashier) =>
    shop.refused(expected, "POST", "/returns", body, as)

  it("are a return with a refund given outside, stock and counters", async () => {
    const own = await shop.till()
    const sold = await shop.sold(own, 1_000, 3)
    const body = { ...bodyOf(sold, { quantity: 2 }), shiftId: own.shiftId, terminalId: own.terminalId }
    const got = await shop.done("POST", "/returns", body)
    assert.deepStrictEqual([got.status, ...picked(got, "refundTotal", "transaction.type", "transaction.status")], [
      201,
      2_000,
      "return",
      "completed"
    ])
    assert.deepInclude(got.at("data.returnItems.0"), {
      originalOrderId: sold.orderId,
      originalLineItemId: sold.lineId,
      quantity: 2,
      reason: "changed_mind",
      restockingFee: 0,
      refundAmount: 2_000
    })
    assert.deepInclude(got.at("data.payment"), { method: "cash", amount: 2_000 })
    assert.isString(got.at("data.transaction.refundId"))
    const order = await shop.core("GET", `/orders/${sold.orderId}`)
    assert.strictEqual(order.at("data.refundedTotal"), 2_000)
    assert.deepStrictEqual(await shop.stock(sold.entityId), { onHand: 99, reserved: 0 })
    const report = await shop.read(`/shifts/${own.shiftId}/report`)
    assert.deepStrictEqual(
      picked(report, "salesCount", "salesTotal", "refundsCount", "refundsTotal", "cash.refunds", "cash.expected"),
      [1, 3_000, 1, 2_000, 2_000, 11_000]
    )
    const methods = report.list("data.methods").map((one) => JSON.stringify(one))
    assert.include(methods, JSON.stringify({ method: "cash", type: "refund", total: 2_000, count: 1 }))
    assert.match(got.text("data.transaction.receiptNumber"), new RegExp(`^${own.code}-\\d{8}-0002$`))
    const receipt = await shop.read(`/transactions/${got.text("data.transaction.id")}/receipt`)
    assert.strictEqual(receipt.at("data.type"), "return")
  })

  it("are worth what was paid for them, less the fee, of which no line is worth less", async () => {
    const sold = await shop.sold(till, 1_000, 2)
    const got = await give(sold, { restockingFee: 150 })
    assert.deepStrictEqual(picked(got, "refundTotal", "returnItems.0.restockingFee"), [850, 150])
    await refuse("422 VALIDATION_FAILED", bodyOf(sold, { restockingFee: 1_001 }))
    await refuse("422 VALIDATION_FAILED", bodyOf(sold, {}, { amount: 999 }))
    const two = await shop.start(till)
    for (const entityId of [sold.entityId, await shop.product()]) await shop.add(two.path, { entityId })
    await shop.pay(two.path, 2_000)
    const originalOrderId = (await shop.complete(two.path)).text("data.transaction.orderId")
    const both = await shop.core("GET", `/orders/${originalOrderId}`)
    const items = [1_001, 0].map((restockingFee, n) => ({
      originalLineItemId: both.text(`data.lineItems.${n}.id`),
      quantity: 1,
      reason: "other",
      restockingFee
    }))
    const tooHigh = await refuse("422 VALIDATION_FAILED", { ...bodyOf(sold), originalOrderId, items })
    assert.include(tooHigh.text("error.message"), "items.0.restockingFee must be at most 1000")
    const exact = await give(sold, {}, { amount: 1_000 })
    assert.strictEqual(exact.at("data.payment.amount"), 1_000)
    const discounted = await shop.start(till)
    await shop.add(discounted.path, { entityId: sold.entityId, quantity: 3, discountAmount: 100, reason: "x" })
    await shop.pay(discounted.path, 2_900)
    const orderId = (await shop.complete(discounted.path)).text("data.transaction.orderId")
    const lineId = (await shop.core("GET", `/orders/${orderId}`)).text("data.lineItems.0.id")
    const parts = [await give({ orderId, lineId }), await give({ orderId, lineId }), await give({ orderId, lineId })]
    assert.strictEqual(parts.reduce((sum, one) => sum + one.number("data.refundTotal"), 0), 2_900)
  })

  it("go back to where they left, unless they are defective or the till says otherwise", async () => {
    const onHand = async (item: object) => {
      const sold = await shop.sold(till)
      const isBack = (await give(sold, item)).at("data.returnItems.0.restock")
      const { onHand } = await shop.stock(sold.entityId)
      assert.strictEqual(isBack, onHand === 100)
      return onHand
    }
    assert.strictEqual(await onHand({ reason: "wrong_item" }), 100)
    assert.strictEqual(await onHand({ reason: "other" }), 100)
    assert.strictEqual(await onHand({ reason: "defective" }), 99)
    assert.strictEqual(await onHand({ reason: "defective", restock: true }), 100)
    assert.strictEqual(await onHand({ reason: "changed_mind", restock: false }), 99)
  })

  it("are paid back by the order's own payments with `original`: a gift card is full again", async () => {
    const card = await shop.giftCard(1_000)
    const sold = await shop.sold(till, 1_000, 1, { payment: { method: "gift_card", reference: card.code } })
    assert.strictEqual(await card.balance(), 0)
    const before = await shop.read(`/shifts/${till.shiftId}/report`)
    const got = await give(sold, {}, { method: "original" })
    assert.strictEqual(got.at("data.refundTotal"), 1_000)
    assert.strictEqual(await card.balance(), 1_000)
    const after = await shop.read(`/shifts/${till.shiftId}/report`)
    assert.strictEqual(after.at("data.cash.expected"), before.at("data.cash.expected"))
  })

  it("are found by the number of the receipt, paid back in rounded cash, and refunded exactly", async () => {
    const own = await shop.till({ cashRounding: 5 })
    const sold = await shop.sale(own, 998)
    await shop.pay(sold.path, 1_000)
    const orderId = (await shop.complete(sold.path)).text("data.transaction.orderId")
    const lineId = (await shop.core("GET", `/orders/${orderId}`)).text("data.lineItems.0.id")
    const { shiftId, terminalId } = own
    const found = () => shop.read(`/lookup/order/${sold.receiptNumber}`)
    const paths = ["orderId", "lines.0.originalLineItemId", "lines.0.returnable", "lines.0.totalPrice"]
    assert.deepStrictEqual(picked(await found(), ...paths), [orderId, lineId, 1, 998])
    const got = await shop.done("POST", "/returns", { ...bodyOf({ orderId, lineId }), shiftId, terminalId })
    assert.deepStrictEqual(picked(got, "refundTotal", "payment.amount", "payment.rounding"), [998, 1_000, 2])
    assert.strictEqual((await found()).at("data.lines.0.returnable"), 0)
    assert.strictEqual((await shop.core("GET", `/orders/${orderId}`)).at("data.refundedTotal"), 998)
    const report = await shop.read(`/shifts/${shiftId}/report`)
    const said = JSON.stringify([got.at("data.payment"), report.at("data.cash"), report.at("data.rounding")])
    assert.strictEqual(report.at("data.cash.expected"), 10_000, said)
  })

  it("succeed twice of six at once for two units", async () => {
    const sold = await shop.sold(till, 1_000, 2)
    const counted = async () => (await shop.read(`/shifts/${till.shiftId}/report`)).number("data.refundsCount")
    const before = await counted()
    const send = () => shop.ask("POST", "/pos/returns", bodyOf(sold))
    const answers = await Promise.all(Array.from({ length: 6 }, send))
    const done = answers.filter(({ status }) => status === 201).length
    assert.strictEqual(done, 2, JSON.stringify(answers.map(({ status }) => status)))
    assert.strictEqual(await counted(), before + 2)
    assert.strictEqual((await shop.core("GET", `/orders/${sold.orderId}`)).at("data.refundedTotal"), 2_000)
    assert.strictEqual((await shop.stock(sold.entityId)).onHand, 100)
  })

  it("are refused beyond what was sold, and with what there is not", async () => {
    const sold = await shop.sold(till)
    const whole = bodyOf(sold)
    await refuse("422 VALIDATION_FAILED", bodyOf(sold, { quantity: 2 }))
    await refuse("422 VALIDATION_FAILED", bodyOf(sold, { reason: "boredom" }))
    await refuse("422 VALIDATION_FAILED", bodyOf(sold, { quantity: 0 }))
    await refuse("422 VALIDATION_FAILED", bodyOf(sold, { restockingFee: -1 }))
    await refuse("422 VALIDATION_FAILED", { ...whole, items: [] })
    await refuse("422 VALIDATION_FAILED", bodyOf(sold, {}, { method: "cheque" }))
    await refuse("404 NOT_FOUND", { ...whole, originalOrderId: randomUUID() })
    await refuse("404 NOT_FOUND", { ...whole, shiftId: randomUUID() })
    await refuse("404 NOT_FOUND", whole, outsider)
    const line = await shop.ask("POST", "/pos/returns", bodyOf({ ...sold, lineId: randomUUID() }))
    assert.include([404, 422], line.status)
    const closed = await shop.till()
    await shop.done("POST", `/shifts/${closed.shiftId}/close`, { closingCount: 10_000 })
    await refuse("409 CONFLICT", { ...whole, shiftId: closed.shiftId, terminalId: closed.terminalId })
    await give(sold)
    assert.include([409, 422], (await shop.ask("POST", "/pos/returns", whole)).status)
  })

  it("are taken by who holds pos:manage or with an approval", async () => {
    const sold = await shop.sold(till)
    const own = await shop.till({}, 0, cashier)
    const body = { ...bodyOf(sold), shiftId: own.shiftId, terminalId: own.terminalId }
    await refuse("403 OVERRIDE_REQUIRED", body, cashier)
    const { token } = await shop.override("return")
    const got = await shop.withToken(token, "POST", "/returns", body)
    assert.strictEqual(got.status, 201, JSON.stringify(got.body))
    const again = await shop.sold(till)
    const managed = await shop.till({}, 0, manager)
    const theirs = { ...bodyOf(again), shiftId: managed.shiftId, terminalId: managed.terminalId }
    assert.strictEqual((await shop.ask("POST", "/pos/returns", theirs, manager)).status, 201)
  })

  describe("for others", () => {
    const exchange = (sold: Parameters<typeof bodyOf>[0], replacement: object, more: object = {}) =>
      shop.done("POST", "/exchanges", {
        ...at(),
        originalOrderId: sold.orderId,
        returnItems: [{ originalLineItemId: sold.lineId, quantity: 1, reason: "wrong_item" }],
        replacementItems: [{ quantity: 1, ...replacement }],
        ...more
      })

    it("of the same price are done at once", async () => {
      const sold = await shop.sold(till)
      const entityId = await shop.product()
      const got = await exchange(sold, { entityId })
      assert.deepStrictEqual([got.status, ...picked(got, "returnTotal", "replacementTotal", "netDelta")], [
        201,
        1_000,
        1_000,
        0
      ])
      assert.deepStrictEqual(picked(got, "transaction.type", "transaction.status"), ["exchange", "completed"])
      const order = await shop.core("GET", `/orders/${got.text("data.replacementOrderId")}`)
      assert.deepStrictEqual(picked(order, "status", "grandTotal", "amountDue"), ["fulfilled", 1_000, 0])
      assert.include(JSON.stringify(order.at("data.tenders")), "exchange")
      const counts = [await shop.stock(sold.entityId), await shop.stock(entityId)].map(({ onHand }) => onHand)
      assert.deepStrictEqual(counts, [100, 99])
      assert.strictEqual((await shop.core("GET", `/orders/${sold.orderId}`)).at("data.refundedTotal"), 1_000)
    })

    it("that cost more are ordered once the rest is paid", async () => {
      const sold = await shop.sold(till)
      const entityId = await shop.product({ price: 1_500 })
      const got = await exchange(sold, { entityId })
      assert.deepStrictEqual(picked(got, "netDelta", "replacementOrderId", "transaction.status"), [500, null, "open"])
      assert.strictEqual((await shop.stock(entityId)).onHand, 100)
      const path = `/transactions/${got.text("data.transaction.id")}`
      assert.strictEqual((await shop.read(path)).at("data.amountDue"), 500)
      assert.strictEqual((await shop.core("GET", `/orders/${sold.orderId}`)).at("data.refundedTotal"), 0)
      await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/items`, { entityId })
      assert.strictEqual((await shop.ask("POST", `/pos${path}/complete`)).status, 422)
      await shop.pay(path, 500)
      const done = await shop.complete(path)
      const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
      assert.deepStrictEqual(picked(order, "grandTotal", "amountDue", "status"), [1_500, 0, "fulfilled"])
      const tenders = ["tenders.0.method", "tenders.0.captured", "tenders.1.method", "tenders.1.captured"]
      assert.deepStrictEqual(picked(order, ...tenders), ["pos-exchange", 1_000, "pos-cash", 500])
      assert.strictEqual((await shop.core("GET", `/orders/${sold.orderId}`)).at("data.refundedTotal"), 1_000)
      assert.strictEqual((await shop.stock(entityId)).onHand, 99)
    })

    it("that cost less give the rest back", async () => {
      const own = await shop.till()
      const sold = await shop.sold(own, 1_000)
      const entityId = await shop.product({ price: 400 })
      const { shiftId, terminalId } = own
      const got = await exchange(sold, { entityId }, { shiftId, terminalId, payment: { method: "cash" } })
      assert.deepStrictEqual(picked(got, "netDelta", "transaction.status"), [-600, "completed"])
      const report = await shop.read(`/shifts/${shiftId}/report`)
      assert.strictEqual(report.at("data.cash.expected"), 10_400)
      assert.isAtLeast((await shop.ask("POST", "/pos/returns", bodyOf(sold))).status, 400)
    })

    it("have the price that a manager gives them", async () => {
      const sold = await shop.sold(till)
      const entityId = await shop.product({ price: 1_500 })
      const got = await exchange(sold, { entityId, unitPrice: 1_000 })
      assert.deepStrictEqual(picked(got, "replacementTotal", "netDelta"), [1_000, 0])
    })

    it("have the store's price and not the one that a cashier sends", async () => {
      const own = await shop.till({}, 0, cashier)
      const sold = await shop.sold(till)
      const entityId = await shop.product({ price: 1_000 })
      const { token } = await shop.override("exchange")
      const body = {
        shiftId: own.shiftId,
        terminalId: own.terminalId,
        originalOrderId: sold.orderId,
        returnItems: [{ originalLineItemId: sold.lineId, quantity: 1, reason: "wrong_item" }],
        replacementItems: [{ entityId, title: "Cheap", quantity: 1, unitPrice: 1, taxAmount: 999 }]
      }
      await shop.refused("403 OVERRIDE_REQUIRED", "POST", "/exchanges", body, cashier)
      const got = await shop.withToken(token, "POST", "/exchanges", body)
      assert.deepStrictEqual([got.status, ...picked(got, "replacementTotal", "netDelta")], [201, 1_000, 0])
      await shop.refused("404 NOT_FOUND", "POST", "/exchanges", { ...body, originalOrderId: randomUUID() })
    })
  })
})
