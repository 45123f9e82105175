import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { testCustomerActor } from "stoa/plugin/testing"
import { openTills, picked, type TillShop } from "./TillShop.ts"

/** Who bought at a till may see and erase what it knows of them; the figures of the till stay. */
describe("a customer who bought at a till", () => {
  let shop: TillShop
  beforeAll(async () => {
    shop = await openTills()
  })
  afterAll(() => shop.close())

  const buyer = async () => {
    const permissions = [...testCustomerActor.permissions, "customers:read:self", "customers:update:self"]
    const as = { ...testCustomerActor, userId: `buyer-${randomUUID()}`, permissions }
    return { as, customerId: (await shop.core("GET", "/me/profile", undefined, as)).text("data.id") }
  }

  it("gets their sales in the export of their data, and no one else's", async () => {
    const [one, another] = [await buyer(), await buyer()]
    const till = await shop.till()
    const { id, receiptNumber } = await shop.sold(till, 1_000, 1, { start: { customerId: one.customerId } })
    const mine = JSON.stringify((await shop.core("GET", "/me/export", undefined, one.as)).at("data.plugins"))
    assert.include(mine, id)
    assert.include(mine, receiptNumber)
    assert.notInclude(JSON.stringify((await shop.core("GET", "/me/export", undefined, another.as)).body), id)
  })

  it("is erased with what was written about them, and the sale still counts", async () => {
    const { as, customerId } = await buyer()
    const word = `about${randomUUID().replaceAll("-", "")}`
    const till = await shop.till()
    const one = await shop.sale(till, 1_000, 2, { customerId, metadata: { note: word } })
    await shop.add(one.path, {
      entityId: one.entityId,
      metadata: { name: word },
      notes: word,
      discountAmount: 100,
      reason: word
    })
    await shop.done("POST", `${one.path}/hold`, { label: word })
    await shop.done("POST", `${one.path}/recall`, {})
    await shop.pay(one.path, 1_000, { method: "other", reference: word, metadata: { note: word } })
    await shop.pay(one.path, 1_900)
    await shop.complete(one.path)
    const voided = await shop.sale(till, 1_000, 1, { customerId })
    await shop.done("POST", `${voided.path}/void`, { reason: word })
    const before = await shop.read(`/shifts/${till.shiftId}/report`)
    await shop.core("DELETE", "/me", undefined, as)
    const left: Array<string> = []
    for (const { name } of shop.app.plugins.flatMap(({ tables }) => tables)) {
      const rows = await shop.app.db.query(`select to_jsonb(t)::text as row from ${name} t`)
      for (const { row } of rows) {
        for (const [column, value] of Object.entries(JSON.parse(String(row)))) {
          if (JSON.stringify(value).includes(word)) left.push(`${name}.${column}`)
        }
      }
    }
    const log = await shop.app.db.query("select type, concat(payload, before) as row from outbox_events")
    for (const { row, type } of log) if (String(row).includes(word)) left.push(`change log, ${String(type)}`)
    const sale = await shop.read(one.path)
    assert.deepStrictEqual(picked(sale, "status", "total", "receiptNumber"), ["completed", 2_900, one.receiptNumber])
    const after = await shop.read(`/shifts/${till.shiftId}/report`)
    for (const field of ["salesTotal", "voidsTotal", "discountTotal", "cash.expected"]) {
      assert.strictEqual(after.at(`data.${field}`), before.at(`data.${field}`), field)
    }
    assert.strictEqual((await shop.done("GET", `${one.path}/receipt`)).at("data.total"), 2_900)
    await shop.done("POST", `/shifts/${till.shiftId}/close`, { closingCount: 11_900 })
    const z = await shop.done("POST", "/closings", { terminalId: till.terminalId })
    assert.strictEqual((await shop.read(`/closings/${z.text("data.id")}/verify`)).at("data.valid"), true)
    assert.deepStrictEqual(left, [])
  })

  it("is erased from a sale that was closed before, whose closing stays valid", async () => {
    const { as, customerId } = await buyer()
    const till = await shop.till()
    await shop.sold(till, 1_000, 1, { start: { customerId } })
    await shop.done("POST", `/shifts/${till.shiftId}/close`, { closingCount: 11_000 })
    const z = await shop.done("POST", "/closings", { terminalId: till.terminalId })
    await shop.core("DELETE", "/me", undefined, as)
    const verified = await shop.read(`/closings/${z.text("data.id")}/verify`)
    assert.deepStrictEqual(picked(verified, "valid", "recordsFit"), [true, true])
  })
})
