import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { cashier, openTills, outsider, picked, type TillShop } from "./TillShop.ts"

/** Who may do what at whose till (contract-plugins §2.5 and 16 d), and money that is moved between bills and shifts. */
describe("a shop with several tills", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills()
  })
  afterAll(() => shop.close())

  const by = (as: typeof cashier, method: string, path: string, body?: object) =>
    shop.ask(method, `/pos${path}`, body, as)

  it("does not mix organizations in a body", async () => {
    const [till, customerId] = [await shop.till(), await shop.customer()]
    const theirs = await shop.done("POST", "/terminals", { name: "X", code: "X" }, outsider)
    const terminalId = theirs.text("data.id")
    const shift = await shop.done("POST", "/shifts/open", { terminalId, openingFloat: 0 }, outsider)
    const shiftId = shift.text("data.id")
    const refuse = async (path: string, body: object, as = outsider) => {
      const got = await by(as, "POST", path, body)
      assert.include([404, 422], got.status, `${path} ${JSON.stringify(body)}`)
    }
    const sale = await shop.done("POST", "/transactions", { shiftId, terminalId }, outsider)
    const path = `/transactions/${sale.text("data.id")}`
    const ours = await shop.sold(till)
    await refuse("/transactions", { shiftId: till.shiftId, terminalId })
    await refuse("/transactions", { shiftId, terminalId, customerId })
    await refuse(`${path}/items`, { entityId: ours.entityId })
    await refuse(`${path}/customer`, { customerId })
    await refuse(`${path}/merge`, { from: ours.id })
    await refuse("/terminals", { name: "Y", code: "Y", warehouseId: till.warehouseId })
    await refuse("/returns", {
      shiftId,
      terminalId,
      originalOrderId: ours.orderId,
      items: [{ originalLineItemId: ours.lineId, quantity: 1, reason: "other" }],
      payment: { method: "cash" }
    })
    const held = await shop.sale(till)
    await shop.done("POST", `${held.path}/hold`, { label: "x" })
    await refuse(`${held.path}/recall`, { shiftId })
    await refuse(`${held.path}/recall`, { shiftId }, { ...cashier, userId: "test-admin-1" })
    const filtered = await shop.done("GET", `/transactions?shiftId=${till.shiftId}`, undefined, outsider)
    assert.deepStrictEqual(filtered.at("data"), [])
    const filteredBy = await shop.done("GET", `/transactions/held?terminalId=${till.terminalId}`, undefined, outsider)
    assert.deepStrictEqual(filteredBy.at("data"), [])
  })

  it("takes goods from the warehouse of each terminal, and from the first one without", async () => {
    const entityId = await shop.product({ stock: 5 })
    const body = { name: "Shop", code: `S${randomUUID().slice(0, 6)}`, priority: 99 }
    const warehouseId = (await shop.core("POST", "/inventory/warehouses", body)).text("data.id")
    await shop.core("POST", "/inventory/adjust", { entityId, warehouseId, type: "restock", quantity: 2 })
    const till = await shop.till({ warehouseId })
    const { path } = await shop.start(till)
    await shop.add(path, { entityId, quantity: 3 })
    await shop.pay(path, 3_000)
    // There are 7 in all, but 2 where this terminal stands.
    assert.strictEqual((await shop.ask("POST", `/pos${path}/complete`)).status, 422)
    const { path: second } = await shop.start(till)
    await shop.add(second, { entityId, quantity: 2 })
    await shop.pay(second, 2_000)
    const done = await shop.complete(second)
    const level = await shop.core("GET", `/inventory/levels?entityId=${entityId}&warehouseId=${warehouseId}`)
    assert.strictEqual(level.at("data.0.quantityOnHand"), 0)
    // What comes back goes where it left.
    const orderId = done.text("data.transaction.orderId")
    const lineId = (await shop.core("GET", `/orders/${orderId}`)).text("data.lineItems.0.id")
    const other = await shop.till()
    await shop.done("POST", "/returns", {
      shiftId: other.shiftId,
      terminalId: other.terminalId,
      originalOrderId: orderId,
      items: [{ originalLineItemId: lineId, quantity: 1, reason: "wrong_item" }],
      payment: { method: "cash" }
    })
    const after = await shop.core("GET", `/inventory/levels?entityId=${entityId}&warehouseId=${warehouseId}`)
    assert.strictEqual(after.at("data.0.quantityOnHand"), 1)
    const plain = await shop.done("POST", "/terminals", { name: "Plain", code: `P${randomUUID().slice(0, 6)}` })
    const terminalId = plain.text("data.id")
    const sold = await shop.sold({ terminalId, shiftId: await shop.shift(terminalId) })
    assert.strictEqual((await shop.stock(sold.entityId)).onHand, 99)
  })

  it("keeps counters right while many sell at one shift at once", async () => {
    const till = await shop.till()
    const entityId = await shop.product({ stock: 100 })
    const sell = async (quantity: number) => {
      const { path } = await shop.start(till)
      await shop.add(path, { entityId, quantity })
      await shop.pay(path, quantity * 1_000)
      return shop.complete(path)
    }
    const quantities = [1, 2, 3, 4, 5, 6, 7, 8]
    const done = await Promise.all(quantities.map(sell))
    assert.strictEqual(new Set(done.map((one) => one.at("data.transaction.receiptNumber"))).size, 8)
    const shift = await shop.read(`/shifts/${till.shiftId}`)
    assert.deepStrictEqual(picked(shift, "salesCount", "salesTotal"), [8, 36_000])
    assert.strictEqual((await shop.stock(entityId)).onHand, 64)
    const report = await shop.read(`/shifts/${till.shiftId}/report`)
    assert.strictEqual(report.at("data.cash.expected"), 46_000)
  })

  it("either closes a shift or completes its sale when both come at once", async () => {
    const till = await shop.till()
    const { path } = await shop.sale(till)
    await shop.pay(path, 1_000)
    const [done, closed] = await Promise.all([
      shop.ask("POST", `/pos${path}/complete`),
      shop.ask("POST", `/pos/shifts/${till.shiftId}/close`, { closingCount: 11_000 })
    ])
    assert.strictEqual(done.status, 201)
    assert.include([201, 409], closed.status)
    const shift = await shop.read(`/shifts/${till.shiftId}`)
    assert.deepStrictEqual(picked(shift, "salesCount", "salesTotal"), [1, 1_000])
    if (closed.status === 201) assert.strictEqual(closed.at("data.expectedCash"), 11_000)
  })

  it("keeps the money of a promotion and a tax right when a bill is split and paid apart", async () => {
    await shop.core("POST", "/tax/rates", { name: "VAT", country: "FR", rateBps: 2_000 })
    const address = { line1: "1 Rue", city: "Paris", postalCode: "75001", country: "FR" }
    const till = await shop.till({ address })
    const { itemId, path } = await shop.sale(till, 333, 5)
    const before = await shop.read(path)
    const body = { parts: [{ items: [{ itemId, quantity: 2 }] }, { items: [{ itemId, quantity: 1 }] }] }
    const split = await shop.done("POST", `${path}/split`, body)
    const parts = split.list("data.transactions").filter((one) =>
      `/transactions/${Reflect.get(Object(one), "id")}` !== path
    )
    const paths = [path, ...parts.map((one) => `/transactions/${Reflect.get(Object(one), "id")}`)]
    assert.strictEqual(paths.length, 3)
    const net = { subtotal: 0, paid: 0 }
    for (const one of paths) {
      const shown = await shop.read(one)
      net.subtotal += shown.number("data.subtotal")
      await shop.pay(one, shown.number("data.amountDue"))
      net.paid += (await shop.complete(one)).number("data.transaction.total")
    }
    assert.strictEqual(net.subtotal, before.number("data.subtotal"))
    // Each bill rounds its tax once.
    assert.approximately(net.paid, before.number("data.total"), 2)
    const report = await shop.read(`/shifts/${till.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "salesTotal", "taxByRate.0.net"), [net.paid, 1_665])
    assert.strictEqual(report.at("data.taxByRate.0.tax"), net.paid - 1_665)
  })
})
