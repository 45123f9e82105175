import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { manager, openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.7. */
describe("goods that come back without an order", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills({ unlinkedReturns: true, giftCards: true, refundTo: "original" })
    await shop.core("POST", "/tax/rates", { name: "VAT", country: "CH", rateBps: 1_000 })
  })
  afterAll(() => shop.close())

  const address = { line1: "x", city: "Zurich", postalCode: "8001", country: "CH" }
  const bodyOf = (
    till: { readonly shiftId: string; readonly terminalId: string },
    item: object,
    payment: object = {}
  ) => ({
    shiftId: till.shiftId,
    terminalId: till.terminalId,
    items: [{ quantity: 2, unitPrice: 1_100, reason: "changed_mind", ...item }],
    payment: { method: "cash", ...payment }
  })

  it("give back what staff says: drawer, stock, report, receipt and fiscal record count them as a return", async () => {
    const till = await shop.till({ address, cashRounding: 5 })
    const entityId = await shop.product({ price: 900, stock: 5 })
    const { onHand } = await shop.stock(entityId)
    const body = bodyOf(till, { entityId, restockingFee: 98 })
    const made = await shop.underKey("unlinked", "POST", "/returns", body)
    assert.deepStrictEqual(
      picked(made, "refundTotal", "payment.amount", "payment.rounding", "transaction.type", "transaction.orderId"),
      [2_102, 2_100, -2, "return", null],
      JSON.stringify(made.body)
    )
    assert.strictEqual((await shop.underKey("unlinked", "POST", "/returns", body)).at("data.refundTotal"), 2_102)
    assert.strictEqual((await shop.stock(entityId)).onHand, onHand + 2)
    const report = await shop.read(`/shifts/${till.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "refundsCount", "refundsTotal", "salesCount", "cash.expected", "taxByRate"), [
      1,
      2_102,
      0,
      7_900,
      [{ rateBps: 1_000, net: -2_000, tax: -200 }]
    ])
    const id = made.text("data.transaction.id")
    const receipt = await shop.read(`/transactions/${id}/receipt`)
    assert.deepInclude(receipt.at("data.lineItems.0"), { quantity: 2, unitPrice: 1_100, totalPrice: 2_200 })
    const records = await shop.app.db.query("select payload from pos_fiscal_records where transaction_id = $1", [id])
    assert.deepInclude(records[0]?.["payload"], { type: "return", total: 2_102, orderId: null })
    await shop.done("POST", `/shifts/${till.shiftId}/close`, { closingCount: 7_900 })
    const closing = await shop.done("POST", "/closings", { terminalId: till.terminalId })
    assert.deepStrictEqual(picked(closing, "totals.refundsTotal", "totals.cash.expected"), [2_102, 7_900])
  })

  it("stay out of stock when they are defective or not counted, and are paid by a gift card too", async () => {
    const till = await shop.till()
    const [broken, made] = [await shop.product({ stock: 5 }), await shop.product()]
    await shop.core("PATCH", `/catalog/entities/${made}`, { manageInventory: false })
    const { onHand } = await shop.stock(broken)
    const [first] = bodyOf(till, { entityId: broken, reason: "defective" }).items
    const [second] = bodyOf(till, { entityId: made }).items
    const body = { ...bodyOf(till, {}, { method: "gift_card", amount: 4_400 }), items: [first, second] }
    const got = await shop.done("POST", "/returns", body)
    assert.strictEqual((await shop.stock(broken)).onHand, onHand)
    const card = await shop.core("GET", `/gift-cards/${got.text("data.giftCard.id")}`)
    assert.deepStrictEqual(picked(card, "balance", "sourceOrderId"), [4_400, null])
  })

  it("need pos:admin or an override, which is used once", async () => {
    const entityId = await shop.product({ stock: 5 })
    const body = bodyOf(await shop.till({}, 0, manager), { entityId })
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", "/returns", body, manager)
    const { operatorId, token } = await shop.override("return")
    const got = await shop.withToken(token, "POST", "/returns", body, manager)
    assert.strictEqual(got.at("data.transaction.overrideBy"), operatorId)
    assert.strictEqual((await shop.withToken(token, "POST", "/returns", body, manager)).status, 403)
  })

  it("are named by goods and price, and by a line only with an order", async () => {
    const till = await shop.till()
    const entityId = await shop.product()
    const sold = await shop.sold(till)
    const originalOrderId = sold.orderId
    const wrongs = [
      bodyOf(till, {}),
      bodyOf(till, { entityId, unitPrice: undefined }),
      bodyOf(till, { entityId, originalLineItemId: sold.lineId }),
      bodyOf(till, { entityId, restockingFee: 2_201 }),
      bodyOf(till, { entityId }, { method: "original" }),
      bodyOf(till, { entityId }, { amount: 2_199 }),
      { ...bodyOf(till, { entityId }), originalOrderId },
      { ...bodyOf(till, { entityId, originalLineItemId: sold.lineId }), originalOrderId }
    ]
    for (const wrong of wrongs) await shop.refused("422 VALIDATION_FAILED", "POST", "/returns", wrong)
  })

  it("are refused unless the store takes them", async () => {
    const other = await openTills()
    const till = await other.till()
    const body = bodyOf(till, { entityId: await other.product() })
    const refused = await other.refused("422 VALIDATION_FAILED", "POST", "/returns", body)
    assert.include(refused.text("error.message"), "unlinkedReturns")
    await other.close()
  })
})
