import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

const open = ["scheduled", "paused", "failed"]

describe("a scheduled order that is changed, retried, stopped and released at the same time", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({
      holdGoods: "scheduling",
      maxHoldDays: 700,
      maxHeldUnits: 100_000,
      retryMinutes: [60, 60],
      slotMinutes: 60,
      slotCapacity: 1_000
    })
  })
  afterAll(() => shop.close())

  /** Every call eight times, for each order beginning with another one. */
  const storm = (ids: ReadonlyArray<string>) => {
    const post = (id: string, word: string, body?: object) =>
      shop.ask("POST", `/scheduled-orders/${id}/${word}`, body, ann)
    const calls: ReadonlyArray<(id: string, n: number) => Promise<{ readonly status: number }>> = [
      (id) => post(id, "retry", { paymentMethodId: "test" }),
      (id, n) => shop.ask("PATCH", `/scheduled-orders/${id}`, { scheduledFor: shop.inHours(3 + n / 10) }, ann),
      () => shop.ask("POST", "/scheduled-orders/process-due", { bufferMinutes: 400 }),
      (id) => post(id, "pause"),
      (id) => post(id, "resume"),
      (id) => post(id, "skip"),
      // The others may be completed.
      (id) => ids.indexOf(id) % 3 === 0 ? post(id, "cancel") : post(id, "resume")
    ]
    return Array.from(
      { length: 8 * calls.length },
      (_, n) => ids.map((id, i) => calls[(Math.floor(n / 8) + i) % calls.length]?.(id, n))
    ).flat()
  }

  it("makes one order if it is completed and none else, and leaves no goods held", async () => {
    const product = await shop.product({ stock: 1_000 })
    const carts: Array<string> = []
    for (const paymentMethodId of ["test", "test_decline"]) {
      const ids: Array<string> = []
      for (const everyDays of [null, 1, null, 1, null, 1, null]) {
        carts.push(await shop.cart(ann, product))
        const wish = shop.wish(carts.at(-1) ?? "", { everyDays, paymentMethodId })
        ids.push((await shop.done("POST", "", wish, ann)).text("data.id"))
      }
      if (paymentMethodId === "test_decline") shop.clock.advance("2 hours")
      if (paymentMethodId === "test_decline") await Promise.all(ids.map((id) => shop.due(id, "failed", 0)))
      const statuses = (await Promise.all(storm(ids))).map((answer) => answer?.status ?? 0)
      assert.isEmpty(statuses.filter((status) => ![201, 200, 409, 422].includes(status)))
    }
    await shop.done("POST", "/process-due", { bufferMinutes: 400 })
    for (const cartId of carts) {
      const left = await waitFor("the end of its orders", async () => {
        const rows = await shop.rows(`cartId=${cartId}`)
        // A job may take one up meanwhile, which is refused then and asked again.
        for (const { id, status } of rows) {
          if (open.includes(status)) await shop.ask("POST", `/scheduled-orders/${id}/cancel`, undefined, ann)
        }
        return rows.every(({ status }) => ["cancelled", "completed"].includes(status)) && rows
      })
      for (const { id, status } of left) {
        const made = await shop.db.query(
          "select 1 from orders where status <> 'cancelled' and metadata->>'scheduledOrderId' = $1",
          [id]
        )
        assert.lengthOf(made, status === "completed" ? 1 : 0)
      }
    }
    const [stock] = await shop.db.query(
      `select sum(reserved)::int as reserved, (select count(*)::int from orders where status <> 'cancelled') as sold
        from stock_levels where entity_id = $1::uuid`,
      [product]
    )
    assert.strictEqual(stock?.["reserved"], stock?.["sold"])
    assert.isAbove(Number(stock?.["sold"]), 0)
  })
})
