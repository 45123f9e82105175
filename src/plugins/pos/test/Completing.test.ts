import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.3. */
describe("completing a sale at a till", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills()
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const adjust = (entityId: string, quantity: number) =>
    shop.core("POST", "/inventory/adjust", { entityId, warehouseId: till.warehouseId, type: "set", quantity })

  it("makes an order that is paid and handed over, without shipping, from the terminal's warehouse", async () => {
    const { completed, entityId, order } = await shop.sold(till, 1_000, 3)
    assert.deepStrictEqual([completed.status, ...picked(completed, "transaction.status")], [201, "completed"])
    assert.isString(completed.at("data.transaction.completedAt"))
    assert.deepInclude(order.at("data"), {
      status: "fulfilled",
      grandTotal: 3_000,
      shippingTotal: 0,
      amountDue: 0,
      amountCaptured: 3_000
    })
    assert.deepStrictEqual(await shop.stock(entityId), { onHand: 97, reserved: 0 })
    const levels = await shop.core("GET", `/inventory/levels?entityId=${entityId}`)
    assert.deepInclude(levels.at("data.0"), { warehouseId: till.warehouseId, quantityOnHand: 97 })
    assert.deepInclude((await shop.read(`/shifts/${till.shiftId}`)).at("data"), { salesCount: 1, salesTotal: 3_000 })
  })

  it("still answers the request of old clients, whose cart is none", async () => {
    const { completed, id } = await shop.sold(till)
    assert.deepStrictEqual(completed.at("data.checkoutRequest"), {
      cartId: id,
      currency: "USD",
      paymentMethodId: "pos",
      metadata: { posTransactionId: id, posShiftId: till.shiftId, posTerminalId: till.terminalId }
    })
    assert.isString(completed.at("data.message"))
    const before = await shop.core("GET", "/orders?limit=1")
    const got = await shop.ask("POST", "/checkout", completed.at("data.checkoutRequest"))
    assert.strictEqual(got.status, 404, JSON.stringify(got.body))
    const after = await shop.core("GET", "/orders?limit=1")
    assert.strictEqual(after.at("meta.pagination.total"), before.at("meta.pagination.total"))
  })

  it("of eight at once and again later is one order", async () => {
    const { entityId, path } = await shop.sale(till, 1_000, 2)
    await shop.pay(path, 2_000)
    const before = (await shop.read(`/shifts/${till.shiftId}`)).number("data.salesCount")
    const send = () => shop.ask("POST", `/pos${path}/complete`)
    const answers = [...await Promise.all(Array.from({ length: 8 }, send)), await send()]
    assert.deepStrictEqual(answers.map(({ status }) => status), Array(9).fill(201))
    assert.strictEqual(new Set(answers.map((one) => one.at("data.transaction.orderId"))).size, 1)
    assert.strictEqual((await shop.stock(entityId)).onHand, 98)
    assert.strictEqual((await shop.read(`/shifts/${till.shiftId}`)).at("data.salesCount"), before + 1)
  })

  it("is refused while money is missing, which is named, and without lines", async () => {
    const { path } = await shop.sale(till, 1_000)
    await shop.pay(path, 377)
    const refused = await shop.refused("422 VALIDATION_FAILED", "POST", `${path}/complete`)
    assert.match(refused.text("error.message"), /623|6\.23/)
    const empty = await shop.start(till)
    await shop.refused("422 VALIDATION_FAILED", "POST", `${empty.path}/complete`)
    await shop.refused("404 NOT_FOUND", "POST", `/transactions/${randomUUID()}/complete`)
    await shop.done("POST", `${empty.path}/void`, { reason: "x" })
    await shop.refused("422 INVALID_TRANSITION", "POST", `${empty.path}/complete`)
  })

  it("of a total of 0 needs no payment", async () => {
    const { path } = await shop.sale(till, 0)
    const done = await shop.complete(path)
    assert.deepStrictEqual(picked(done, "transaction.status", "transaction.total"), ["completed", 0])
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.deepStrictEqual(picked(order, "status", "grandTotal"), ["fulfilled", 0])
  })

  it("is refused for goods that are not there or promised to others, and changes nothing", async () => {
    for (const promised of [false, true]) {
      const { entityId, path } = await shop.sale(till, 1_000, 3)
      await adjust(entityId, promised ? 4 : 2)
      if (promised) {
        await shop.core("POST", "/inventory/reserve", { entityId, quantity: 2, orderId: randomUUID() })
      }
      await shop.pay(path, 3_000)
      const before = await shop.stock(entityId)
      const refused = await shop.ask("POST", `/pos${path}/complete`)
      assert.strictEqual(refused.status, 422, JSON.stringify(refused.body))
      assert.deepStrictEqual(await shop.stock(entityId), before)
      assert.deepStrictEqual(picked(await shop.read(path), "status", "orderId", "amountDue"), ["open", null, 0])
      await adjust(entityId, 10)
      assert.strictEqual((await shop.complete(path)).at("data.transaction.status"), "completed")
    }
  })

  it("sells the last units once, of two sales that complete at once", async () => {
    const entityId = await shop.product({ stock: 1 })
    const paths = await Promise.all([1, 2].map(async () => {
      const { path } = await shop.start(till)
      await shop.add(path, { entityId })
      await shop.pay(path, 1_000)
      return path
    }))
    const answers = await Promise.all(paths.map((path) => shop.ask("POST", `/pos${path}/complete`)))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 422])
    assert.deepStrictEqual(await shop.stock(entityId), { onHand: 0, reserved: 0 })
  })

  it("is refused once its shift is closed, for goods of no shop, and sends no mails", async () => {
    const customerId = await shop.customer("buyer@example.com")
    const { completed } = await shop.sold(till, 1_000, 1, { start: { customerId } })
    const orderId = completed.text("data.transaction.orderId")
    const jobs = await shop.app.db.query("select payload::text as text from outbox_events where type like '%mail%'")
    assert.notInclude(JSON.stringify(jobs), orderId)
    assert.deepStrictEqual(shop.mails.filter(({ to }) => to === "buyer@example.com"), [])
    const archived = await shop.sale(till)
    await shop.core("POST", `/catalog/entities/${archived.entityId}/archive`)
    await shop.pay(archived.path, 1_000)
    assert.isAtLeast((await shop.ask("POST", `/pos${archived.path}/complete`)).status, 404)
    assert.strictEqual((await shop.read(archived.path)).at("data.status"), "open")
  })

  it("is an entry of the audit trail under the operator, not the system", async () => {
    const { orderId } = await shop.sold(till)
    const trail = await shop.core("GET", `/audit?entityId=${orderId}&limit=100`)
    const actors = new Set(trail.list("data").map((one) => Reflect.get(Object(one), "actorId")))
    assert.isAbove(actors.size, 0)
    assert.deepStrictEqual([...actors], ["test-admin-1"])
  })
})

describe("a store that sells what it has not counted", () => {
  it("sells below zero with allowOversell, and marks the order", async () => {
    const shop = await openTills({ allowOversell: true })
    const till = await shop.till()
    const entityId = await shop.product({ stock: 1 })
    const { path } = await shop.start(till)
    await shop.add(path, { entityId, quantity: 3 })
    await shop.pay(path, 3_000)
    const done = await shop.complete(path)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.strictEqual(order.at("data.metadata.oversold"), true)
    assert.deepStrictEqual(await shop.stock(entityId), { onHand: -2, reserved: 0 })
    const plain = await shop.sold(till)
    assert.isUndefined(plain.order.at("data.metadata.oversold"))
    await shop.close()
  })
})
