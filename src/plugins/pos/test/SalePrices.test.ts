import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.3 and A.5: promotions, customers, taxes, and prices that change. */
describe("the price of a sale at a till", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills()
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const promotion = async (body: object = {}) => {
    const code = `P${randomUUID().slice(0, 8).toUpperCase()}`
    await shop.core("POST", "/promotions", { name: code, code, type: "percentage_off_order", value: 10, ...body })
    return code
  }
  const price = (entityId: string, amount: number, body: object = {}) =>
    shop.core("POST", "/pricing/prices", { entityId, currency: "USD", amount, ...body })

  it("is paid by a single-purpose gift card, whose goods were taxed before, and by no more than it needs", async () => {
    await shop.core("POST", "/tax/rates", { name: "VAT", country: "AT", rateBps: 1_000 })
    const address = { line1: "Gasse 1", city: "Wien", postalCode: "1010", country: "AT" }
    const taxed = await shop.till({ address })
    const card = await shop.giftCard(9_000, { singlePurpose: true })
    const payBy = (path: string, amount: number) =>
      shop.pay(path, amount, { method: "gift_card", reference: card.code })
    const whole = await shop.sale(taxed, 1_000)
    assert.strictEqual((await shop.read(whole.path)).at("data.amountDue"), 1_100)
    assert.deepStrictEqual(picked(await payBy(whole.path, 1_100), "amount", "amountDue"), [1_000, 0])
    // What cash paid for is taxed: 500 + 545 + 1 = 1000 + 46. With 546 from the card the tax would be 45.
    const mixed = await shop.sale(taxed, 1_000)
    await shop.pay(mixed.path, 500)
    assert.deepStrictEqual(picked(await payBy(mixed.path, 600), "amount", "amountDue"), [545, 1])
    await shop.pay(mixed.path, 1)
    // Of goods without a tax it pays all.
    const plain = await shop.sale(till, 1_000)
    assert.deepStrictEqual(picked(await payBy(plain.path, 1_000), "amount", "amountDue"), [1_000, 0])
    for (const { path } of [whole, mixed, plain]) await shop.complete(path)
    assert.strictEqual(await card.balance(), 9_000 - 1_000 - 545 - 1_000)
  })

  it("falls by a code, which the order counts as used", async () => {
    const code = await promotion({ usageLimitTotal: 1 })
    const { path } = await shop.sale(till, 1_000, 2)
    const given = await shop.done("POST", `${path}/codes`, { code: code.toLowerCase() })
    assert.deepStrictEqual([given.status, ...picked(given, "discountTotal", "total", "amountDue")], [
      201,
      200,
      1_800,
      1_800
    ])
    assert.deepStrictEqual(given.list("data.codes").map((one) => String(one).toUpperCase()), [code])
    const without = await shop.done("DELETE", `${path}/codes/${code}`)
    assert.deepStrictEqual(picked(without, "discountTotal", "total", "codes"), [0, 2_000, []])
    await shop.refused("404 NOT_FOUND", "DELETE", `${path}/codes/${code}`)
    await shop.done("POST", `${path}/codes`, { code })
    await shop.pay(path, 1_800)
    const done = await shop.complete(path)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.deepStrictEqual(picked(order, "discountTotal", "grandTotal"), [200, 1_800])
  })

  it("does not fall by codes that do not apply, which are refused", async () => {
    const code = await promotion({ usageLimitTotal: 1 })
    const [used, second] = [await shop.sale(till), await shop.sale(till)]
    await shop.refused("404 NOT_FOUND", "POST", `/transactions/${randomUUID()}/codes`, { code })
    await shop.done("POST", `${used.path}/codes`, { code })
    await shop.pay(used.path, 900)
    await shop.complete(used.path)
    const dear = await promotion({ conditions: { minimumOrderValue: 99_999 } })
    const passed: Array<unknown> = []
    for (const one of ["NO-SUCH-CODE", code, dear]) {
      const got = await shop.ask("POST", `/pos${second.path}/codes`, { code: one })
      if (got.status !== 422) passed.push([one, got.status, got.at("data.codes"), got.at("data.discountTotal")])
    }
    assert.deepStrictEqual(passed, [])
  })

  it("is that of the customer, once they are named", async () => {
    const group = (await shop.core("POST", "/customers/groups", { name: "Members" })).text("data.id")
    const customerId = await shop.customer()
    await shop.core("POST", `/customers/groups/${group}/members/${customerId}`, {})
    const { entityId, path } = await shop.sale(till, 1_000)
    await price(entityId, 700, { customerGroupId: group })
    const named = await shop.done("POST", `${path}/customer`, { customerId })
    assert.deepStrictEqual([named.status, ...picked(named, "customerId", "total")], [201, customerId, 700])
    await shop.pay(path, 700)
    const done = await shop.complete(path)
    assert.strictEqual(done.at("data.checkoutRequest.customerId"), customerId)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.strictEqual(order.at("data.customerId"), customerId)
    const orders = await shop.core("GET", `/customers/${customerId}/orders`)
    assert.strictEqual(orders.at("data.0.id"), order.at("data.id"))
    const open = await shop.sale(till)
    assert.include(
      [404, 422],
      (await shop.ask("POST", `/pos${open.path}/customer`, { customerId: randomUUID() })).status
    )
    const from = await shop.start(till, { customerId })
    assert.strictEqual(from.started.at("data.customerId"), customerId)
    const added = await shop.add(from.path, { entityId })
    assert.strictEqual(added.at("data.totalPrice"), 700)
  })

  it("has the tax of where the terminal stands", async () => {
    const address = (country: "CH" | "JP") => ({
      line1: "1 Main St",
      city: "Town",
      postalCode: country === "CH" ? "1000" : "100-0001",
      country
    })
    await shop.core("POST", "/tax/rates", { name: "VAT", country: "CH", rateBps: 1_000 })
    const swiss = await shop.till({ address: address("CH") })
    const { path } = await shop.sale(swiss, 1_000, 2)
    assert.deepStrictEqual(picked(await shop.read(path), "subtotal", "taxTotal", "total"), [2_000, 200, 2_200])
    await shop.pay(path, 2_200)
    const done = await shop.complete(path)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.deepStrictEqual(picked(order, "taxTotal", "shippingTotal", "grandTotal"), [200, 0, 2_200])
    const report = await shop.read(`/shifts/${swiss.shiftId}/report`)
    assert.deepStrictEqual(report.at("data.taxByRate"), [{ rateBps: 1_000, net: 2_000, tax: 200 }])
    const receipt = await shop.read(`${path}/receipt`)
    assert.deepStrictEqual(receipt.at("data.taxByRate"), [{ rateBps: 1_000, net: 2_000, tax: 200 }])

    const abroad = await shop.sale(await shop.till({ address: address("JP") }), 1_000)
    assert.strictEqual((await shop.read(abroad.path)).at("data.taxTotal"), 0)
  })

  it("has the tax of the terminal's warehouse, where the terminal has no address", async () => {
    const address = { line1: "1 Main St", city: "Bern", postalCode: "1000", country: "CH" }
    const house = { name: "Bern", code: "BERN", address }
    const warehouseId = (await shop.core("POST", "/inventory/warehouses", house)).text("data.id")
    const bern = await shop.sale(await shop.till({ warehouseId }), 1_000)
    assert.strictEqual((await shop.read(bern.path)).at("data.taxTotal"), 100)
  })

  it("is looked at again when the sale completes: PRICE_CHANGED, and it stays open at the new one", async () => {
    const { entityId, id, path } = await shop.sale(till, 1_000, 2)
    await shop.pay(path, 2_000)
    await price(entityId, 1_200)
    const changed = await shop.refused("409 PRICE_CHANGED", "POST", `${path}/complete`)
    assert.deepInclude(changed.at("error.details"), { total: 2_400, previousTotal: 2_000 })
    assert.deepStrictEqual(picked(await shop.read(path), "status", "total", "amountDue"), ["open", 2_400, 400])
    assert.deepStrictEqual(await shop.stock(entityId), { onHand: 100, reserved: 0 })
    const missing = await shop.refused("422 VALIDATION_FAILED", "POST", `${path}/complete`)
    assert.match(missing.text("error.message"), /400|4\.00/)
    await shop.pay(path, 400)
    const done = await shop.complete(path)
    assert.deepStrictEqual(picked(done, "transaction.id", "transaction.status", "transaction.total"), [
      id,
      "completed",
      2_400
    ])
  })

  it("of the staff does not change with the catalog's", async () => {
    const entityId = await shop.product({ price: 1_000 })
    const { path } = await shop.start(till)
    await shop.add(path, { entityId, unitPrice: 800 })
    await price(entityId, 1_200)
    await shop.pay(path, 800)
    assert.strictEqual((await shop.complete(path)).at("data.transaction.total"), 800)
  })

  it("that fell below what was paid has changed too, and the sale is not lost", async () => {
    const { entityId, path } = await shop.sale(till, 1_000)
    const paid = await shop.pay(path, 1_000)
    await price(entityId, 900)
    await shop.refused("409 PRICE_CHANGED", "POST", `${path}/complete`)
    assert.strictEqual((await shop.ask("POST", `/pos${path}/complete`)).status, 422)
    await shop.done("DELETE", `${path}/payments/${paid.text("data.id")}`)
    await shop.pay(path, 900)
    assert.strictEqual((await shop.complete(path)).at("data.transaction.total"), 900)
  })

  it("without one in the currency of the sale is refused", async () => {
    const entityId = await shop.product({ price: 1_000 })
    const { path } = await shop.start(till, { currency: "EUR" })
    const got = await shop.ask("POST", `/pos${path}/items`, { entityId })
    assert.strictEqual(got.status, 422, JSON.stringify(got.body))
    assert.deepStrictEqual((await shop.read(path)).at("data.items"), [])
  })
})
