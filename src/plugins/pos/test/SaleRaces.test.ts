import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { code, openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-plugins §16 (a), contract-tills-channels A.3 (4): two requests about one sale at the same moment. */
describe("a sale that two change at once", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills()
    till = await shop.till()
    await shop.core("POST", "/promotions", { name: "Ten", code: "TEN", type: "percentage_off_order", value: 10 })
  })
  afterAll(() => shop.close())

  const paidSale = async () => {
    const one = await shop.sale(till, 1_000, 2)
    const payment = await shop.pay(one.path, 2_000)
    return { ...one, paymentId: payment.text("data.id") }
  }
  type Paid = Awaited<ReturnType<typeof paidSale>>

  /** What is sent while the sale completes. */
  const changes: Readonly<
    Record<string, (sale: Paid) => Promise<readonly [method: string, path: string, body?: object]>>
  > = {
    "a line": async ({ entityId }) => ["POST", "/items", { entityId, quantity: 3 }],
    "a lower quantity": async ({ itemId }) => ["PATCH", `/items/${itemId}`, { quantity: 1 }],
    "a removed line": async ({ itemId }) => ["DELETE", `/items/${itemId}`],
    "a code": async () => ["POST", "/codes", { code: "TEN" }],
    "a customer": async () => ["POST", "/customer", { customerId: await shop.customer() }],
    "a hold": async () => ["POST", "/hold", { label: "x" }],
    "a void": async () => ["POST", "/void", { reason: "x" }],
    "a payment taken back": async ({ paymentId }) => ["DELETE", `/payments/${paymentId}`],
    "a merge": async () => {
      const { id } = await shop.sale(till)
      return ["POST", "/merge", { from: id }]
    }
  }

  it.each(Object.keys(changes))("either completes or has %s", async (name) => {
    for (let round = 0; round < 3; round++) {
      const sale = await paidSale()
      const [method, path, body] = await changes[name]?.(sale) ?? ["GET", ""]
      const [done, changed] = await Promise.all([
        shop.ask("POST", `/pos${sale.path}/complete`),
        shop.ask(method, `/pos${sale.path}${path}`, body)
      ])
      const said = `complete: ${code(done)}, ${name}: ${code(changed)}`
      for (const { status } of [done, changed]) assert.include([200, 201, 409, 422], status, said)
      const after = await shop.read(sale.path)
      assert.strictEqual(done.status === 201, after.at("data.status") === "completed")
      const { onHand } = await shop.stock(sale.entityId)
      if (done.status !== 201) {
        assert.strictEqual(onHand, 100)
        continue
      }
      // The order is what was paid, and what left the stock.
      const order = await shop.core("GET", `/orders/${after.text("data.orderId")}`)
      assert.deepStrictEqual(picked(order, "grandTotal", "amountDue"), [2_000, 0])
      assert.deepStrictEqual([after.at("data.total"), onHand], [2_000, 98])
    }
  })

  it("pays by one gift card of two sales at once what the card has", async () => {
    const card = await shop.giftCard(1_500)
    const sales = [await shop.sale(till), await shop.sale(till)]
    const body = { method: "gift_card", amount: 1_000, reference: card.code }
    const answers = await Promise.all(sales.map(({ path }) => shop.ask("POST", `/pos${path}/payments`, body)))
    const taken = answers.reduce((sum, one) => sum + Number(one.at("data.amount") ?? 0), 0)
    assert.strictEqual(await card.balance(), 1_500 - taken)
    for (const { status } of answers) assert.include([201, 409, 422], status)
  })

  it("swaps the same goods in exchanges at once, and takes them back in returns", async () => {
    const tills = [till, await shop.till(), await shop.till(), await shop.till()]
    const goods = [await shop.product(), await shop.product()]
    const soldOf = async (of: typeof till, entityId: string | undefined) => {
      const { path } = await shop.start(of)
      await shop.add(path, { entityId, quantity: 12 })
      await shop.pay(path, 12_000)
      const orderId = (await shop.complete(path)).text("data.transaction.orderId")
      return { orderId, lineId: (await shop.core("GET", `/orders/${orderId}`)).text("data.lineItems.0.id") }
    }
    const sales = await Promise.all(tills.map((of, n) => soldOf(of, goods[n % 2])))
    const comingBack = (n: number) => ({ originalLineItemId: sales[n]?.lineId, quantity: 1, reason: "wrong_item" })
    const at = (n: number) => ({
      shiftId: tills[n]?.shiftId,
      terminalId: tills[n]?.terminalId,
      originalOrderId: sales[n]?.orderId
    })
    for (let round = 0; round < 6; round++) {
      const exchanges = await Promise.all(tills.map(async (_, n) => {
        const replacementItems = [{ entityId: goods[(n + 1) % 2], quantity: 2 }]
        const begun = await shop.done("POST", "/exchanges", {
          ...at(n),
          returnItems: [comingBack(n)],
          replacementItems
        })
        const path = `/transactions/${begun.text("data.transaction.id")}`
        await shop.pay(path, 1_000)
        return path
      }))
      const answers = await Promise.all(exchanges.flatMap((path, n) => [
        shop.ask("POST", `/pos${path}/complete`),
        shop.ask("POST", "/pos/returns", { ...at(n), items: [comingBack(n)], payment: { method: "cash" } })
      ]))
      assert.deepStrictEqual(answers.map(({ status }) => status), answers.map(() => 201))
    }
    // Of each, two orders gave all of 12 units back, and two exchanges a round took two.
    for (const entityId of goods) assert.deepStrictEqual(await shop.stock(entityId), { onHand: 76, reserved: 0 })
  })

  it("tells with which sum too much was paid", async () => {
    const { path } = await shop.sale(till, 1_000, 1)
    const second = await shop.add(path, { entityId: await shop.product({ price: 500 }) })
    await shop.pay(path, 1_500)
    await shop.done("DELETE", `${path}/items/${second.text("data.id")}`)
    const refused = await shop.refused("422 VALIDATION_FAILED", "POST", `${path}/complete`)
    assert.notInclude(refused.text("error.message"), "-500")
  })

  it("splits a promotion's discount with the bill, once", async () => {
    const promotion = { name: "Five", code: "FIVE", type: "fixed_off_order", value: 500, currency: "USD" }
    await shop.core("POST", "/promotions", promotion)
    const { id, itemId, path } = await shop.sale(till, 1_000, 2)
    await shop.done("POST", `${path}/codes`, { code: "FIVE" })
    const split = await shop.done("POST", `${path}/split`, { parts: [{ items: [{ itemId, quantity: 1 }] }] })
    const parts = split.list("data.transactions").filter((one) => Reflect.get(Object(one), "id") !== id)
    const rest = parts.reduce((sum: number, one) => sum + Number(Reflect.get(Object(one), "total")), 0)
    assert.strictEqual(rest + (await shop.read(path)).number("data.total"), 1_500)
  })
})
