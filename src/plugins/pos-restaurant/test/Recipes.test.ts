import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { outsider } from "../../pos/test/TillShop.ts"
import { type MenuShop, openMenu } from "./MenuShop.ts"

describe("recipes", () => {
  let shop: MenuShop
  beforeAll(async () => {
    shop = await openMenu()
  })
  afterAll(() => shop.close())

  /** Two of a dish take 250 of 1000 g flour and an egg that is in no stock. */
  const baked = async (body: object = {}) => {
    const [entityId, flour] = [await shop.product({ stock: 50 }), await shop.product({ stock: 1_000 })]
    const made = await shop.done("POST", "/recipes", {
      entityId,
      name: "Bread",
      yieldQuantity: 2,
      ingredients: [
        { ingredientName: "Flour", quantity: 250, unit: "g", costPerUnit: 2, entityId: flour },
        { ingredientName: "Egg", quantity: 1, unit: "piece", costPerUnit: 31 }
      ],
      ...body
    })
    const has = async () => (await shop.stock(flour)).onHand
    return { entityId, flour, has, id: made.text("data.id"), made }
  }
  const becomes = (read: () => Promise<unknown>, value: unknown) =>
    waitFor(`it to be ${String(value)}`, async () => (await read()) === value)
  const sell = async (entityId: string, quantity: number, metadata: object = {}) => {
    const { path } = await shop.start(await shop.till())
    await shop.add(path, { entityId, quantity, metadata })
    return shop.settle(path)
  }

  it("say what a unit costs, and change with their ingredients", async () => {
    const { entityId, id, made } = await baked()
    assert.deepStrictEqual([made.at("data.totalCost"), made.at("data.costPerUnit")], [531, 266])
    const changed = await shop.done("PATCH", `/recipes/${id}`, {
      yieldQuantity: 1,
      ingredients: [{ ingredientName: "Rye", quantity: 3, costPerUnit: 7 }]
    })
    assert.deepStrictEqual([changed.at("data.costPerUnit"), changed.at("data.ingredients.0.unit")], [21, "g"])
    const listed = await shop.done("GET", `/recipes?entityId=${entityId}`)
    assert.deepStrictEqual([listed.at("data.length"), listed.at("data.0.id")], [1, id])
    const again = { entityId, name: "Other", ingredients: [{ ingredientName: "Rye", quantity: 1 }] }
    await shop.refused("409 CONFLICT", "POST", "/recipes", again)
    await shop.refused("404 NOT_FOUND", "PATCH", `/recipes/${id}`, { name: "X" }, outsider)
    await shop.done("DELETE", `/recipes/${id}`)
    await shop.refused("404 NOT_FOUND", "GET", `/recipes/${id}`)
  })

  it("take their ingredients from stock once, for tills and orders online", async () => {
    const { entityId, has } = await baked()
    const { at } = await sell(entityId, 2)
    await becomes(has, 750)
    await shop.ordered(entityId, {}, 1)
    await becomes(has, 625)
    const used =
      "select units from pos_used_ingredients u join order_lines l on l.id = u.line_id where l.entity_id = $1 order by 1"
    assert.deepStrictEqual(await shop.query(used, [entityId]), [{ units: 1 }, { units: 2 }])
    await shop.tills.core("POST", `/orders/${String(at("data.transaction.orderId"))}/refunds`, { reason: "cold" })
    assert.strictEqual(await has(), 625)
  })

  it("give them back when an order is cancelled before it is cooked", async () => {
    const { entityId, has } = await baked()
    const early = await shop.ordered(entityId, {}, 4)
    await becomes(has, 500)
    await shop.cancel(early.text("data.id"))
    await becomes(has, 1_000)
    const late = await shop.ordered(entityId, {}, 4)
    await becomes(has, 500)
    for (const status of ["confirmed", "processing"]) {
      await shop.tills.core("PATCH", `/orders/${late.text("data.id")}/status`, { status })
    }
    await shop.cancel(late.text("data.id"))
    const other = await shop.ordered(entityId, {}, 2)
    await becomes(has, 250)
    await shop.cancel(other.text("data.id"))
    await becomes(has, 500)
  })

  it("take those of the dishes of a combo", async () => {
    const { dishes, entityId, items, pick } = await shop.combo()
    const flour = await shop.product({ stock: 10 })
    const ingredients = [{ ingredientName: "Flour", quantity: 3, entityId: flour }]
    await shop.done("POST", "/recipes", { entityId: dishes[1], name: "Steak", ingredients })
    await sell(entityId, 2, pick(items[1]))
    await becomes(async () => (await shop.stock(flour)).onHand, 4)
  })

  it("alert when there is too little", async () => {
    const { entityId, flour, has } = await baked()
    await sell(entityId, 10)
    await becomes(has, -250)
    await sell(entityId, 2)
    await becomes(has, -500)
    const alerts = await shop.done("GET", "/alerts?type=ingredient_shortage")
    const own = alerts.list("data").filter((one) => Reflect.get(Object(one), "referenceId") === flour)
    assert.deepStrictEqual(own.map((one) => Reflect.get(Object(one), "message")), ["There is too little of Flour."])
  })
})
