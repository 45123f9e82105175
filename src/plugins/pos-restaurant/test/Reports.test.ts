import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { testCustomerActor } from "stoa/plugin/testing"
import { cashier, outsider, picked } from "../../pos/test/TillShop.ts"
import { openRestaurant, type RestaurantShop } from "./RestaurantShop.ts"

/** contract-plugins §3, contract-tills-channels B (26, 39). */
describe("reports of a restaurant", () => {
  let shop: RestaurantShop
  beforeAll(async () => {
    shop = await openRestaurant()
  })
  afterAll(() => shop.close())

  const figures = {
    grossSales: 100_000,
    netSales: 92_000,
    costOfGoods: 30_000,
    directExpenses: 2_000,
    indirectExpenses: 10_000,
    employeeCosts: 35_000,
    transactionCount: 33
  }
  const path = "/analytics/daily-pnl"
  const enter = (date: string, body: object = {}) => shop.done("POST", path, { date, ...figures, ...body })
  const expenses = [{ category: "direct", name: "Gas", amount: 2_000, percentage: 2 }]

  it("have profit and loss of a day, which stands once and follows its figures until it is submitted", async () => {
    const made = await enter("2031-01-02", { expenses })
    const profit = ["grossProfit", "netProfit", "averageBillValue", "status"]
    assert.deepStrictEqual(picked(made, ...profit, "expenses.0.name"), [60_000, 15_000, 3_030, "draft", "Gas"])
    await shop.refused("409 CONFLICT", "POST", path, { date: "2031-01-02", ...figures })
    const one = `${path}/${made.text("data.id")}`
    const changed = await shop.done("PATCH", one, { netSales: 90_000, transactionCount: 0 })
    assert.deepStrictEqual(picked(changed, ...profit), [58_000, 13_000, 0, "draft"])
    assert.strictEqual(changed.at("data.expenses.0.percentage"), 2)
    assert.deepStrictEqual((await shop.done("PATCH", one, { expenses: [] })).list("data.expenses"), [])
    await shop.refused("422 VALIDATION_FAILED", "PATCH", one, { netProfit: 1 })
    await shop.refused("404 NOT_FOUND", "PATCH", one, { netSales: 1 }, outsider)
    await shop.refused("403 FORBIDDEN", "GET", path, undefined, cashier)
    assert.strictEqual((await shop.done("POST", `${one}/submit`)).at("data.status"), "submitted")
    await shop.refused("422 INVALID_TRANSITION", "PATCH", one, { netSales: 1 })
    await shop.refused("422 INVALID_TRANSITION", "POST", `${one}/submit`)
    await enter("2031-01-03")
    const listed = await shop.done("GET", path)
    assert.deepStrictEqual(picked(listed, "0.date", "1.date"), ["2031-01-03", "2031-01-02"])
    assert.strictEqual((await shop.done("GET", `${path}?status=submitted`)).at("meta.pagination.total"), 1)
  })

  it("submit a draft as it was changed at the same moment", async () => {
    const made = await enter("2031-02-01")
    const one = `${path}/${made.text("data.id")}`
    const [changed, submitted] = await Promise.all([
      shop.ask("PATCH", `/pos/restaurant${one}`, { netSales: 90_000 }),
      shop.ask("POST", `/pos/restaurant${one}/submit`)
    ])
    assert.strictEqual(submitted.status, 201)
    const after = await shop.done("GET", one)
    assert.deepStrictEqual(picked(after, "netSales", "status"), [changed.status === 200 ? 90_000 : 92_000, "submitted"])
  })

  it("add up tips by operator, of completed sales of these days", async () => {
    const till = await shop.till({ tipMode: "on_receipt" }, 0, cashier)
    const tipped = async (tip: number, method: object) => {
      const sale = await shop.sale(till, 1_000, 1)
      await shop.tills.done("POST", `${sale.path}/payments`, { amount: 1_000, tip, ...method })
      return sale
    }
    const [cash, card, open] = [
      await tipped(150, { method: "cash" }),
      await tipped(250, { method: "card", reference: "slip" }),
      await tipped(999, { method: "cash" })
    ]
    for (const one of [cash, card]) await shop.complete(one.path)
    const { businessDate, operatorId } = Object(await shop.read(open.path).then((answer) => answer.at("data")))
    const of = (from: string, to: string) => shop.done("GET", `/tips/report?from=${from}&to=${to}`)
    assert.deepStrictEqual((await of(businessDate, businessDate)).at("data"), [
      { operatorId, currency: "USD", count: 2, total: 400, cash: 150 }
    ])
    assert.deepStrictEqual((await of("2020-01-01", "2020-12-31")).at("data"), [])
    await shop.refused("422 VALIDATION_FAILED", "GET", "/tips/report?from=2026-02-01&to=2026-01-01")
    await shop.refused("403 FORBIDDEN", "GET", "/tips/report?from=2026-02-01&to=2026-02-01", undefined, cashier)
  })

  it("know what a customer buys most, until the customer is erased", async () => {
    const permissions = [...testCustomerActor.permissions, "customers:read:self", "customers:update:self"]
    const as = { ...testCustomerActor, userId: `buyer-${randomUUID()}`, permissions }
    const customerId = (await shop.core("GET", "/me/profile", undefined, as)).text("data.id")
    const till = await shop.till()
    const first = await shop.sold(till, 1_000, 3, { start: { customerId } })
    const more = await shop.sale(till, 500, 1, { customerId })
    await shop.add(more.path, { entityId: first.entityId })
    await shop.add(more.path, { entityId: first.entityId, seat: 2 })
    await shop.pay(more.path, 2_500)
    await shop.complete(more.path)
    const listed = () => shop.done("GET", `/customers/${customerId}/favorites`, undefined, cashier)
    const counts = async () => picked(await listed(), "0.entityId", "0.orderCount", "1.entityId", "1.orderCount")
    const counted = [first.entityId, 2, more.entityId, 1]
    await expect.poll(counts, { timeout: 60_000 }).toEqual(counted)
    assert.deepStrictEqual(
      (await shop.done("GET", `/customers/${customerId}/favorites`, undefined, outsider)).at("data"),
      []
    )
    await shop.core("DELETE", "/me", undefined, as)
    assert.deepStrictEqual((await listed()).at("data"), [])
  })
})
