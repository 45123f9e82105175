import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { contractOf, machineOf, raceOf } from "stoa/plugin/testing"
import { production } from "../index.ts"
import { productionOrder } from "../ProductionOrder.ts"
import { type Kitchen, openKitchen } from "./Kitchen.ts"

let kitchen: Kitchen
beforeAll(async () => {
  kitchen = await openKitchen()
})
afterAll(() => kitchen.app.close())

const read = (id: string) => kitchen.done("GET", `/orders/${id}`)
const costOfGoodsSold = async (entityId: string) => {
  const filters = [{ member: "StockMovements.entityId", operator: "equals", values: [entityId] }]
  const found = await kitchen.ask("POST", "/analytics/query", { measures: ["StockMovements.costOfGoodsSold"], filters })
  return Number(Object(found.at("data.rows.0"))["StockMovements.costOfGoodsSold"])
}
const aCake = async (flourStock = 100, flourCost = 30) => {
  const [flour, cake] = [await kitchen.thing(flourStock, flourCost), await kitchen.thing()]
  return { flour, cake, bomId: await kitchen.bom(cake, [[flour, 2, { unitCost: 25 }]]) }
}

describe("a production order", () => {
  it("takes its materials and brings in the product at what they cost, down to the cost of goods sold", async () => {
    const [flour, cake] = [await kitchen.thing(10, 10), await kitchen.thing()]
    await kitchen.restock(flour, 20, 20)
    const { cost } = await kitchen.level(flour)
    const bomId = await kitchen.bom(cake, [[flour, 1, { unitCost: 1 }]], { yieldQuantity: 3 })
    const id = await kitchen.started(bomId, cake, 10)
    const { at } = await kitchen.done("POST", `/orders/${id}/complete`)
    const total = 4 * Number(cost)
    assert.deepInclude(at("data"), { status: "completed", producedQuantity: 10, materialCost: Math.round(total) })
    assert.strictEqual(at("data.consumption.0.actualQuantity"), 4)
    assert.deepStrictEqual(await kitchen.level(flour), { onHand: 26, cost })
    assert.deepStrictEqual(await kitchen.level(cake), { onHand: 10, cost: String(total / 10) })
    const sold = await kitchen.builders.order([[cake, 5]])
    const parcel = { lineItems: [{ orderLineItemId: Object(sold["lineItems"])[0].id, quantity: 5 }] }
    await kitchen.ask("PATCH", `/orders/${sold["id"]}/status`, { status: "confirmed" })
    const shipped = await kitchen.ask("POST", `/orders/${sold["id"]}/fulfillments`, parcel)
    assert.strictEqual(shipped.status, 201, JSON.stringify(shipped.body))
    assert.strictEqual(await costOfGoodsSold(cake), Math.round(total / 2))
  })

  it("keeps the stock units of what it makes and has taken while it is open", async () => {
    const { bomId, cake, flour } = await aCake(0)
    const [box, piece] = [await kitchen.unit(), await kitchen.unit()]
    await kitchen.conversion(box, piece, "12")
    const id = await kitchen.started(bomId, cake, 5)
    const items = [{ entityId: flour, plannedQuantity: 1, actualQuantity: 1, unitCost: 1 }]
    await kitchen.done("POST", `/orders/${id}/consume`, { items })
    const set = (entityId: string, stockUomId: string) =>
      kitchen.ask("POST", `/uom/entities/${entityId}/uom`, { purchaseUomId: box, stockUomId, saleUomId: piece })
    for (const entityId of [cake, flour]) {
      assert.strictEqual((await set(entityId, piece)).status, 201)
      const refused = await set(entityId, box)
      assert.strictEqual(refused.status, 409)
      assert.match(refused.text("error.message"), /while the production order PRD-\d+ counts in it/)
    }
    await kitchen.done("POST", `/orders/${id}/cancel`)
    for (const entityId of [cake, flour]) assert.strictEqual((await set(entityId, box)).status, 201)
  })

  it("takes no stock of a material that is not counted, and costs what the recipe says of it", async () => {
    const [flour, work, cake] = [await kitchen.thing(10, 10), await kitchen.thing(), await kitchen.thing()]
    const uncounted = await kitchen.ask("PATCH", `/catalog/entities/${work}`, { manageInventory: false })
    assert.strictEqual(uncounted.status, 200)
    const id = await kitchen.started(await kitchen.bom(cake, [[flour, 1], [work, 2, { unitCost: 25 }]]), cake, 3)
    const { at } = await kitchen.done("POST", `/orders/${id}/complete`)
    assert.deepInclude(at("data"), { status: "completed", materialCost: 180 })
    assert.deepStrictEqual(await kitchen.onHand(flour, work, cake), [7, 0, 3])
    assert.strictEqual((await kitchen.level(cake)).cost, "60")
  })

  it("is started and completed once of eight at once, and cancelled before it is completed", async () => {
    const { bomId, cake, flour } = await aCake()
    const id = await kitchen.order(bomId, cake, 5)
    const path = `/api/production/orders/${id}`
    await raceOf(kitchen.app, { method: "POST", path: `${path}/start`, body: { producedBy: "Ada" } })
    await raceOf(kitchen.app, { method: "POST", path: `${path}/complete` })
    assert.deepStrictEqual(await kitchen.onHand(flour, cake), [90, 5])
    await kitchen.refused("422 INVALID_TRANSITION", "POST", `/orders/${id}/cancel`)
    const other = await kitchen.started(bomId, cake, 5)
    assert.strictEqual((await kitchen.post(`/orders/${other}/cancel`)).at("data.status"), "cancelled")
    assert.strictEqual((await kitchen.complete(other)).status, 422)
  })

  it("and its stock agree, whichever statement the database stops at", async () => {
    const { bomId, cake, flour } = await aCake()
    const id = await kitchen.started(bomId, cake, 5)
    const { query } = kitchen.app.db
    await query("create function stop() returns trigger language plpgsql as $$ begin raise 'stopped'; end $$")
    const steps = ["insert on production_consumption", "insert on warehouse_lots", "insert on stock_postings"]
    const later = ["update on stock_levels", "insert on stock_movements", "update on production_consumption"]
    for (const step of [...steps, ...later, "update on production_orders"]) {
      await query(`create trigger stop after ${step} for each row execute function stop()`)
      assert.strictEqual((await kitchen.complete(id, { batchNumber: "B1" })).status, 500, step)
      await query(`drop trigger stop on ${step.split(" ")[2]}`)
      const { at } = await read(id)
      assert.deepStrictEqual([at("data.status"), at("data.consumption")], ["in_progress", []], step)
      assert.deepStrictEqual(await kitchen.onHand(flour, cake), [100, 0], step)
    }
    assert.strictEqual((await kitchen.complete(id, { batchNumber: "B1" })).status, 201)
  })

  it("takes sub-assemblies from stock, and the materials of those that are missing", async () => {
    const [egg, sponge, cake] = [await kitchen.thing(100, 5), await kitchen.thing(2, 40), await kitchen.thing()]
    const spongeBom = await kitchen.bom(sponge, [[egg, 3]])
    const bomId = await kitchen.bom(cake, [[sponge, 1, kitchen.sub(spongeBom)]])
    const done = await kitchen.complete(await kitchen.started(bomId, cake, 5))
    assert.strictEqual(done.at("data.materialCost"), 2 * 40 + 9 * 5)
    assert.deepStrictEqual(await kitchen.onHand(sponge, egg), [0, 91])
    assert.deepStrictEqual(await kitchen.level(cake), { onHand: 5, cost: "25" })
    const phantom = await kitchen.bom(await kitchen.thing(), [[sponge, 1, { subBomId: spongeBom }]])
    await kitchen.restock(sponge, 7, 40)
    assert.deepStrictEqual(await kitchen.explode(phantom, 2), [[egg, 6, 0, 0]])
  })

  it("brings in a part, whose cost bears that of the scrap", async () => {
    const { bomId, cake, flour } = await aCake()
    const id = await kitchen.started(bomId, cake, 10)
    const wrong = [[11], [9, 2], [0], [undefined, -1]]
    for (const [producedQuantity, scrapQuantity] of wrong) {
      const body = { producedQuantity, scrapQuantity }
      assert.strictEqual((await kitchen.complete(id, body)).status, 422, JSON.stringify(body))
    }
    const made = { producedQuantity: 6, scrapQuantity: 2 }
    const { at } = await kitchen.complete(id, made)
    assert.deepInclude(at("data"), { ...made, materialCost: 480 })
    assert.deepInclude(at("data.consumption.0"), { plannedQuantity: 20, actualQuantity: 16 })
    assert.deepStrictEqual(await kitchen.onHand(flour), [84])
    assert.deepStrictEqual(await kitchen.level(cake), { onHand: 6, cost: "80" })
    const lost = await kitchen.complete(await kitchen.started(bomId, cake, 2), { scrapQuantity: 2 })
    assert.strictEqual(lost.at("data.producedQuantity"), 0)
    assert.deepStrictEqual(await kitchen.onHand(cake), [6])
  })

  it("takes what was recorded, in any unit, at the cost of stock or else at the given one", async () => {
    const { bomId, cake, flour } = await aCake()
    const [sugar, kg, g] = [await kitchen.thing(5000), await kitchen.unit(), await kitchen.unit()]
    await kitchen.conversion(kg, g, "1000")
    await kitchen.unitsOf(sugar, kg, g)
    const id = await kitchen.started(bomId, cake, 4)
    const consume = (actualQuantity: unknown) =>
      kitchen.post(`/orders/${id}/consume`, {
        items: [
          { entityId: flour, plannedQuantity: 8, actualQuantity: 9, unitCost: 1 },
          { entityId: sugar, plannedQuantity: 1, actualQuantity, uomId: kg, unitCost: 200 }
        ]
      })
    assert.strictEqual((await consume("0.0001")).at("error.code"), "VALIDATION_FAILED")
    const recorded = await consume(1.5)
    assert.deepInclude(recorded.at("data.1"), { actualQuantity: 1.5, totalCost: 300 })
    assert.deepStrictEqual(await kitchen.onHand(flour), [100])
    const { at } = await kitchen.complete(id)
    const costs = [at("data.consumption.0.totalCost"), at("data.consumption.1.unitCost"), at("data.materialCost")]
    assert.deepStrictEqual(costs, [270, 200, 570])
    assert.deepStrictEqual(await kitchen.onHand(sugar), [3500])
    assert.deepStrictEqual(await kitchen.level(cake), { onHand: 4, cost: "142.5" })
    assert.strictEqual((await consume(1)).at("error.code"), "INVALID_TRANSITION")
  })

  it("costs what its materials cost to a part of a minor unit, rounded once", async () => {
    const [flour, kg, g] = [await kitchen.thing(10, 1), await kitchen.unit(), await kitchen.unit()]
    const [egg, nut, sugar, cake] = await kitchen.entities()
    for (const half of [egg, nut]) {
      const bomId = await kitchen.bom(half, [[flour, 1]], { yieldQuantity: 2 })
      await kitchen.complete(await kitchen.started(bomId, half, 2))
      assert.deepStrictEqual(await kitchen.level(half), { onHand: 2, cost: "0.5" })
    }
    const both = await kitchen.bom(cake, [[egg, 1], [nut, 1]])
    const done = await kitchen.complete(await kitchen.started(both, cake, 1))
    assert.deepStrictEqual([done.at("data.materialCost"), await kitchen.level(cake)], [1, { onHand: 1, cost: "1" }])
    // Sugar has no cost in stock yet, and in the recipe a gram of it costs 0.08.
    await kitchen.conversion(kg, g, "1000")
    await kitchen.unitsOf(sugar, kg, g)
    await kitchen.restock(sugar, 5000)
    const sweet = await kitchen.thing()
    const bomId = await kitchen.bom(sweet, [[egg, 1], [sugar, "0.025", { uomId: kg, unitCost: 80 }]])
    const made = await kitchen.complete(await kitchen.started(bomId, sweet, 1))
    assert.deepStrictEqual([made.at("data.materialCost"), await kitchen.level(sweet)], [3, { onHand: 1, cost: "2.5" }])
  })

  it("without enough stock is 422 and takes nothing", async () => {
    const { bomId, cake, flour } = await aCake(7)
    const [butter, product] = [await kitchen.thing(100), await kitchen.thing()]
    const both = await kitchen.bom(product, [[butter, 1], [flour, 2]])
    const id = await kitchen.started(both, product, 4)
    assert.strictEqual((await kitchen.complete(id)).at("error.code"), "VALIDATION_FAILED")
    assert.deepStrictEqual(await kitchen.onHand(butter), [100])
    assert.strictEqual((await read(id)).at("data.status"), "in_progress")
    const elsewhere = { ...kitchen.plan(bomId, cake, 1), warehouseId: randomUUID() }
    for (const body of [kitchen.plan(bomId, product, 1), elsewhere]) {
      await kitchen.refused("422 VALIDATION_FAILED", "POST", "/orders", body)
    }
    await kitchen.refused("404 NOT_FOUND", "POST", "/orders", kitchen.plan(randomUUID(), cake, 1))
  })

  it("records goods that are there, which can be taken back until it is completed", async () => {
    const { bomId, cake, flour } = await aCake()
    const [id, other] = [await kitchen.started(bomId, cake, 2), await kitchen.started(bomId, cake, 2)]
    const consume = (more: object = {}) =>
      kitchen.post(`/orders/${id}/consume`, {
        items: [{ entityId: flour, plannedQuantity: 4, actualQuantity: 5, unitCost: 1, ...more }]
      })
    const wrongs = [{ entityId: randomUUID() }, { variantId: randomUUID() }, { uomId: randomUUID() }]
    const much = { actualQuantity: 2, unitCost: Number.MAX_SAFE_INTEGER }
    for (const more of [...wrongs, { actualQuantity: -1 }, { unitCost: -1 }, much]) {
      assert.strictEqual((await consume(more)).status, 422, JSON.stringify(more))
    }
    const takeBack = (order: string, what: string) =>
      kitchen.ask("DELETE", `/production/orders/${order}/consumption/${what}`)
    const [none, wrong] = [await consume({ actualQuantity: 0 }), await consume({ actualQuantity: 50 })]
    assert.strictEqual((await takeBack(other, wrong.text("data.0.id"))).status, 404)
    assert.strictEqual((await takeBack(id, wrong.text("data.0.id"))).at("data.actualQuantity"), 50)
    const refused = await kitchen.complete(id)
    assert.deepStrictEqual([refused.status, refused.at("error.details.issues.0.path")], [422, "items"])
    await consume()
    assert.strictEqual((await kitchen.complete(id)).at("data.materialCost"), 150)
    assert.deepStrictEqual([(await kitchen.level(flour)).onHand, (await kitchen.level(cake)).cost], [95, "75"])
    assert.strictEqual((await takeBack(id, none.text("data.0.id"))).at("error.code"), "INVALID_TRANSITION")
  })

  it("takes lots that expire first or are named, and brings in a batch", async () => {
    const { bomId, cake, flour } = await aCake()
    const lot = (batch: string, day: string, quantity: number) =>
      kitchen.app.db.query(
        `insert into warehouse_lots (organization_id, warehouse_id, entity_id, batch_number, expiry_date, quantity)
          values ('org_default', $1, $2, $3, $4, $5)`,
        [kitchen.warehouseId, flour, batch, day, quantity]
      )
    await lot("late", "2027-05-01", 50)
    await lot("early", "2027-01-01", 3)
    const id = await kitchen.started(bomId, cake, 2)
    const done = await kitchen.complete(id, { batchNumber: "C1", expiryDate: "2027-02-01" })
    assert.deepStrictEqual(done.at("data.consumption.0.lots"), [
      { batchNumber: "early", expiryDate: "2027-01-01", quantity: 3 },
      { batchNumber: "late", expiryDate: "2027-05-01", quantity: 1 }
    ])
    const made = await kitchen.ask("GET", `/warehouse/lots?entityId=${cake}`)
    assert.deepInclude(made.at("data.0"), { batchNumber: "C1", quantity: 2 })
    const named = await kitchen.started(bomId, cake, 2)
    const item = { entityId: flour, plannedQuantity: 4, actualQuantity: 50, unitCost: 1, batchNumber: "late" }
    await kitchen.post(`/orders/${named}/consume`, { items: [item] })
    assert.strictEqual((await kitchen.complete(named)).status, 422, "49 are left of the batch")
  })

  it("is printed with its materials", async () => {
    const { bomId, cake } = await aCake()
    const id = await kitchen.started(bomId, cake, 2)
    const print = () => kitchen.done("GET", `/orders/${id}/pdf`)
    const paper = await print()
    assert.deepStrictEqual([paper.status, paper.headers.get("content-type")], [200, "application/pdf"])
    assert.match(String(paper.body), /^%PDF/)
    await kitchen.complete(id)
    assert.strictEqual((await print()).status, 200)
  })

  it("has a number that no other has, of eight at once", async () => {
    const { bomId, cake } = await aCake()
    const ids = await Promise.all(Array.from({ length: 8 }, () => kitchen.order(bomId, cake, 1)))
    const numbers = await Promise.all(ids.map(async (id) => (await read(id)).text("data.orderNumber")))
    assert.strictEqual(new Set(numbers).size, 8)
    assert.match(numbers[0] ?? "", /^PRD-\d{4}$/)
    const listed = await kitchen.done("GET", `/orders?status=planned&bomId=${bomId}&limit=5`)
    assert.deepStrictEqual([listed.at("meta.pagination.total"), listed.at("data.4.status")], [8, "planned"])
  })

  it("keeps to the rules of every plugin, and to its moves", { timeout: 240_000 }, async () => {
    const { cake, flour } = await aCake()
    const rows = {
      production_boms: { entityId: cake, familyId: randomUUID() },
      production_bom_items: { entityId: flour, quantity: "1" },
      production_orders: { entityId: cake, warehouseId: kitchen.warehouseId },
      production_consumption: { entityId: flour, actualQuantity: "1" }
    }
    const routes = kitchen.app.routes.filter((route) => route.path.startsWith("/api/production"))
    const ours = { ...kitchen.app, plugins: [production], routes }
    const samplesIn = async (organization: string) => ({ ...await kitchen.samplesIn(organization), ...rows })
    const start = { path: "/api/production/orders", bodies: { start: { producedBy: "Ada" } } }
    const moves = machineOf(ours, productionOrder, { ...start, samples: await samplesIn("org_default") })
    const rules = contractOf(ours, { samples: await samplesIn("org_contract_owner"), bodies: 6 })
    for (const { name, run } of [...moves, ...rules]) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })
})
