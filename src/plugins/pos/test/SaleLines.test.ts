import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { cashier, code, manager, openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.5, contract-plugins §2.3 and 17.1. */
describe("lines of a sale at a till", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills()
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const totals = async (path: string) =>
    picked(await shop.read(path), "subtotal", "discountTotal", "taxTotal", "total", "amountDue")

  it("are at most 500 of a sale", async () => {
    const { id, path } = await shop.start(till)
    const [entityId, other] = [await shop.product(), await shop.product()]
    await shop.add(path, { entityId })
    await shop.app.db.query(
      `insert into pos_transaction_items select (jsonb_populate_record(line,
         jsonb_build_object('id', gen_random_uuid(), 'position', n, 'notes', n))).*
       from pos_transaction_items line cross join generate_series(1, 499) n where line.transaction_id = $1`,
      [id]
    )
    await shop.refused("422 VALIDATION_FAILED", "POST", `${path}/items`, { entityId: other })
    assert.strictEqual((await shop.add(path, { entityId })).at("data.quantity"), 2)
  })

  it("are those of a transaction without a cart, in the currency that it names", async () => {
    const { started } = await shop.start(till, { currency: "EUR", orderType: "takeaway", metadata: { table: 4 } })
    assert.strictEqual(started.status, 201)
    assert.deepInclude(started.at("data"), {
      cartId: null,
      orderId: null,
      type: "sale",
      status: "open",
      currency: "EUR",
      orderType: "takeaway",
      total: 0,
      rounding: 0,
      tipTotal: 0,
      parentId: null,
      shiftId: till.shiftId,
      terminalId: till.terminalId,
      metadata: { table: 4 }
    })
    const plain = await shop.start(till)
    assert.deepInclude(plain.started.at("data"), { orderType: "counter", currency: "USD" })
  })

  it("are added once by a request whose process died, and its repeat answers the line", async () => {
    const [{ path }, entityId] = [await shop.start(till), await shop.product()]
    const items = async () =>
      (await shop.read(path)).list("data.items").map((one) => Reflect.get(Object(one), "quantity"))
    const units: Array<number> = []
    for (const [key, quantity] of [["first", 2], ["second", 3]] as const) {
      const add = () => shop.underKey(`${key}-${path}`, "POST", `${path}/items`, { entityId, quantity })
      const made = await add()
      await shop.app.db.query(
        `update idempotency_keys set status = 'running', response_status = null, encrypted_response = null,
          locked_until = now() - interval '1 second' where status = 'done'`
      )
      const again = await add()
      assert.deepStrictEqual([again.status, ...picked(again, "id", "quantity", "transaction")], [
        201,
        ...picked(made, "id", "quantity", "transaction")
      ])
      units.push(made.number("data.quantity"))
    }
    assert.deepStrictEqual(units, [2, 5])
    assert.deepStrictEqual(await items(), [5])
  })

  it("need a shift of this terminal that is open, and of the caller", async () => {
    const [other, closed] = [await shop.till(), await shop.till()]
    await shop.done("POST", `/shifts/${closed.shiftId}/close`, { closingCount: 10_000 })
    const at = (shiftId: string, terminalId: string, more: object = {}) => ({ shiftId, terminalId, ...more })
    const refuse = (expected: string, body: object, as?: typeof cashier) =>
      shop.refused(expected, "POST", "/transactions", body, as)
    await refuse("404 NOT_FOUND", at(randomUUID(), till.terminalId))
    await refuse("409 CONFLICT", at(closed.shiftId, closed.terminalId))
    const elsewhere = await shop.ask("POST", "/pos/transactions", at(till.shiftId, other.terminalId))
    assert.include([409, 422], elsewhere.status)
    await refuse("403 FORBIDDEN", at(till.shiftId, till.terminalId), cashier)
    for (const wrong of [{ currency: "EURO" }, { type: "gift" }, { orderType: "drive" }]) {
      await refuse("422 VALIDATION_FAILED", at(till.shiftId, till.terminalId, wrong))
    }
    await refuse("422 VALIDATION_FAILED", {})
    await refuse("404 NOT_FOUND", at(till.shiftId, randomUUID()))
  })

  it("take the quantity of an equal one, and are separate by price, discount, metadata, seat and course", async () => {
    const entityId = await shop.product({ price: 1_000 })
    const { path } = await shop.start(till)
    const first = await shop.add(path, { entityId })
    assert.deepStrictEqual(picked(first, "quantity", "price", "totalPrice", "isCustomPrice"), [1, 1_000, 1_000, false])
    const equal = await shop.add(path, { entityId, quantity: 2 })
    assert.deepStrictEqual(picked(equal, "id", "quantity"), [first.at("data.id"), 3])
    const others = [
      { metadata: { size: "l" } },
      { seat: 1 },
      { seat: 2 },
      { course: 1 },
      { unitPrice: 900 }
    ]
    await shop.add(path, { entityId, discountAmount: 100, reason: "dented" })
    for (const body of others) {
      const added = await shop.add(path, { entityId, ...body })
      assert.strictEqual(added.at("data.quantity"), 1, JSON.stringify(body))
      const same = await shop.add(path, { entityId, ...body })
      assert.strictEqual(same.at("data.id"), added.at("data.id"), JSON.stringify(body))
    }
    assert.strictEqual((await shop.read(path)).list("data.items").length, 2 + others.length)
    assert.deepStrictEqual(await totals(path), [13_800, 100, 0, 13_700, 13_700])
  })

  it("with an equal discount are one, which has both discounts", async () => {
    const entityId = await shop.product({ price: 1_000 })
    const { path } = await shop.start(till)
    const body = { entityId, discountAmount: 100, reason: "dented" }
    const [first, same] = [await shop.add(path, body), await shop.add(path, body)]
    assert.deepStrictEqual(picked(same, "id", "quantity"), [first.at("data.id"), 2])
    assert.strictEqual((await shop.read(path)).at("data.total"), 1_800)
  })

  it("are changed and removed while the sale is open, and the total follows", async () => {
    const { entityId, itemId, path } = await shop.sale(till, 1_000, 2)
    const changed = await shop.done("PATCH", `${path}/items/${itemId}`, { quantity: 5, notes: "no ice", seat: 3 })
    assert.deepStrictEqual([changed.status, ...picked(changed, "quantity", "notes", "seat")], [200, 5, "no ice", 3])
    assert.deepStrictEqual(await totals(path), [5_000, 0, 0, 5_000, 5_000])
    // Notes alone are no longer ignored.
    const noted = await shop.done("PATCH", `${path}/items/${itemId}`, { notes: "ice" })
    assert.deepStrictEqual(picked(noted, "quantity", "notes"), [5, "ice"])
    const removed = await shop.done("DELETE", `${path}/items/${itemId}`)
    assert.deepStrictEqual(removed.body, { data: { removed: true } })
    assert.deepStrictEqual(await totals(path), [0, 0, 0, 0, 0])
    await shop.refused("404 NOT_FOUND", "DELETE", `${path}/items/${itemId}`)
    await shop.refused("404 NOT_FOUND", "PATCH", `${path}/items/${itemId}`, { quantity: 1 })
    await shop.add(path, { entityId })
    assert.strictEqual((await shop.read(path)).list("data.items").length, 1)
  })

  it("are refused with what no line can be", async () => {
    const { entityId, itemId, path } = await shop.sale(till)
    const wrongs = [
      {},
      { entityId: "x" },
      { entityId, quantity: 0 },
      { entityId, quantity: 10_000 },
      { entityId, quantity: 1.5 },
      { entityId, notes: "x".repeat(501) },
      { entityId, metadata: { x: "x".repeat(4_100) } },
      { entityId, unitPrice: -1 },
      { entityId, discountAmount: 1_001, reason: "more than it costs" },
      { entityId, discountPercent: 101, reason: "x" },
      { entityId, discountPercent: 10, discountAmount: 5, reason: "both" },
      { entityId, discountAmount: 10 },
      { entityId, discountPercent: 10 }
    ]
    const passed: Array<object> = []
    for (const wrong of wrongs) {
      const got = await shop.ask("POST", `/pos${path}/items`, wrong)
      if (got.status !== 422) passed.push({ sent: wrong, status: got.status })
    }
    assert.deepStrictEqual(passed, [])
    await shop.refused("404 NOT_FOUND", "POST", `${path}/items`, { entityId: randomUUID() })
    await shop.refused("404 NOT_FOUND", "POST", `/transactions/${randomUUID()}/items`, { entityId })
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `${path}/items/${itemId}`, { quantity: 0 })
  })

  it("take notes of 500 signs", async () => {
    const { entityId, itemId, path } = await shop.sale(till)
    const notes = "x".repeat(500)
    const patched = await shop.ask("PATCH", `/pos${path}/items/${itemId}`, { notes })
    const added = await shop.ask("POST", `/pos${path}/items`, { entityId, metadata: { a: 1 }, notes })
    assert.deepStrictEqual([patched.status, added.status], [200, 201], JSON.stringify([patched.body, added.body]))
  })

  it("have a staff price or a discount in per cent with its reason, by who may", async () => {
    const entityId = await shop.product({ price: 999 })
    const { path } = await shop.start(till)
    const line = await shop.add(path, { entityId, quantity: 3, discountPercent: 10, reason: "last ones" })
    // 10 % of 2997, half up.
    assert.deepStrictEqual(picked(line, "discountAmount", "discountReason"), [300, "last ones"])
    assert.deepStrictEqual(await totals(path), [2_997, 300, 0, 2_697, 2_697])
    const custom = await shop.add(path, { entityId, unitPrice: 500 })
    assert.deepStrictEqual(picked(custom, "isCustomPrice", "unitPrice", "price", "totalPrice"), [true, 500, 500, 500])
    await shop.pay(path, 3_197)
    const done = await shop.complete(path)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.deepStrictEqual(picked(order, "grandTotal", "amountDue"), [3_197, 0])
    const report = await shop.read(`/shifts/${till.shiftId}/report`)
    assert.strictEqual(report.at("data.discountTotal"), 300)
  })

  it("get prices and discounts from who lacks pos:manage with an approval only", async () => {
    const at = await shop.till({}, 0, cashier)
    const entityId = await shop.product({ price: 1_000 })
    const { path } = await shop.start(at, {}, cashier)
    for (const body of [{ unitPrice: 900 }, { discountAmount: 10, reason: "x" }, { discountPercent: 5, reason: "x" }]) {
      await shop.refused("403 OVERRIDE_REQUIRED", "POST", `${path}/items`, { entityId, ...body }, cashier)
    }
    const plain = await shop.add(path, { entityId }, cashier)
    const item = `${path}/items/${plain.text("data.id")}`
    await shop.refused("403 OVERRIDE_REQUIRED", "PATCH", item, { unitPrice: 1 }, cashier)
    const { operatorId, token } = await shop.override("price")
    const priced = await shop.withToken(token, "POST", `${path}/items`, { entityId, unitPrice: 900 })
    assert.deepStrictEqual([priced.status, ...picked(priced, "unitPrice", "overrideBy")], [201, 900, operatorId])
    const discount = { entityId, discountPercent: 5, reason: "x" }
    const again = await shop.withToken(token, "POST", `${path}/items`, discount)
    assert.deepStrictEqual([again.status, again.at("error.code")], [403, "OVERRIDE_INVALID"])
  })

  it("are discounted above the threshold by an approval or an admin of tills alone", async () => {
    const at = await shop.till({}, 0, manager)
    const entityId = await shop.product({ price: 1_000 })
    const { path } = await shop.start(at, {}, manager)
    const by = (discountPercent: number) => ({ entityId, discountPercent, reason: "x" })
    await shop.add(path, by(20), manager)
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", `${path}/items`, by(20.5), manager)
    await shop.refused("403 OVERRIDE_REQUIRED", "POST", `${path}/items`, {
      entityId,
      discountAmount: 201,
      reason: "x"
    }, manager)
    const { token } = await shop.override("discount")
    const given = await shop.withToken(token, "POST", `${path}/items`, by(50), manager)
    assert.strictEqual(given.status, 201, JSON.stringify(given.body))
    await shop.add((await shop.sale(till)).path, by(50))
  })

  it("get no larger discount by fewer units, nor a price by an approval of a discount", async () => {
    const at = await shop.till({}, 0, cashier)
    const { path } = await shop.start(at, {}, cashier)
    const entityId = await shop.product({ price: 1_000 })
    const item = `${path}/items/${(await shop.add(path, { entityId, quantity: 10 }, cashier)).text("data.id")}`
    await shop.done("PATCH", item, { discountPercent: 20, reason: "Friend" }, manager)
    await shop.refused("403 OVERRIDE_REQUIRED", "PATCH", item, { quantity: 2 }, manager)
    await shop.refused("403 OVERRIDE_REQUIRED", "PATCH", item, { quantity: 9 }, cashier)
    await shop.done("PATCH", item, { quantity: 11 }, cashier)
    const both = { unitPrice: 2, discountAmount: 1, reason: "x" }
    const [discount, price] = [await shop.override("discount"), await shop.override("price")]
    assert.strictEqual(code(await shop.withToken(discount.token, "PATCH", item, both)), "403 OVERRIDE_INVALID")
    assert.strictEqual((await shop.withToken(price.token, "PATCH", item, both)).status, 200)
    await shop.done("PATCH", item, { unitPrice: null, discountAmount: 0 })
    assert.deepStrictEqual(picked(await shop.read(path), "items.0.isCustomPrice", "total"), [false, 11_000])
    for (const wrong of [{ unitPrice: 1_000_000_000_000, quantity: 9_999 }, { discountAmount: 11_001, reason: "x" }]) {
      await shop.refused("422 CHECKOUT_FAILED", "PATCH", item, wrong)
    }
  })

  it("keep what they are once the sale is completed, voided or held", async () => {
    const completed = await shop.sold(till)
    const [held, voided] = [await shop.sale(till), await shop.sale(till)]
    await shop.done("POST", `${held.path}/hold`, { label: "later" })
    await shop.done("POST", `${voided.path}/void`, { reason: "test" })
    for (const { entityId, itemId, path } of [completed, held, voided]) {
      await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/items`, { entityId })
      await shop.refused("422 INVALID_TRANSITION", "PATCH", `${path}/items/${itemId}`, { quantity: 2 })
      await shop.refused("422 INVALID_TRANSITION", "DELETE", `${path}/items/${itemId}`)
      await shop.refused("422 INVALID_TRANSITION", "POST", `${path}/payments`, { method: "cash", amount: 1 })
    }
  })
})
