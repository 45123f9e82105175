import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { at } from "../../../../test/support/TestApp.ts"
import { type KitchenShop, openKitchen } from "./KitchenShop.ts"

let shop: KitchenShop
beforeAll(async () => {
  shop = await openKitchen()
})
afterAll(() => shop.close())

/** Numbers that are the same in every run. */
const random = (seed: number) => () => (seed = seed * 1_103_515_245 + 12_345 & 0x7f_ff_ff_ff) / 0x80_00_00_00

describe("four waiters at one table", () => {
  it.each([1, 2])(
    "leave what kitchens have equal to what is ordered, over splits and a merge (%d)",
    async (seed) => {
      const [food, drinks] = [shop.group(), shop.group()]
      for (const groups of [[food], [food, drinks], [drinks]]) await shop.station(groups)
      const till = await shop.till()
      const dishes = await Promise.all([food, food, drinks, drinks].map((one) => shop.dish(one)))
      const sale = await shop.order(till, dishes.map((entityId) => ({ entityId, quantity: 6 })))
      const waiter = async (nth: number) => {
        const next = random(seed * 10 + nth)
        const pick = <A>(all: ReadonlyArray<A>) => all[Math.floor(next() * all.length)]
        for (let turn = 0; turn < 6; turn++) {
          const item = `/pos${sale.path}/items/${String(pick(sale.items))}`
          const kind = next()
          if (kind < 0.4) await shop.fire(sale.id)
          else if (kind < 0.85) await shop.ask("PATCH", item, { quantity: 3 + Math.floor(next() * 8), reason: "x" })
          else if (kind < 0.9) await shop.ask("DELETE", `${item}?reason=x`)
          else await shop.ask("POST", `/pos${sale.path}/items`, { entityId: pick(dishes) })
        }
      }
      await Promise.all([1, 2, 3, 4].map(waiter))
      const linesOf = async (path: string) => (await shop.core("GET", `/pos${path}`)).list("data.items")
      const more = [0, 1].map((nth) => shop.add(sale.path, { entityId: dishes[nth], quantity: 3, seat: 9 }))
      const [first, second] = (await Promise.all(more)).map((item) => item.text("data.id"))
      const one = [{ itemId: first, quantity: 1 }]
      const parts = [{ items: [...one, { itemId: second, quantity: 2 }] }, { items: one }]
      const [split] = await Promise.all([
        shop.core("POST", `/pos${sale.path}/split`, { parts }),
        shop.fire(sale.id)
      ])
      const bills = split.list("data.transactions").map((bill) => String(at(bill, "id")))
      await Promise.all(bills.map((id) => shop.fire(id)))
      await shop.core("POST", `/pos/transactions/${bills[1]}/merge`, { from: bills[2] })
      for (const id of bills) await shop.fire(id)
      const open = (await Promise.all(bills.slice(0, 2).map((id) => linesOf(`/transactions/${id}`)))).flat()
      const ordered = new Map(open.map((line) => [String(at(line, "id")), at(line, "quantity")]))
      const cooked = await shop.query(
        `select line_id::text as id, sum(quantity - cancelled_quantity)::int as units from kds_ticket_items
          where entity_id = any($1::uuid[]) group by line_id, station_id`,
        [dishes]
      )
      for (const row of cooked) assert.strictEqual(at(row, "units"), ordered.get(String(at(row, "id"))) ?? 0)
      for (const id of ordered.keys()) assert.isTrue(cooked.some((row) => at(row, "id") === id))
    }
  )
})
