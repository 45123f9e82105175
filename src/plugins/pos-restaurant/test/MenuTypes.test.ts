import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type MenuShop, openMenu } from "./MenuShop.ts"

describe("a menu of some types of entities", () => {
  let shop: MenuShop
  beforeAll(async () => {
    shop = await openMenu({ types: ["dish"] })
  })
  afterAll(() => shop.close())

  it("limits what is of these types, and leaves the rest of the store alone", async () => {
    const { core } = shop.tills
    const made = await core("POST", "/catalog/entities", {
      type: "dish",
      slug: "soup",
      status: "active",
      manageInventory: false
    })
    const soup = made.text("data.id")
    await core("POST", "/pricing/prices", { entityId: soup, currency: "USD", amount: 900 })
    const [beans] = [await shop.product({ price: 500 })]
    await shop.menu(soup, { isAvailable: true, remaining: 1 })
    await shop.menu(beans, { isAvailable: false })
    assert.strictEqual((await shop.ordered(beans)).status, 201)
    assert.strictEqual((await shop.ordered(soup)).status, 201)
    assert.deepStrictEqual(await shop.left(soup), { isAvailable: false, remaining: 0 })
  })

  it("does not let a shopper name the sale of a till", async () => {
    const till = await shop.till()
    const food = shop.group()
    await shop.station([food])
    const made = await shop.tills.core("POST", "/catalog/entities", {
      type: "dish",
      slug: "stew",
      status: "active",
      manageInventory: false,
      metadata: { itemGroup: food }
    })
    const stew = made.text("data.id")
    await shop.tills.core("POST", "/pricing/prices", { entityId: stew, currency: "USD", amount: 900 })
    const sale = await shop.start(till)
    await shop.add(sale.path, { entityId: stew, quantity: 1 })
    await shop.fire(sale.id)
    const basket = await shop.cart({ posTransactionId: sale.id })
    assert.isBelow((await basket.add(stew)).status, 300)
    await shop.menu(stew, { isAvailable: false })
    const refused = await basket.checkout()
    assert.deepStrictEqual([refused.status, refused.at("error.code")], [422, "CHECKOUT_FAILED"])
    // The guests who have it can pay.
    assert.strictEqual((await shop.settle(sale.path)).status, 201)
  })
})
