import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { raceOf } from "stoa/plugin/testing"
import { cashier, code, colleague, openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.2 and A.5: bills that wait, move, are split and put together, and the list of them. */
describe("bills at a till", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills()
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const post = (path: string, body?: object) => shop.done("POST", path, body)
  const totalsOf = (list: ReadonlyArray<unknown>) => list.map((one) => Number(Reflect.get(Object(one), "total")))
  const sum = (amounts: ReadonlyArray<number>) => amounts.reduce((a, b) => a + b, 0)

  describe("that wait", () => {
    it("have a label, are listed at their terminal, and go on with what they had", async () => {
      const at = await shop.till()
      const { id, path, receiptNumber } = await shop.sale(at, 1_000, 2)
      await shop.pay(path, 500)
      await shop.refused("422 VALIDATION_FAILED", "POST", `${path}/hold`, {})
      const held = await post(`${path}/hold`, { label: "Table 4" })
      assert.deepStrictEqual([held.status, ...picked(held, "status", "holdLabel")], [201, "held", "Table 4"])
      const list = await shop.read(`/transactions/held?terminalId=${at.terminalId}`)
      assert.deepStrictEqual(list.list("data").map((one) => Reflect.get(Object(one), "id")), [id])
      assert.strictEqual(list.at("meta.pagination.total"), 1)
      assert.deepStrictEqual((await shop.read(`/transactions/held?terminalId=${till.terminalId}`)).at("data"), [])
      await shop.refused("422 VALIDATION_FAILED", "GET", "/transactions/held")
      await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/hold`, { label: "again" })
      await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/complete`)
      const recalled = await post(`${path}/recall`)
      assert.deepStrictEqual(picked(recalled, "status", "holdLabel", "receiptNumber", "amountDue"), [
        "open",
        null,
        receiptNumber,
        1_500
      ])
      await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/recall`, {})
      await shop.pay(path, 1_500)
      assert.strictEqual((await shop.complete(path)).at("data.transaction.receiptNumber"), receiptNumber)
    })

    it("move to an open shift of the caller at any terminal, with their number and their counters", async () => {
      const [first, second] = [await shop.till({}, 0, cashier), await shop.till({}, 0, colleague)]
      const entityId = await shop.product()
      const one = await shop.start(first, {}, cashier)
      await shop.add(one.path, { entityId }, cashier)
      await shop.done("POST", `${one.path}/hold`, { label: "Bar" }, cashier)
      // The shift of another operator.
      const { shiftId } = second
      await shop.refused("403 FORBIDDEN", "POST", `${one.path}/recall`, { shiftId }, cashier)
      await shop.refused("404 NOT_FOUND", "POST", `${one.path}/recall`, { shiftId: randomUUID() }, colleague)
      const moved = await shop.done("POST", `${one.path}/recall`, { shiftId }, colleague)
      assert.deepStrictEqual(picked(moved, "status", "shiftId", "terminalId", "receiptNumber"), [
        "open",
        second.shiftId,
        second.terminalId,
        one.receiptNumber
      ])
      await shop.done("POST", `${one.path}/payments`, { method: "cash", amount: 1_000 }, colleague)
      await shop.done("POST", `${one.path}/complete`, {}, colleague)
      const [left, took] = [await shop.read(`/shifts/${first.shiftId}`), await shop.read(`/shifts/${second.shiftId}`)]
      assert.deepStrictEqual([left.at("data.salesCount"), took.at("data.salesCount")], [0, 1])
      await shop.done("POST", `/shifts/${first.shiftId}/close`, { closingCount: 0 }, cashier)
      const closed = await shop.till({}, 0, cashier)
      const waiting = await shop.start(closed, {}, cashier)
      await shop.add(waiting.path, { entityId }, cashier)
      await shop.done("POST", `${waiting.path}/hold`, { label: "x" }, cashier)
      await shop.done("POST", `/shifts/${closed.shiftId}/close`, { closingCount: 0 }, cashier)
      await shop.refused("409 CONFLICT", "POST", `${waiting.path}/recall`, { shiftId: closed.shiftId }, cashier)
      assert.strictEqual((await shop.read(waiting.path)).at("data.status"), "held")
    })

    it("are taken up by one of eight who recall at once", async () => {
      const { path } = await shop.sale(till)
      await post(`${path}/hold`, { label: "x" })
      await raceOf(shop.app, { method: "POST", path: `/api/pos${path}/recall`, body: {} })
    })
  })

  it("are voided with a reason, once, and count at the shift that voids", async () => {
    const at = await shop.till()
    const [open, held] = [await shop.sale(at), await shop.sale(at)]
    const paid = await shop.pay(open.path, 400)
    await shop.pay(held.path, 300)
    await post(`${held.path}/hold`, { label: "x" })
    await shop.refused("422 VALIDATION_FAILED", "POST", `${open.path}/void`, {})
    const voided = await post(`${open.path}/void`, { reason: "left without it" })
    assert.deepStrictEqual([voided.status, ...picked(voided, "status", "voidReason", "voidedBy")], [
      201,
      "voided",
      "left without it",
      "test-admin-1"
    ])
    const payment = await shop.read(`${open.path}/payments/${paid.text("data.id")}`)
    assert.include(["cancelled", "refunded"], payment.text("data.status"))
    assert.strictEqual((await post(`${held.path}/void`, { reason: "x" })).at("data.status"), "voided")
    for (const { path } of [open, held, await shop.sold(at)]) {
      await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/void`, { reason: "again" })
    }
    const report = await shop.read(`/shifts/${at.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "voidsCount", "voidsTotal", "salesCount", "cash.expected"), [
      2,
      2_000,
      1,
      11_000
    ])
    assert.deepStrictEqual(await shop.stock(open.entityId), { onHand: 100, reserved: 0 })
    await shop.refused("404 NOT_FOUND", "POST", `/transactions/${randomUUID()}/void`, { reason: "x" })
  })

  it("are either completed or voided when both come at once", async () => {
    const [{ entityId, path }, card] = [await shop.sale(till), await shop.giftCard(1_000)]
    await shop.pay(path, 1_000, { method: "gift_card", reference: card.code })
    const ask = (action: string) => shop.ask("POST", `/pos${path}/${action}`, action === "void" ? { reason: "x" } : {})
    const [done, voided] = await Promise.all([ask("complete"), ask("void")])
    assert.deepStrictEqual([done.status, voided.status].filter((status) => status === 201).length, 1)
    const status = (await shop.read(path)).at("data.status")
    assert.strictEqual(status, done.status === 201 ? "completed" : "voided")
    assert.strictEqual((await shop.stock(entityId)).onHand, done.status === 201 ? 99 : 100)
    assert.strictEqual(await card.balance(), done.status === 201 ? 0 : 1_000)
  })

  describe("that are split", () => {
    it("move parts of lines into new ones of the same shift, and no money is lost", async () => {
      const { id, itemId, path } = await shop.sale(till, 999, 5)
      const other = await shop.add(path, { entityId: await shop.product({ price: 333 }), quantity: 2, seat: 2 })
      const before = (await shop.read(path)).number("data.total")
      const split = await post(`${path}/split`, {
        parts: [
          { items: [{ itemId, quantity: 2 }] },
          { items: [{ itemId, quantity: 1 }, { itemId: other.text("data.id"), quantity: 2 }] }
        ]
      })
      const parts = split.list("data.transactions").filter((one) => Reflect.get(Object(one), "id") !== id)
      assert.deepStrictEqual([split.status, totalsOf(parts)], [201, [1_998, 999 + 666]])
      const rest = await shop.read(path)
      assert.deepStrictEqual(picked(rest, "status", "total", "items.0.quantity"), ["open", 1_998, 2])
      assert.strictEqual(sum(totalsOf(parts)) + rest.number("data.total"), before)
      const numbers = new Set([rest.text("data.receiptNumber")])
      for (const part of parts) {
        const [parentId, shiftId, status] = ["parentId", "shiftId", "status"].map((one) =>
          Reflect.get(Object(part), one)
        )
        assert.deepStrictEqual([parentId, shiftId, status], [id, till.shiftId, "open"])
        numbers.add(String(Reflect.get(Object(part), "receiptNumber")))
        const partPath = `/transactions/${Reflect.get(Object(part), "id")}`
        await shop.pay(partPath, Number(Reflect.get(Object(part), "total")))
        await shop.complete(partPath)
      }
      assert.strictEqual(numbers.size, 3)
      await shop.pay(path, 1_998)
      await shop.complete(path)
    })

    it("share the discount of a line", async () => {
      const entityId = await shop.product({ price: 1_000 })
      const { path } = await shop.start(till)
      const item = await shop.add(path, { entityId, quantity: 3, discountAmount: 100, reason: "x" })
      const part = { items: [{ itemId: item.text("data.id"), quantity: 1 }] }
      const split = await post(`${path}/split`, { parts: [part, part] })
      const others = split.list("data.transactions").filter((one) =>
        path !== `/transactions/${Reflect.get(Object(one), "id")}`
      )
      assert.strictEqual(sum(totalsOf(others)) + (await shop.read(path)).number("data.total"), 2_900)
    })

    it("into ways stay one bill, whose amounts are the largest remainders and pay it", async () => {
      const { id, path } = await shop.sale(till, 1_000)
      const split = await post(`${path}/split`, { ways: 3 })
      const amounts = split.list("data.amounts").map(Number)
      assert.deepStrictEqual([...amounts].sort(), [333, 333, 334])
      assert.strictEqual((await shop.read(path)).at("data.total"), 1_000)
      for (const amount of amounts) await shop.pay(path, amount)
      assert.strictEqual((await shop.complete(path)).at("data.transaction.id"), id)
    })

    it("are refused with what they do not have, without an effect", async () => {
      const [one, another] = [await shop.sale(till, 1_000, 2), await shop.sale(till)]
      const items = (itemId: string, quantity: number) => ({ items: [{ itemId, quantity }] })
      const { itemId, path } = one
      const refuse = (body: object) => shop.refused("422 VALIDATION_FAILED", "POST", `${path}/split`, body)
      for (const ways of [1, 0, 2.5, -1]) await refuse({ ways })
      for (const parts of [[items(itemId, 3)], [items(itemId, 1), items(itemId, 2)], [items(itemId, 0)]]) {
        await refuse({ parts })
      }
      await refuse({})
      for (const wrong of [another.itemId, randomUUID()]) {
        const got = await shop.ask("POST", `/pos${path}/split`, { parts: [items(wrong, 1)] })
        assert.include(["404 NOT_FOUND", "422 VALIDATION_FAILED"], code(got))
      }
      assert.deepStrictEqual(picked(await shop.read(path), "total", "items.0.quantity"), [2_000, 2])
      await shop.pay(path, 100)
      await shop.refused("409 CONFLICT", "POST", `${path}/split`, { parts: [items(itemId, 1)] })
      const done = await shop.sold(till)
      await shop.refused("422 INVALID_TRANSITION", "POST", `${done.path}/split`, { parts: [items(done.itemId, 1)] })
    })

    it("are split once by eight who ask at once", async () => {
      const { itemId, path } = await shop.sale(till, 1_000, 2)
      const body = { parts: [{ items: [{ itemId, quantity: 2 }] }] }
      const send = () => shop.ask("POST", `/pos${path}/split`, body)
      const answers = await Promise.all(Array.from({ length: 8 }, send))
      assert.isAtMost(answers.filter(({ status }) => status === 201).length, 1)
    })
  })

  it("are merged: the lines of one go to the other, which has both totals", async () => {
    const [one, another] = [await shop.sale(till, 1_000, 2), await shop.sale(till, 300)]
    await shop.add(another.path, { entityId: one.entityId })
    const merged = await post(`${one.path}/merge`, { from: another.id })
    assert.deepStrictEqual([merged.status, ...picked(merged, "id", "total", "status")], [201, one.id, 3_300, "open"])
    assert.strictEqual((await shop.read(another.path)).at("data.status"), "voided")
    const [paid, plain, done] = [await shop.sale(till), await shop.sale(till), await shop.sold(till)]
    await shop.pay(paid.path, 1)
    await shop.refused("409 CONFLICT", "POST", `${plain.path}/merge`, { from: paid.id })
    await shop.refused("422 INVALID_TRANSITION", "POST", `${plain.path}/merge`, { from: done.id })
    await shop.refused("404 NOT_FOUND", "POST", `${plain.path}/merge`, { from: randomUUID() })
    assert.include([409, 422], (await shop.ask("POST", `/pos${plain.path}/merge`, { from: plain.id })).status)
    const euros = await shop.start(till, { currency: "EUR" })
    await shop.refused("409 CONFLICT", "POST", `${plain.path}/merge`, { from: euros.id })
  })

  it("are merged when they are sales, and the one that is gone is counted once", async () => {
    const own = await shop.till()
    const [source, target] = [await shop.sale(own), await shop.sale(own)]
    const back = await shop.start(own, { type: "return" })
    await shop.refused("409 CONFLICT", "POST", `${back.path}/merge`, { from: source.id })
    await post(`${target.path}/merge`, { from: source.id })
    const report = await shop.read(`/shifts/${own.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "voidsCount", "voidsTotal", "shift.voidsCount"), [1, 0, 1])
    await post(`${target.path}/void`, { reason: "x" })
    const closed = await post(`/shifts/${own.shiftId}/close`, { closingCount: 10_000 })
    assert.strictEqual(closed.at("data.voidsCount"), 3)
  })

  it("are split and merged back to what they were", async () => {
    const { itemId, path } = await shop.sale(till, 777, 3)
    const split = await post(`${path}/split`, { parts: [{ items: [{ itemId, quantity: 1 }] }] })
    const part = split.list("data.transactions").find((one) =>
      path !== `/transactions/${Reflect.get(Object(one), "id")}`
    )
    const merged = await post(`${path}/merge`, { from: Reflect.get(Object(part), "id") })
    assert.deepStrictEqual(picked(merged, "total", "items.0.quantity"), [2_331, 3])
    assert.strictEqual(merged.list("data.items").length, 1)
  })

  it("are listed by shift, state, day, customer and number, the latest first, in pages", async () => {
    const at = await shop.till()
    const customerId = await shop.customer()
    const [first, second] = [await shop.sold(at, 1_000, 1, { start: { customerId } }), await shop.sale(at)]
    const day = first.started.text("data.businessDate")
    const ids = async (query: string) =>
      (await shop.read(`/transactions?${query}`)).list("data").map((one) => Reflect.get(Object(one), "id"))
    assert.deepStrictEqual(await ids(`shiftId=${at.shiftId}`), [second.id, first.id])
    assert.deepStrictEqual(await ids(`shiftId=${at.shiftId}&status=completed`), [first.id])
    assert.deepStrictEqual(await ids(`shiftId=${at.shiftId}&businessDate=${day}`), [second.id, first.id])
    assert.deepStrictEqual(await ids(`shiftId=${at.shiftId}&businessDate=2001-01-01`), [])
    assert.deepStrictEqual(await ids(`customerId=${customerId}`), [first.id])
    assert.deepStrictEqual(await ids(`receiptNumber=${second.receiptNumber}`), [second.id])
    assert.deepStrictEqual(await ids(`shiftId=${at.shiftId}&limit=1&page=2`), [first.id])
    const page = await shop.read(`/transactions?shiftId=${at.shiftId}&limit=1`)
    assert.deepInclude(page.at("meta.pagination"), { page: 1, limit: 1, total: 2, totalPages: 2 })
    for (const wrong of ["status=new", "shiftId=x", "businessDate=tomorrow", "customerId=7"]) {
      await shop.refused("422 VALIDATION_FAILED", "GET", `/transactions?${wrong}`)
    }
    for (const [sent, limit] of [["", 20], ["&limit=1", 1], ["&limit=1000", 100]] as const) {
      const held = await shop.read(`/transactions/held?terminalId=${at.terminalId}${sent}`)
      assert.strictEqual(held.at("meta.pagination.limit"), limit)
    }
  })
})
