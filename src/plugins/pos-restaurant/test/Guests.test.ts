import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { inHeldTransaction } from "../../../../test/support/HeldTransaction.ts"
import { openRestaurant, type RestaurantShop } from "./RestaurantShop.ts"

/** contract-tills-channels B (28, 38): a service charge from six guests on shows what a bill is priced with. */
describe("the guests of a bill", () => {
  let shop: RestaurantShop
  let till: Awaited<ReturnType<RestaurantShop["till"]>>
  beforeAll(async () => {
    shop = await openRestaurant({ serviceCharge: { percent: 10, fromGuests: 6 } })
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const total = async (path: string) => (await shop.read(path)).at("data.total")
  const assign = (path: string, transactionId: string, guests: number) =>
    shop.done("POST", `${path}/assign`, { transactionId, guests })

  it("count for its prices when they come, are more, or leave, at all of its tables", async () => {
    const { id, path, table } = await shop.seated(till, { guests: 6, orderType: "dine_in" })
    assert.strictEqual(await total(path), 1_100)
    await assign(table.path, id, 5)
    assert.strictEqual(await total(path), 1_000)
    const second = await shop.table()
    await assign(second.path, id, 1)
    assert.strictEqual(await total(path), 1_100)
    await shop.done("POST", `${second.path}/leave`)
    assert.strictEqual(await total(path), 1_000)
    await shop.done("POST", `${second.path}/clear`)
    await assign(second.path, id, 3)
    await shop.done("POST", `${second.path}/clear`)
    assert.strictEqual(await total(path), 1_000)
    await shop.tills.done("POST", `${path}/hold`, { label: "x" })
    // A held sale is priced when it is open again.
    await assign(table.path, id, 9)
    await shop.tills.done("POST", `${path}/recall`, {})
    await shop.add(path, { entityId: await shop.product({ price: 500 }) })
    assert.strictEqual(await total(path), 1_650)
  })

  it("are those of all parts of a split bill, and of what was merged into it", async () => {
    const { entityId, id, path, table } = await shop.seated(till, { guests: 6, orderType: "dine_in" })
    const more = await shop.add(path, { entityId, notes: "x" })
    const parts = [{ items: [{ itemId: more.text("data.id"), quantity: 1 }] }]
    const split = await shop.tills.done("POST", `${path}/split`, { parts })
    const part = `/transactions/${split.text("data.transactions.1.id")}`
    assert.deepStrictEqual([await total(path), await total(part)], [1_100, 1_100])
    await assign(table.path, id, 4)
    assert.deepStrictEqual([await total(path), await total(part)], [1_000, 1_000])
    const other = await shop.seated(till, { guests: 2, orderType: "dine_in" })
    const merged = await shop.tills.done("POST", `${other.path}/merge`, { from: id })
    assert.strictEqual(merged.at("data.total"), 2_200)
    // Guests whose goods stayed at the first table do not count at the second one.
    const third = await shop.seated(till, { guests: 5, orderType: "dine_in" })
    await shop.tills.done("POST", `${third.path}/merge`, { from: part.split("/")[2] })
    assert.strictEqual(await total(third.path), 2_000)
  })

  it("sit down before the end of their sale, or not at all", async () => {
    const [sale, table] = [await shop.sale(till), await shop.table()]
    await shop.pay(sale.path, 1_000)
    const { serviceRegistry, tables } = shop.app
    const locked = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' " +
      "and wait_event in ('relation', 'tuple', 'transactionid')"
    const waiting = (count: number) => expect.poll(() => shop.query(locked), { timeout: 60_000 }).toHaveLength(count)
    // Holds the guests up between the look at their sale and their seat.
    const [seated, completed] = await serviceRegistry.run(
      inHeldTransaction(
        shop.app,
        Effect.gen(function*() {
          yield* tables.sql`lock table pos_table_assignments in share mode`
          const seating = shop.ask("POST", `/pos/restaurant${table.path}/assign`, { transactionId: sale.id })
          yield* Effect.promise(() => waiting(1))
          const completing = shop.complete(sale.path)
          yield* Effect.promise(() => waiting(2))
          return [seating, completing] as const
        })
      ).pipe(Effect.orDie)
    )
    assert.deepStrictEqual([(await seated).status, (await completed).status], [201, 201])
    await expect.poll(() => shop.stateOf(table.path), { timeout: 60_000 }).toBe("cleaning")
  })
})
