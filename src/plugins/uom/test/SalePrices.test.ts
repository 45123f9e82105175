import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { buildersOf } from "stoa/plugin/testing"
import { unitsOfMeasure } from "../index.ts"
import { openUnitShop, type UnitShop } from "./UnitShop.ts"

describe("goods that are priced by their sale unit", () => {
  let shop: UnitShop
  let [kg, g] = ["", ""]
  beforeAll(async () => {
    const catalog = { types: { cheese: {} } }
    shop = await openUnitShop([unitsOfMeasure({ pricedBySaleUnit: ["cheese"] })], { catalog })
    kg = await shop.made("/uom/units", { code: "kg", name: "Kilogram", category: "weight" })
    g = await shop.made("/uom/units", { code: "g", name: "Gram", category: "weight" })
    await shop.conversion(kg, g, "1000")
  })
  afterAll(() => shop.app.close())

  /** Goods of a type at 19.99, of which 5,000 g are on hand. */
  const goods = async (type: string) => {
    const id = await buildersOf(shop.app).product({ type, stock: 5_000, price: 1_999 })
    await shop.unitsOf(id, kg, g, kg)
    return id
  }
  const lineOf = async (entityId: string, quantity: number) => {
    const [quote, placed] = [
      await shop.ask("POST", "/orders/quote", { currency: "USD", lineItems: [{ entityId, quantity }] }),
      await buildersOf(shop.app).order([[entityId, quantity]])
    ]
    assert.strictEqual(quote.at("data.subtotal"), placed["subtotal"], JSON.stringify(quote.body))
    return { placed, line: Object(placed["lineItems"])[0] }
  }
  const onHand = async (entityId: string) =>
    (await shop.ask("GET", `/inventory/check?entityIds=${entityId}`)).at(`data.${entityId}`)

  for (const [grams, total] of [[500, 1_000], [333, 666], [1, 2], [1_000, 1_999]] as const) {
    it(`cost ${total} for ${grams} g at 1999 for a kg, in quote and order, and leave stock by the gram`, async () => {
      const cheese = await goods("cheese")
      const { line, placed } = await lineOf(cheese, grams)
      assert.deepStrictEqual([placed["subtotal"], line.totalPrice, line.quantity], [total, total, grams])
      assert.strictEqual(line.priceSteps.at(-1).label, `${grams / 1_000} kg`)
      assert.strictEqual(await onHand(cheese), 5_000 - grams)
    })
  }

  it("come back to the cent, however they are divided", async () => {
    const { placed } = await lineOf(await goods("cheese"), 500)
    const path = `/orders/${String(placed["id"])}`
    for (const quantity of [1, 166, 333]) {
      const lines = [{ lineItemId: Object(placed["lineItems"])[0].id, quantity }]
      const refund = await shop.ask("POST", `${path}/refunds`, { lines, reason: "mould" })

      assert.isBelow(refund.status, 300, JSON.stringify(refund.body))
    }
    const order = await shop.ask("GET", path)
    assert.strictEqual(order.at("data.refundedTotal") ?? order.at("data.amountRefunded"), placed["grandTotal"])
  })

  it("cost their price for each unit of stock where no type says otherwise", async () => {
    const { placed } = await lineOf(await goods("product"), 2)
    assert.strictEqual(placed["subtotal"], 3_998)
  })
})
