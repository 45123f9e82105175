import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Kitchen, openKitchen } from "./Kitchen.ts"

let kitchen: Kitchen
beforeAll(async () => {
  kitchen = await openKitchen()
})
afterAll(() => kitchen.app.close())

const aCake = async (flourStock: number) => {
  const [flour, cake] = [await kitchen.thing(flourStock, 30), await kitchen.thing()]
  return { flour, cake, bomId: await kitchen.bom(cake, [[flour, 2, { unitCost: 25 }]]) }
}

describe("a part of a production order", () => {
  it("takes its materials and comes in, and the rest stays open until the last part completes the order", async () => {
    const { bomId, cake, flour } = await aCake(100)
    const id = await kitchen.started(bomId, cake, 10)
    const produce = (body: object) => kitchen.done("POST", `/orders/${id}/produce`, body)
    const first = await produce({ producedQuantity: 3, scrapQuantity: 1, batchNumber: "B1" })
    assert.deepInclude(Object(first.at("data")), {
      status: "in_progress",
      producedQuantity: 3,
      scrapQuantity: 1,
      materialCost: 240
    })
    assert.deepStrictEqual(await kitchen.onHand(flour, cake), [92, 3])
    // What was recorded is the next part's, and what has left is not taken back.
    const items = [{ entityId: flour, plannedQuantity: 5, actualQuantity: 5, unitCost: 1 }]
    await kitchen.done("POST", `/orders/${id}/consume`, { items })
    const second = await produce({ producedQuantity: 2, batchNumber: "B2" })
    assert.deepStrictEqual(await kitchen.onHand(flour, cake), [87, 5])
    const taken = second.text("data.consumption.0.id")
    await kitchen.refused("404 NOT_FOUND", "DELETE", `/orders/${id}/consumption/${taken}`)
    await kitchen.refused("422 VALIDATION_FAILED", "POST", `/orders/${id}/produce`, { producedQuantity: 5 })
    const last = await produce({ producedQuantity: 4 })
    assert.deepInclude(Object(last.at("data")), { status: "completed", producedQuantity: 9, materialCost: 630 })
    assert.deepStrictEqual(await kitchen.onHand(flour, cake), [79, 9])
    await kitchen.refused("422 INVALID_TRANSITION", "POST", `/orders/${id}/produce`, { producedQuantity: 1 })
  })

  it("of eight at once is made as often as there is left, and complete makes the rest", async () => {
    const { bomId, cake, flour } = await aCake(100)
    const id = await kitchen.started(bomId, cake, 10)
    const all = await Promise.all(
      Array.from({ length: 8 }, () => kitchen.post(`/orders/${id}/produce`, { producedQuantity: 3 }))
    )
    assert.deepStrictEqual(all.map(({ status }) => status).toSorted(), [201, 201, 201, 422, 422, 422, 422, 422])
    assert.deepStrictEqual(await kitchen.onHand(flour, cake), [82, 9])
    const done = await kitchen.done("POST", `/orders/${id}/complete`)
    assert.deepInclude(Object(done.at("data")), { status: "completed", producedQuantity: 10 })
    assert.deepStrictEqual(await kitchen.onHand(flour, cake), [80, 10])
  })

  it("without enough stock is 422 and takes nothing", async () => {
    const { bomId, cake, flour } = await aCake(5)
    const id = await kitchen.started(bomId, cake, 10)
    await kitchen.refused("422 VALIDATION_FAILED", "POST", `/orders/${id}/produce`, { producedQuantity: 3 })
    assert.deepStrictEqual(await kitchen.onHand(flour, cake), [5, 0])
    await kitchen.done("POST", `/orders/${id}/produce`, { producedQuantity: 2 })
    assert.deepStrictEqual(await kitchen.onHand(flour, cake), [1, 2])
  })
})

describe("a bill of material", () => {
  it("takes more of a material that loses a part when it is cleaned, in costs, explosion and production", async () => {
    const { flour: carrot, cake: soup } = await aCake(100)
    const piece = await kitchen.unit()
    const units = { purchaseUomId: piece, stockUomId: piece, saleUomId: piece, yieldPercentage: 80 }
    const [fresh, made] = [await kitchen.thing(), await kitchen.thing()]
    assert.strictEqual((await kitchen.ask("POST", `/uom/entities/${fresh}/uom`, units)).status, 201)
    await kitchen.restock(fresh, 100, 10)
    const bomId = await kitchen.bom(made, [[fresh, 4, { unitCost: 10 }], [carrot, 1, { unitCost: 1 }]])
    const bom = await kitchen.done("GET", `/boms/${bomId}`)
    assert.deepStrictEqual([bom.at("data.totalCost"), bom.at("data.items.0.totalCost")], [51, 50])
    assert.strictEqual((await kitchen.done("POST", `/boms/${bomId}/cost-rollup`)).at("data.totalCost"), 51)
    assert.deepStrictEqual(await kitchen.explode(bomId, 3), [[fresh, 15, 10, 150], [carrot, 3, 1, 3]])
    const id = await kitchen.started(bomId, made, 3)
    await kitchen.done("POST", `/orders/${id}/complete`)
    assert.deepStrictEqual(await kitchen.onHand(fresh, carrot, made, soup), [85, 97, 3, 0])
  })

  it("ends with a day, after which no order can be planned, and changes with its next version", async () => {
    const { bomId, cake, flour } = await aCake(0)
    await kitchen.done("PATCH", `/boms/${bomId}`, { name: "Old cake", validTo: "2026-11-30" })
    const planned = kitchen.plan(bomId, cake, 1)
    const refused = await kitchen.refused("422 VALIDATION_FAILED", "POST", "/orders", planned)
    assert.match(refused.text("error.details.issues.0.message"), /at most 2026-11-30/)
    await kitchen.done("POST", "/orders", { ...planned, plannedDate: "2026-11-29T12:00:00Z" })
    const items = kitchen.lines([[flour, 3]])
    const next = await kitchen.done("POST", `/boms/${bomId}/versions`, {
      items,
      yieldQuantity: 2,
      validTo: null,
      name: "Cake"
    })
    assert.deepInclude(Object(next.at("data")), { version: 2, yieldQuantity: 2, validTo: null, name: "Cake" })
    await kitchen.done("POST", "/orders", { ...planned, bomId: next.text("data.id") })
  })
})

describe("suggestions of what to produce", () => {
  it("are what open orders and thresholds ask for beyond what is there, on its way and in production", async () => {
    const { bomId, cake } = await aCake(0)
    const suggested = async () => {
      const found = (await kitchen.done("GET", "/suggestions?limit=100")).list("data").map(Object)
      return found.flatMap((one) =>
        one.bomId === bomId ? [[one.wanted, one.supply, one.inProduction, one.quantity]] : []
      )
    }
    await kitchen.restock(cake, 10)
    assert.deepStrictEqual(await suggested(), [])
    const level = {
      entityId: cake,
      warehouseId: kitchen.warehouseId,
      type: "restock",
      quantity: 1,
      reorderThreshold: 8
    }
    await kitchen.ask("POST", "/inventory/adjust", level)
    const order = await kitchen.builders.order([[cake, 6]])
    assert.deepStrictEqual(await suggested(), [[14, 11, 0, 3]])
    // Units that were shipped are neither wanted nor there.
    const parcel = { lineItems: [{ orderLineItemId: Object(order["lineItems"])[0].id, quantity: 2 }] }
    await kitchen.ask("PATCH", `/orders/${order["id"]}/status`, { status: "confirmed" })
    assert.strictEqual((await kitchen.ask("POST", `/orders/${order["id"]}/fulfillments`, parcel)).status, 201)
    assert.deepStrictEqual(await suggested(), [[12, 9, 0, 3]])
    const id = await kitchen.order(bomId, cake, 2)
    assert.deepStrictEqual(await suggested(), [[12, 9, 2, 1]])
    await kitchen.done("POST", `/orders/${id}/cancel`)
    assert.deepStrictEqual(await suggested(), [[12, 9, 0, 3]])
    await kitchen.done("PATCH", `/boms/${bomId}`, { validTo: "2020-01-01" })
    assert.deepStrictEqual(await suggested(), [])
  })
})
