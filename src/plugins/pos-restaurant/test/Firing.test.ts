import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { cashier, manager } from "../../pos/test/TillShop.ts"
import { columns, type KitchenShop, openKitchen } from "./KitchenShop.ts"

let shop: KitchenShop
beforeAll(async () => {
  shop = await openKitchen()
})
afterAll(() => shop.close())

/** A station, and a sale of units of what it cooks. */
const cooking = async (quantity = 1, body: object = {}) => {
  const food = shop.group()
  const [at, station, entityId] = [
    await shop.till({}, 10_000, cashier),
    await shop.station([food]),
    await shop.dish(food)
  ]
  const sale = await shop.order(at, [{ entityId, quantity }], body)
  const [itemId = ""] = sale.items
  const itemPath = `/pos${sale.path}/items/${itemId}`
  return { at, station, entityId, sale, itemId, itemPath, units: () => shop.unitsOf(itemId) }
}
const types = (of: Awaited<ReturnType<KitchenShop["fire"]>>) =>
  columns(of.list("data.tickets"), "type", "items.0.quantity", "items.0.cancelledQuantity")

describe("firing a sale", () => {
  it("makes a ticket for each station that cooks an item group, with numbers of its day", async () => {
    const [food, drinks] = [shop.group(), shop.group()]
    const [grill, pass, bar] = [await shop.station([food]), await shop.station([food]), await shop.station([drinks])]
    const at = await shop.till()
    const [steak, beer, vase] = [await shop.dish(food), await shop.dish(drinks), await shop.product()]
    const table = await shop.table()
    const sale = await shop.order(at, [
      { entityId: steak, quantity: 2, notes: "Rare", course: 2, seat: 3 },
      { entityId: beer },
      { entityId: vase }
    ])
    await shop.done("POST", `${table.path}/assign`, { transactionId: sale.id })
    const fired = await shop.fire(sale.id, { comments: "Birthday" })
    assert.deepStrictEqual(columns(fired.list("data.unrouted"), "lineId", "quantity"), [[sale.items[2], 1]])
    const names = ["type", "status", "tableNumber", "orderType", "ticketNumber", "transactionId", "comments"]
    const expected = ["new_order", "pending", table.number, "dine_in", "KDS-0001", sale.id, "Birthday"]
    assert.deepStrictEqual(columns(fired.list("data.tickets"), ...names), [expected, expected, expected])
    for (const one of [grill, pass]) {
      const item = ["quantity", "notes", "seat", "courseName", "coursePriority", "showCourseLabel"]
      const shown = columns(await shop.tickets(one), ...item.map((name) => `items.0.${name}`))
      assert.deepStrictEqual(shown, [[2, "Rare", 3, "Course 2", 2, true]])
    }
    assert.lengthOf(await shop.tickets(bar), 1)
    assert.deepStrictEqual((await shop.fire(sale.id)).at("data.tickets"), [])
    await shop.refused("404 NOT_FOUND", "POST", "/kds/tickets/fire", { transactionId: at.shiftId })
  })

  it("sends the difference of lines that were changed, and one course alone", async () => {
    const { entityId, itemPath, sale, station, units } = await cooking(2)
    assert.deepStrictEqual(types(await shop.fire(sale.id)), [["new_order", 2, 0]])
    await shop.core("PATCH", itemPath, { quantity: 5 })
    assert.deepStrictEqual(types(await shop.fire(sale.id)), [["modified", 3, 0]])
    await shop.core("PATCH", itemPath, { quantity: 1, reason: "x" })
    assert.deepStrictEqual(types(await shop.fire(sale.id)), [["partially_cancelled", 4, 4]])
    assert.deepStrictEqual(await units(), [1])
    await shop.core("DELETE", `${itemPath}?reason=x`)
    await shop.add(sale.salePath, { entityId, course: 2 })
    await shop.add(sale.salePath, { entityId, course: 3 })
    assert.deepStrictEqual(types(await shop.fire(sale.id, { course: 3 })), [["modified", 1, 0]])
    assert.deepStrictEqual(types(await shop.fire(sale.id)), [["modified", 1, 0], ["partially_cancelled", 1, 1]])
    const numbers = columns(await shop.tickets(station), "ticketNumber").flat()
    assert.sameMembers(numbers, ["KDS-0003", "KDS-0004", "KDS-0005", "KDS-0006"])
  })

  it("takes everything back of a voided sale, and fires what is left of a completed one", async () => {
    const voided = await cooking(2)
    await shop.fire(voided.sale.id)
    await shop.core("POST", `/pos${voided.sale.path}/void`, { reason: "x" })
    await waitFor("the cancellation", async () => (await voided.units())[0] === 0)
    const [only, ...others] = await shop.tickets(voided.station)
    assert.lengthOf(others, 0)
    assert.deepStrictEqual(columns([only], "type", "items.0.cancelledQuantity"), [["cancelled", 2]])
    const sold = await cooking(2)
    await shop.core("POST", `/pos${sold.sale.path}/hold`, { label: "x" })
    assert.deepStrictEqual(await sold.units(), [])
    await shop.core("POST", `/pos${sold.sale.path}/recall`, {})
    await shop.pay(sold.sale.path, 2_000)
    await shop.complete(sold.sale.path)
    await waitFor("the fire", async () => (await sold.units())[0] === 2)
  })

  it("sends nothing of a sale that a device made offline, which was cooked then", async () => {
    const { at, entityId, station } = await cooking()
    const { shiftId } = at
    const payments = [{ method: "cash", amount: 1_000 }]
    const offline = {
      id: "offline-1",
      shiftId,
      at: new Date().toISOString(),
      items: [{ entityId, quantity: 1 }],
      payments
    }
    const answer = await shop.core("POST", "/pos/sync", { sales: [offline] })
    assert.strictEqual(answer.at("data.0.status"), "ok", JSON.stringify(answer.body))
    const handled = () =>
      shop.query(
        `select 1 from commerce_jobs where task_slug = 'pos-restaurant/on/pos.completed' and status = 'succeeded'
          and input::text like '%' || $1 || '%'`,
        [answer.text("data.0.transaction.id")]
      )
    await waitFor("the event", async () => (await handled()).length === 1)
    assert.deepStrictEqual(await shop.tickets(station), [])
  })

  it("sends each unit once when it is asked for eight times at once", async () => {
    const { sale, units } = await cooking(3)
    const answers = await Promise.all(Array.from({ length: 8 }, () => shop.fire(sale.id)))
    assert.lengthOf(answers.flatMap((one) => one.list("data.tickets")), 1)
    assert.deepStrictEqual(await units(), [3])
  })

  it("is not lost nor doubled when the event of a completed sale fails at first", async () => {
    const { sale, station, units } = await cooking(2)
    await shop.query(`create function fail_once() returns trigger language plpgsql as $$ begin
      if nextval('failures') = 1 then raise exception 'away'; end if; return new; end $$`)
    await shop.query("create sequence failures")
    await shop.query("create trigger once after insert on kds_ticket_items for each row execute function fail_once()")
    await shop.pay(sale.path, 2_000)
    await shop.complete(sale.path)
    await waitFor("the retry", async () => (await units())[0] === 2)
    await shop.query("drop trigger once on kds_ticket_items")
    assert.lengthOf(await shop.tickets(station), 1)
    assert.deepStrictEqual((await shop.fire(sale.id)).at("data.tickets"), [])
  })
})

describe("a fired line", () => {
  it("is lowered or removed with a reason by who may, and keeps its metadata", async () => {
    const { itemPath, sale } = await cooking(2)
    const ask = (method: string, path: string, body?: object, as = cashier) => shop.ask(method, path, body, as)
    const code = async (answer: ReturnType<typeof ask>) =>
      `${(await answer).status} ${String((await answer).at("error.code"))}`
    assert.strictEqual((await ask("PATCH", itemPath, { quantity: 1 })).status, 200)
    await shop.fire(sale.id)
    assert.strictEqual(await code(ask("PATCH", itemPath, { metadata: { a: 1 } })), "409 CONFLICT")
    assert.strictEqual(await code(ask("DELETE", itemPath)), "422 VALIDATION_FAILED")
    assert.strictEqual(await code(ask("DELETE", `${itemPath}?reason=x`)), "403 OVERRIDE_REQUIRED")
    const { token } = await shop.override("fired")
    assert.strictEqual((await ask("PATCH", itemPath, { quantity: 3 })).status, 200)
    assert.strictEqual((await ask("PATCH", itemPath, { quantity: 1 })).status, 200)
    assert.strictEqual((await shop.withToken(token, "DELETE", `${itemPath.slice(4)}?reason=x`)).status, 200)
    const other = await cooking(2)
    await shop.fire(other.sale.id)
    assert.strictEqual((await ask("PATCH", other.itemPath, { quantity: 1, reason: "x" }, manager)).status, 200)
  })

  it("stays fired over a split in three and a merge", async () => {
    const { itemId, sale, station } = await cooking(5)
    await shop.fire(sale.id)
    await shop.core("PATCH", `/pos${sale.path}/items/${itemId}`, { quantity: 6 })
    const part = (quantity: number) => ({ items: [{ itemId, quantity }] })
    const split = await shop.core("POST", `/pos${sale.path}/split`, { parts: [part(3), part(1)] })
    const bills = columns(split.list("data.transactions"), "id", "items.0.id")
    const units = async () => (await Promise.all(bills.map(([, line]) => shop.unitsOf(String(line))))).flat()
    assert.deepStrictEqual(await units(), [1, 3, 1])
    await shop.core("POST", `/pos/transactions/${bills[1]?.[0]}/merge`, { from: bills[2]?.[0] })
    assert.deepStrictEqual(await units(), [1, 4])
    const fired = [await shop.fire(sale.id), await shop.fire(String(bills[1]?.[0]))]
    assert.deepStrictEqual(fired.map(types), [[["modified", 1, 0]], []])
    assert.lengthOf(await shop.tickets(station), 2)
  })

  it("is not lowered without approval by a change that began before it was fired", async () => {
    for (let turn = 0; turn < 8; turn++) {
      const { itemPath, sale, units } = await cooking(2)
      const [lowered] = await Promise.all([
        shop.ask("PATCH", itemPath, { quantity: 1 }, cashier),
        shop.fire(sale.id)
      ])
      assert.deepStrictEqual(await units(), [lowered.status === 200 ? 1 : 2])
    }
  })

  it("is split, and merged again, while it is fired", async () => {
    for (let turn = 0; turn < 3; turn++) {
      const { itemId, sale } = await cooking(2)
      const parts = [{ items: [{ itemId, quantity: 1 }] }]
      const [split] = await Promise.all([
        shop.ask("POST", `/pos${sale.path}/split`, { parts }, cashier),
        shop.fire(sale.id)
      ])
      assert.strictEqual(split.status, 201, JSON.stringify(split.body))
      const part = split.text("data.transactions.1.id")
      const [merged] = await Promise.all([
        shop.ask("POST", `/pos${sale.path}/merge`, { from: part }, cashier),
        shop.fire(part)
      ])
      assert.strictEqual(merged.status, 201, JSON.stringify(merged.body))
    }
  })
})
