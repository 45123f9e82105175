import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cashier, manager } from "../../pos/test/TillShop.ts"
import { columns, type KitchenShop, openKitchen } from "./KitchenShop.ts"

describe("firing a sale", () => {
  let shop: KitchenShop
  beforeAll(async () => {
    shop = await openKitchen()
  }, 60_000)
  afterAll(() => shop.close())

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
    ], { orderType: "dine_in" })
    await shop.done("POST", `${table.path}/assign`, { transactionId: sale.id })
    const fired = await shop.fire(sale.id)
    assert.deepStrictEqual(columns(fired.list("data.unrouted"), "lineId", "quantity"), [[sale.items[2], 1]])
    const made = fired.list("data.tickets")
    const each = ["type", "status", "tableNumber", "orderType", "ticketNumber", "transactionId"]
    const expected = ["new_order", "pending", table.number, "dine_in", "KDS-0001", sale.id]
    assert.deepStrictEqual(columns(made, ...each), [expected, expected, expected])
    for (const one of [grill, pass]) {
      const item = ["quantity", "notes", "seat", "courseName", "coursePriority", "showCourseLabel"]
      assert.deepStrictEqual(columns(await shop.tickets(one), ...item.map((name) => `items.0.${name}`)), [
        [2, "Rare", 3, "Course 2", 2, true]
      ])
    }
    assert.lengthOf(await shop.tickets(bar), 1)
    const again = await shop.fire(sale.id)
    assert.deepStrictEqual(again.at("data.tickets"), [])
  })
})
void cashier
void manager
