import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { cashier, code, manager, outsider } from "../../pos/test/TillShop.ts"
import { openRestaurant, type RestaurantShop } from "./RestaurantShop.ts"

/** contract-plugins §3, contract-tills-channels B (28). */
describe("tables of a restaurant", () => {
  let shop: RestaurantShop
  let till: Awaited<ReturnType<RestaurantShop["till"]>>
  beforeAll(async () => {
    shop = await openRestaurant()
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const assign = (path: string, transactionId: string, body: object = {}) =>
    shop.ask("POST", `/pos/restaurant${path}/assign`, { transactionId, ...body })
  const post = (path: string, body?: object) => shop.ask("POST", `/pos/restaurant${path}`, body)
  const finish = async (path: string) => {
    await shop.tills.pay(path, (await shop.read(path)).number("data.amountDue"))
    await shop.complete(path)
  }
  const becomes = (path: string, status: string) =>
    expect.poll(() => shop.stateOf(path), { timeout: 60_000 }).toBe(status)
  /** A state that stays what it is is looked at once a later event of another sale was handled. */
  const settled = async () => {
    const other = await shop.seated(till)
    await finish(other.path)
    await becomes(other.table.path, "cleaning")
  }

  it("are listed by number, by zone and in pages, and moved on the plan", async () => {
    const zone = randomUUID()
    const second = await shop.table({ zone, number: "B2", capacity: 2, shape: "circle" })
    const first = await shop.table({ zone, number: "B1" })
    const listed = await shop.done("GET", `/tables?zone=${zone}`, undefined, cashier)
    assert.deepStrictEqual([listed.at("data.0.number"), listed.at("data.1.number")], ["B1", "B2"])
    assert.strictEqual((await shop.done("GET", `/tables?zone=${zone}&limit=1`)).at("meta.pagination.total"), 2)
    assert.deepInclude((await shop.done("GET", "/tables/zones", undefined, cashier)).list("data"), { zone, count: 2 })
    const moved = await shop.done("PATCH", `${first.path}/layout`, { layoutX: 40, layoutHeight: 80 })
    assert.deepStrictEqual([moved.at("data.layoutX"), moved.at("data.layoutHeight"), moved.at("data.layoutY")], [
      40,
      80,
      0
    ])
    const changed = await shop.done("PATCH", second.path, { assignedOperatorId: "nora", capacity: 6 })
    assert.strictEqual(changed.at("data.assignedOperatorId"), "nora")
    const cleared = await shop.done("PATCH", second.path, { assignedOperatorId: null })
    assert.deepStrictEqual([cleared.at("data.assignedOperatorId"), cleared.at("data.capacity")], [null, 6])
    await shop.refused("409 CONFLICT", "POST", "/tables", { number: "B1", zone })
    await shop.refused("422 VALIDATION_FAILED", "POST", "/tables", { number: "B9", zone, capacity: 101 })
    await shop.refused("422 VALIDATION_FAILED", "PATCH", first.path, { status: "cleaning" })
    await shop.refused("404 NOT_FOUND", "GET", first.path, undefined, outsider)
    await shop.refused("404 NOT_FOUND", "POST", `${first.path}/clear`, undefined, outsider)
  })

  it("seat guests, take the bill, are left, cleaned and cleared", async () => {
    const { id, table } = await shop.seated(till, { guests: 4 })
    const shown = await shop.done("GET", table.path)
    assert.deepStrictEqual(
      [shown.at("data.status"), shown.at("data.assignment.transactionId"), shown.at("data.assignment.guests")],
      ["occupied", id, 4]
    )
    assert.strictEqual(code(await post(`${table.path}/bill`)), "201 undefined")
    assert.strictEqual(await shop.stateOf(table.path), "bill_requested")
    assert.strictEqual(code(await post(`${table.path}/bill`)), "422 INVALID_TRANSITION")
    const left = await shop.done("POST", `${table.path}/leave`)
    assert.deepStrictEqual([left.at("data.status"), left.at("data.assignment")], ["cleaning", null])
    assert.strictEqual(code(await post(`${table.path}/leave`)), "422 INVALID_TRANSITION")
    await shop.done("POST", `${table.path}/clear`)
    assert.strictEqual((await shop.done("POST", `${table.path}/clear`)).at("data.status"), "available")
    const [row] = await shop.query("select left_at from pos_table_assignments where transaction_id = $1", [id])
    assert.isNotNull(row?.["left_at"])
  })

  it("take one sale at a time, and only one that has not ended", async () => {
    const { id, path, table } = await shop.seated(till)
    const other = await shop.sale(till)
    assert.strictEqual(code(await assign(table.path, other.id)), "422 INVALID_TRANSITION")
    assert.strictEqual((await assign(table.path, id, { guests: 7 })).at("data.guests"), 7)
    const second = await shop.table()
    assert.strictEqual((await assign(second.path, id)).status, 201)
    await finish(path)
    assert.strictEqual(code(await assign((await shop.table()).path, id)), "422 INVALID_TRANSITION")
    assert.strictEqual(code(await assign((await shop.table()).path, randomUUID())), "404 NOT_FOUND")
    assert.strictEqual(code(await assign(`/tables/${randomUUID()}`, other.id)), "404 NOT_FOUND")
    await becomes(table.path, "cleaning")
    await becomes(second.path, "cleaning")
  })

  it("are to be cleaned once the last part of a split bill is paid or voided", async () => {
    const { itemId, path, table, ...sale } = await shop.seated(till)
    const more = await shop.add(path, { entityId: sale.entityId, quantity: 2, notes: "x" })
    const items = [{ itemId: more.text("data.id"), quantity: 1 }]
    const split = await shop.tills.done("POST", `${path}/split`, { parts: [{ items }] })
    const part = `/transactions/${split.text("data.transactions.1.id")}`
    const again = await shop.read(part)
    const deeper = await shop.tills.done("POST", `${part}/split`, {
      parts: [{ items: [{ itemId: again.text("data.items.0.id"), quantity: 1 }] }]
    })
    await finish(path)
    await settled()
    assert.strictEqual(await shop.stateOf(table.path), "occupied")
    await finish(`/transactions/${deeper.text("data.transactions.1.id")}`)
    await settled()
    assert.strictEqual(await shop.stateOf(table.path), "occupied")
    await shop.tills.done("POST", `${part}/void`, { reason: "x" })
    await becomes(table.path, "cleaning")
    assert.isString(itemId)
  })

  it("stay occupied while the sale that theirs was merged into is open", async () => {
    const [one, other] = [await shop.seated(till), await shop.seated(till)]
    const merged = await shop.tills.done("POST", `${other.path}/merge`, { from: one.id })
    assert.strictEqual(merged.at("data.items.1.quantity"), 1)
    assert.strictEqual((await shop.read(one.path)).at("data.mergedIntoId"), other.id)
    await settled()
    assert.strictEqual(await shop.stateOf(one.table.path), "occupied")
    await finish(other.path)
    await becomes(one.table.path, "cleaning")
    await becomes(other.table.path, "cleaning")
  })

  it("are changed by guests within their zone, since when they sit stays", async () => {
    const zone = randomUUID()
    const { id, table } = await shop.seated(till, { guests: 3, zone })
    const [free, elsewhere] = [await shop.table({ zone }), await shop.table()]
    const to = (tableId: string) => post(`${table.path}/transfer`, { toTableId: tableId })
    assert.strictEqual(code(await to(elsewhere.tableId)), "409 CONFLICT")
    assert.strictEqual(code(await to(table.tableId)), "409 CONFLICT")
    assert.strictEqual(code(await to(randomUUID())), "404 NOT_FOUND")
    const before = await shop.done("GET", table.path)
    const done = await to(free.tableId)
    assert.deepStrictEqual([done.at("data.from.status"), done.at("data.to.status")], ["available", "occupied"])
    for (const field of ["seatedAt", "guests", "transactionId"]) {
      assert.strictEqual(done.at(`data.to.assignment.${field}`), before.at(`data.assignment.${field}`))
    }
    assert.strictEqual(done.at("data.to.assignment.transactionId"), id)
    assert.strictEqual(code(await to(free.tableId)), "422 INVALID_TRANSITION")
  })

  it("seat no more guests than they have seats, unless a manager says so", async () => {
    const [zone, { id }] = [randomUUID(), await shop.sale(till)]
    const [large, small] = [await shop.table({ zone, capacity: 6 }), await shop.table({ zone, capacity: 2 })]
    const seat = (path: string, guests: number, as = cashier) =>
      shop.ask("POST", `/pos/restaurant${path}/assign`, { transactionId: id, guests }, as)
    assert.strictEqual(code(await seat(small.path, 3)), "422 VALIDATION_FAILED")
    assert.strictEqual((await seat(large.path, 6)).status, 201)
    assert.strictEqual(code(await seat(large.path, 7)), "422 VALIDATION_FAILED")
    await shop.refused("422 VALIDATION_FAILED", "POST", `${large.path}/transfer`, { toTableId: small.tableId }, cashier)
    assert.deepStrictEqual([await shop.stateOf(large.path), await shop.stateOf(small.path)], ["occupied", "available"])
    assert.strictEqual((await seat(large.path, 7, manager)).status, 201)
  })

  it("are transferred one way when two are at once", async () => {
    for (let round = 0; round < 5; round++) {
      const zone = randomUUID()
      const [one, other] = [await shop.seated(till, { zone }), await shop.seated(till, { zone })]
      const free = await shop.table({ zone })
      const answers = await Promise.all([
        post(`${one.table.path}/transfer`, { toTableId: other.table.tableId }),
        post(`${other.table.path}/transfer`, { toTableId: one.table.tableId }),
        post(`${one.table.path}/transfer`, { toTableId: free.tableId }),
        post(`${other.table.path}/transfer`, { toTableId: free.tableId })
      ])
      for (const { status } of answers) assert.include([201, 422], status)
      const seated = await shop.query(
        `select a.transaction_id from pos_table_assignments a join pos_tables t on t.id = a.table_id
          where t.zone = $1 and a.left_at is null and t.status = 'occupied'`,
        [zone]
      )
      assert.sameMembers(seated.map((row) => row["transaction_id"]), [one.id, other.id])
    }
  })

  it("are given to one of several waiters at once", async () => {
    const table = await shop.table()
    const sales = await Promise.all([1, 2, 3, 4].map(() => shop.sale(till)))
    const answers = await Promise.all(sales.map(({ id }) => assign(table.path, id)))
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422])
    const rows = await shop.query("select 1 from pos_table_assignments where table_id = $1", [table.tableId])
    assert.lengthOf(rows, 1)
  })

  it("are never left with guests whose sale completed while they sat down", async () => {
    for (let round = 0; round < 5; round++) {
      const sale = await shop.sale(till, 1_000, 1, { orderType: "dine_in" })
      const table = await shop.table()
      await shop.pay(sale.path, 1_000)
      const [seated] = await Promise.all([assign(table.path, sale.id), shop.complete(sale.path)])
      assert.include([201, 422], seated.status)
      await becomes(table.path, seated.status === 201 ? "cleaning" : "available")
    }
  })
})
