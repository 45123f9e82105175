import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { approver, openShop, type Shop } from "./ProcurementShop.ts"

describe("a supplier's bill", () => {
  let shop: Shop
  let made = 0
  beforeAll(async () => {
    shop = await openShop({ costTolerancePercent: 5 })
  })
  afterAll(() => shop.close())

  const enter = (poId: string, items: ReadonlyArray<object>, more: object = {}) =>
    shop.ask("POST", "/procurement/bills", { poId, billNumber: `B-${++made}`, billedOn: "2026-11-30", items, ...more })
  const entered = async (poId: string, items: ReadonlyArray<object>, more: object = {}) => {
    const bill = await enter(poId, items, more)
    assert.strictEqual(bill.status, 201, JSON.stringify(bill.body))
    const id = bill.text("data.id")
    const lines = (await shop.done("GET", `/bills/${id}`)).list("data.items").map(Object)
    return {
      id,
      status: bill.at("data.status"),
      total: bill.at("data.total"),
      found: lines.map((one) => one.discrepancy)
    }
  }
  /** An order of ten at 2.50 and ten at 1.00, of which so many of the first and all of the second were accepted. */
  const delivered = async (accepted: number) => {
    const order = await shop.approved([await shop.line(), await shop.line({ unitCost: 100 })])
    const items = [
      { poItemId: order.item(0), quantityReceived: 10, quantityRejected: 10 - accepted },
      { poItemId: order.item(1), quantityReceived: 10 }
    ]
    await shop.done("POST", `/grn/${(await shop.receive(order.id, items)).text("data.id")}/accept`)
    const line = (n: number, quantity = 10, unitCost = n === 0 ? 250 : 100) => ({
      poItemId: order.item(n),
      quantity,
      unitCost
    })
    return { ...order, line }
  }

  it("matches the order and what was accepted, within the tolerance, else names what differs", async () => {
    const { id, line } = await delivered(8)
    const first = await entered(id, [line(0, 5, 262), line(1)], { taxTotal: 19 })
    assert.deepInclude(first, { status: "matched", total: 5 * 262 + 1000 + 19, found: [null, null] })
    // Three are left of what was accepted.
    const second = await entered(id, [line(0, 4, 263), line(1, 1, 94)])
    assert.deepInclude(second, { status: "discrepancy", found: ["quantity and cost", "quantity and cost"] })
    assert.deepInclude(await entered(id, [line(0, 1)]), { found: ["quantity"] })
    const open = await shop.approved([await shop.line()])
    const early = [{ poItemId: open.item(0), quantity: 1, unitCost: 250 }]
    assert.deepInclude(await entered(open.id, early), { status: "discrepancy", found: ["quantity"] })
  })

  it("that is rejected counts for no other one", async () => {
    const { id, line } = await delivered(10)
    const wrong = await entered(id, [line(0, 10, 300)])
    assert.deepStrictEqual(wrong.found, ["cost"])
    await shop.done("POST", `/bills/${wrong.id}/reject`)
    assert.deepStrictEqual((await entered(id, [line(0)])).status, "matched")
  })

  it("with a discrepancy is approved by another person, and a matched one by none", async () => {
    const { id, line } = await delivered(10)
    const dear = await entered(id, [line(0, 10, 300)])
    await shop.refused("403 FORBIDDEN", "POST", `/bills/${dear.id}/approve`)
    const approved = await shop.done("POST", `/bills/${dear.id}/approve`, undefined, approver)
    assert.deepInclude(Object(approved.at("data")), { status: "approved", decidedBy: "approver" })
    await shop.refused("422 INVALID_TRANSITION", "POST", `/bills/${dear.id}/reject`)
    const matched = await entered(id, [line(1)])
    await shop.refused("422 INVALID_TRANSITION", "POST", `/bills/${matched.id}/approve`, undefined, approver)
  })

  it("is entered once under its number, and of eight at once no two match the same units", async () => {
    const { id, line } = await delivered(10)
    const same = await Promise.all(Array.from({ length: 8 }, () => enter(id, [line(1)], { billNumber: "SAME" })))
    assert.deepStrictEqual(same.map(({ status }) => status).toSorted(), [201, ...Array(7).fill(409)])
    const others = await Promise.all(Array.from({ length: 8 }, () => entered(id, [line(0, 4)])))
    assert.deepStrictEqual(others.map(({ status }) => status).filter((status) => status === "matched").length, 2)
  })

  it("names lines of its order, each once, of an order that is there", async () => {
    const [{ id, line }, other] = [await delivered(10), await delivered(10)]
    const wrong = await enter(id, [line(0), other.line(0)])
    assert.deepStrictEqual([wrong.status, wrong.at("error.details.issues.0.path")], [422, "items.1.poItemId"])
    assert.strictEqual((await enter(id, [line(0), line(0)])).status, 409)
    assert.strictEqual((await enter(randomUUID(), [line(0)])).status, 404)
  })
})
