import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type MenuShop, openMenu } from "./MenuShop.ts"

const zurich = {
  line1: "1 Lake St",
  city: "Zurich",
  postalCode: "8001",
  country: "CH"
}

describe("taxes and service of a restaurant", () => {
  let shop: MenuShop
  beforeAll(async () => {
    shop = await openMenu({ serviceCharge: { percent: 12.5, fromGuests: 6 }, shortage: "block" }, {
      tax: { pricesIncludeTax: true }
    })
    await shop.tills.core("POST", "/tax/rates", { name: "VAT", country: "CH", rateBps: 2_000 })
    const reduced = await shop.tills.core("POST", "/tax/classes", { name: "reduced", rateBps: 500 })
    const rate = { name: "Food", country: "CH", rateBps: 500, taxClassId: reduced.text("data.id") }
    await shop.tills.core("POST", "/tax/rates", rate)
  })
  afterAll(() => shop.close())

  /** A dish for 21.00, tax included. */
  const taxed = async () => {
    const entityId = await shop.product({ price: 2_100 })
    await shop.tills.core("PATCH", `/catalog/entities/${entityId}`, {
      metadata: { taxClassTakeaway: "reduced" }
    })
    return entityId
  }

  it("taxes food to take away by its other class at the same price", async () => {
    const entityId = await taxed()
    const till = await shop.till({ address: zurich })
    const sold = async (orderType: string) => {
      const { path } = await shop.start(till, { orderType })
      await shop.add(path, { entityId, quantity: 1 })
      const { at } = await shop.settle(path)
      return [at("data.transaction.total"), at("data.transaction.taxTotal")]
    }
    assert.deepStrictEqual(await sold("dine_in"), [2_100, 350])
    assert.deepStrictEqual(await sold("takeaway"), [2_100, 100])
    assert.deepStrictEqual(await sold("delivery"), [2_100, 100])
  })

  it("charges large tables for service, taxed as what they had", async () => {
    const till = await shop.till({ address: zurich })
    const entityId = await taxed()
    const bill = async (guests: number) => {
      const { path, id } = await shop.start(till, { orderType: "dine_in" })
      const table = await shop.table()
      const seat = "insert into pos_table_assignments (id, table_id, transaction_id, guests, seated_at) " +
        "values (gen_random_uuid(), $1, $2, $3, now())"
      await shop.query(seat, [table.tableId, id, guests])
      await shop.add(path, { entityId, quantity: 2 })
      const { at } = await shop.settle(path)
      return [at("data.transaction.total"), at("data.transaction.taxTotal")]
    }
    assert.deepStrictEqual(await bill(5), [4_200, 700])
    assert.deepStrictEqual(await bill(6), [4_725, 788])
  })

  it("eats in and charges service once a sale of the counter has a table", async () => {
    const { path, id } = await shop.start(await shop.till({ address: zurich }))
    await shop.add(path, { entityId: await taxed(), quantity: 2 })
    const table = await shop.table()
    await shop.done("POST", `${table.path}/assign`, { transactionId: id, guests: 6 })
    const seated = await shop.tills.read(path)
    assert.deepStrictEqual([seated.at("data.orderType"), seated.at("data.total")], ["dine_in", 4_725])
  })

  it("cooks nothing for which ingredients are missing, where that is blocked", async () => {
    const [entityId, flour] = [await shop.routed(), await shop.product({ stock: 1_000 })]
    const ingredients = [{ ingredientName: "Flour", quantity: 600, entityId: flour }]
    await shop.done("POST", "/recipes", { entityId, name: "Bread", ingredients })
    const sale = await shop.start(await shop.till())
    const item = await shop.add(sale.path, { entityId, quantity: 2 })
    const fire = { transactionId: sale.id }
    const refused = await shop.refused("422 VALIDATION_FAILED", "POST", "/kds/tickets/fire", fire)
    assert.match(refused.text("error.message"), /more than the kitchen has of Flour/)
    await shop.core("PATCH", `/pos${sale.path}/items/${item.text("data.id")}`, { quantity: 1 })
    assert.lengthOf((await shop.fire(sale.id)).list("data.tickets"), 1)
  })
})
