import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { EntityId, PluginContext } from "stoa/plugin"
import { contractOf, raceOf } from "stoa/plugin/testing"
import { uom } from "../index.ts"
import { type UnitLine, Units } from "../Units.ts"
import { openUnitShop, type UnitShop } from "./UnitShop.ts"

let shop: UnitShop
beforeAll(async () => {
  shop = await openUnitShop([uom])
})
afterAll(() => shop.app.close())

const convert = (fromUnitId: string, toUnitId: string, quantity: unknown, entityId?: string) =>
  shop.ask("POST", "/uom/convert", { fromUnitId, toUnitId, quantity, ...(entityId && { entityId }) })
const status = async (...request: Parameters<UnitShop["ask"]>) => (await shop.ask(...request)).status
/** A thing that is bought in sacks of 25 kg. */
const sacks = async () => {
  const [sack, kg, g] = await Promise.all([shop.unit("count"), shop.unit(), shop.unit()])
  const entityId = EntityId.make(await shop.entity())
  await shop.conversion(kg, g, "1000")
  return { entityId, g, kg, pack: await shop.conversion(sack, kg, "25", entityId), sack }
}

describe("units of measure", () => {
  it("have a code once, at most one base of a category, and are changed, filtered and deleted while unused", async () => {
    const [hour, day] = ["Hour", "Day"].map((name) => ({ code: name.toLowerCase(), name, category: "time" }))
    const first = await shop.ask("POST", "/uom/units", { ...hour, isBaseUnit: true })
    assert.deepStrictEqual([first.status, first.at("data.precision")], [201, 2])
    await shop.refused("409 CONFLICT", "POST", "/units", hour)
    await shop.refused("409 CONFLICT", "POST", "/units", { ...day, isBaseUnit: true })
    await shop.refused("422 VALIDATION_FAILED", "POST", "/units", { ...day, code: "x".repeat(21) })
    const id = await shop.made("/uom/units", { ...day, isBaseUnit: false })
    const listed = await shop.done("GET", "/units?category=time&limit=1")
    assert.deepStrictEqual([listed.at("data.0.code"), listed.at("meta.pagination.total")], ["day", 2])
    assert.strictEqual((await shop.done("PATCH", `/units/${id}`, { precision: 0 })).at("data.precision"), 0)
    await shop.conversion(id, first.text("data.id"), "24")
    await shop.refused("409 CONFLICT", "PATCH", `/units/${id}`, { category: "area" })
    await shop.refused("409 CONFLICT", "DELETE", `/units/${id}`)
    await shop.done("DELETE", `/units/${await shop.unit()}`)
  })

  it("are converted exactly, in any direction and over any number of conversions, and rounded once", async () => {
    const tonne = shop.unit("weight", { precision: 6 })
    const [g, kg, t, lb] = await Promise.all([shop.unit(), shop.unit(), tonne, shop.unit()])
    const made = await shop.done("POST", "/conversions", { fromUnitId: kg, toUnitId: lb, factor: 22_046 })
    assert.deepInclude(made.at("data"), { factor: 22_046, factorDecimal: "2.2046000000" })
    await shop.conversion(kg, g, "1000")
    await shop.conversion(t, kg, "1000")
    const data = async (from: string, to: string, quantity: unknown) => (await convert(from, to, quantity)).at("data")
    assert.deepInclude(await data(kg, lb, 1), { result: 2.2, precise: "2.2046" })
    assert.deepInclude(await data(lb, kg, 1), { result: 0.45, precise: "0.45359702440351991291" })
    assert.deepInclude(await data(g, t, "0.5"), { result: 0.000001, precise: "0.0000005" })
    assert.deepInclude(await data(t, lb, 3), { result: 6613.8, precise: "6613.8" })
    assert.deepInclude(await data(g, g, 7), { result: 7, precise: "7" })
    for (const quantity of [0, -1, "0.000", "1e3", null]) {
      assert.strictEqual((await convert(kg, g, quantity)).status, 422)
    }
    assert.strictEqual((await convert(kg, randomUUID(), 1)).status, 404)
    const chain = [kg]
    while (chain.length <= 33) {
      const next = await shop.unit("weight")
      await shop.conversion(chain.at(-1) ?? "", next, "9999999999")
      chain.push(next)
    }
    const large = await convert(kg, chain.at(-1) ?? "", 1e15)
    assert.deepStrictEqual([large.status, large.at("error.message")], [
      422,
      "quantity is too large to be converted to this unit."
    ])
    assert.strictEqual((await convert(kg, await shop.unit("volume"), 1)).status, 422)
  })

  it("refuse conversions between categories, of one unit, of a pair that has one, and those that contradict", async () => {
    const [a, b, c, litre] = await Promise.all([shop.unit(), shop.unit(), shop.unit(), shop.unit("volume")])
    const post = (fromUnitId: string, toUnitId: string, factorDecimal?: string) =>
      status("POST", "/uom/conversions", { fromUnitId, toUnitId, factorDecimal })
    assert.deepStrictEqual(
      [await post(a, litre, "1"), await post(a, a, "1"), await post(a, b, "0"), await post(a, b)],
      [422, 422, 422, 422]
    )
    assert.strictEqual(await post(a, randomUUID(), "1"), 404)
    assert.strictEqual(await post(a, b, "2"), 201)
    assert.deepStrictEqual([await post(a, b, "2"), await post(b, a, "0.5")], [409, 409])
    assert.strictEqual(await post(b, c, "3"), 201)
    assert.deepStrictEqual([await post(a, c, "7"), await post(a, c, "6")], [409, 201])
    const found = await shop.done("GET", `/conversions?fromUnitId=${b}`)
    const path = `/conversions/${found.text("data.0.id")}`
    assert.deepStrictEqual([found.at("data.0.toUnitId"), found.at("meta.pagination.total")], [c, 1])
    await shop.refused("409 CONFLICT", "PATCH", path, { factor: 40_000 })
    await shop.done("PATCH", path, { factor: 30_000 })
    await shop.refused("422 VALIDATION_FAILED", "PATCH", path, {})
    await shop.done("DELETE", path)
    await shop.refused("404 NOT_FOUND", "DELETE", path)
  })

  it("stay free of contradictions when conversions are written at once", async () => {
    const [a, b, c] = await Promise.all([shop.unit(), shop.unit(), shop.unit()])
    const body = { fromUnitId: a, toUnitId: b, factor: 20_000 }
    await raceOf(shop.app, { method: "POST", path: "/api/uom/conversions", body })
    const post = (fromUnitId: string) =>
      status("POST", "/uom/conversions", { ...body, fromUnitId, toUnitId: c, factor: 10_000 })
    assert.deepStrictEqual((await Promise.all([post(a), post(b)])).sort(), [201, 409])
  })

  it("of an entity count before those of all, and are kept while its units need them", async () => {
    const { entityId, g, kg, pack, sack } = await sacks()
    await shop.conversion(kg, g, "1001", entityId)
    assert.strictEqual((await convert(sack, g, 2, entityId)).at("data.precise"), "50050")
    assert.strictEqual((await convert(sack, g, 2)).status, 422)
    assert.strictEqual((await convert(kg, g, 1)).at("data.result"), 1000)
    const units = `/entities/${entityId}/uom`
    await shop.refused("404 NOT_FOUND", "GET", units)
    await shop.unitsOf(entityId, sack, g)
    await shop.unitsOf(entityId, sack, g, kg)
    const { at } = await shop.done("GET", units)
    assert.deepInclude(at("data"), { saleUomId: kg, yieldPercentage: 100 })
    assert.strictEqual(at("data.conversions.1.factor"), 250_000)
    await shop.refused("409 CONFLICT", "DELETE", `/conversions/${pack}`)
    await shop.refused("409 CONFLICT", "PATCH", `/conversions/${pack}`, { factor: 1 })
    const unknown = { purchaseUomId: sack, stockUomId: g, saleUomId: entityId }
    await shop.refused("404 NOT_FOUND", "POST", units, unknown)
    await shop.unitsOf(entityId, kg, g)
    await shop.done("DELETE", `/conversions/${pack}`)
  })

  it("of an entity have conversions to its stock unit, also when one is deleted at the same time", async () => {
    const [kg, g, litre] = await Promise.all([shop.unit(), shop.unit(), shop.unit("volume")])
    const entityId = await shop.entity()
    const path = `/entities/${entityId.toUpperCase()}/uom`
    for (const wrong of ["purchaseUomId", "saleUomId"]) {
      const body = { purchaseUomId: g, stockUomId: g, saleUomId: g, [wrong]: litre }
      const { at } = await shop.refused("422 VALIDATION_FAILED", "POST", path, body)
      assert.strictEqual(at("error.details.issues.0.path"), wrong)
    }
    await shop.conversion(litre, g, "1030", entityId)
    await shop.unitsOf(entityId.toUpperCase(), litre, g, litre)
    for (let round = 0; round < 5; round++) {
      const [conversion, other] = [await shop.conversion(kg, g, "1000"), await shop.entity()]
      const units = { purchaseUomId: kg, stockUomId: g, saleUomId: g }
      const statuses = await Promise.all([
        status("DELETE", `/uom/conversions/${conversion}`),
        status("POST", `/uom/entities/${other}/uom`, units)
      ])
      assert.include([[200, 422], [409, 201]].map(String), String(statuses))
      if (statuses[0] === 409) {
        await shop.unitsOf(other, g, g)
        await shop.done("DELETE", `/conversions/${conversion}`)
      }
    }
  })

  it("of an entity keep the stock unit while there is stock, and change the others", async () => {
    const [kg, g, entityId] = [await shop.unit(), await shop.unit(), await shop.entity()]
    await shop.conversion(kg, g, "1000")
    const warehouseId = await shop.made("/inventory/warehouses", { name: "Mill", code: "MILL" })
    const adjust = async (adjustment: number) =>
      assert.strictEqual(await status("POST", "/inventory/adjust", { entityId, warehouseId, adjustment }), 200)
    const set = (purchaseUomId: string, stockUomId: string) =>
      status("POST", `/uom/entities/${entityId}/uom`, { purchaseUomId, stockUomId, saleUomId: stockUomId })
    await adjust(5)
    assert.deepStrictEqual([await set(kg, g), await set(g, g), await set(kg, kg)], [201, 201, 409])
    await adjust(-5)
    for (const column of ["incoming", "in_transit"]) {
      await shop.app.db.query(`update stock_levels set ${column} = 1 where entity_id = $1`, [entityId])
      assert.strictEqual(await set(kg, kg), 409, column)
      await shop.app.db.query(`update stock_levels set ${column} = 0 where entity_id = $1`, [entityId])
    }
    assert.strictEqual((await shop.done("GET", `/entities/${entityId}/uom`)).at("data.stockUomId"), g)
    assert.strictEqual(await set(kg, kg), 201)
  })
})

describe("the service for other plugins", () => {
  it("gives lines in whole stock units with their cost, and names the line that it cannot", async () => {
    const { entityId, g, kg, sack } = await sacks()
    await shop.unitsOf(entityId, sack, g)
    const toStock = (...lines: ReadonlyArray<UnitLine>) =>
      shop.app.serviceRegistry.run(
        Units.make.pipe(
          Effect.flatMap((units) => units.toStock(lines)),
          Effect.provideService(PluginContext, shop.app.context),
          Effect.catch(({ error }) => Effect.succeed(error.details.issues[0]?.path))
        )
      )
    const other = EntityId.make(randomUUID())
    assert.deepStrictEqual(
      await toStock(
        { entityId, quantity: 2, uomId: sack, unitCost: 5000 },
        { entityId, quantity: "0.25", uomId: kg },
        { entityId, quantity: 3, unitCost: "1.5" },
        { entityId: other, quantity: 4 }
      ),
      [
        { quantity: 50_000, unitCost: "0.2" },
        { quantity: 250, unitCost: undefined },
        { quantity: 3, unitCost: "1.5" },
        { quantity: 4, unitCost: undefined }
      ]
    )
    const whole = { entityId: other, quantity: 1 }
    assert.strictEqual(await toStock(whole, { entityId, quantity: "0.0001", uomId: kg }), "items.1.quantity")
    assert.strictEqual(await toStock(whole, { ...whole, uomId: kg }), "items.1.uomId")
    assert.strictEqual(await toStock(whole, { ...whole, quantity: 0.5 }), "items.1.quantity")
    for (const uomId of [randomUUID(), await shop.unit("volume")]) {
      assert.strictEqual(await toStock(whole, { entityId, quantity: 1, uomId }), "items.1.uomId")
    }
  })

  it("keeps to the rules of every plugin", { timeout: 120_000 }, async () => {
    const samples = await shop.samplesIn("org_contract_owner")
    for (const { name, run } of contractOf(shop.app, { samples, bodies: 8 })) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })
})
