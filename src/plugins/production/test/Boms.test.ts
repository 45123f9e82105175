import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { EntityId } from "stoa/plugin"
import { boms, items } from "../Bom.ts"
import { type Ingredient, type Kitchen, openKitchen } from "./Kitchen.ts"

let kitchen: Kitchen
beforeAll(async () => {
  kitchen = await openKitchen()
})
afterAll(() => kitchen.app.close())

const addItem = (bomId: string, item: Ingredient) => kitchen.post(`/boms/${bomId}/items`, kitchen.lines([item])[0])
/** A recipe for a new product that takes so much of what another recipe makes. */
const above = async (entityId: string, subBomId: string, quantity: number, yieldQuantity = 1) => {
  const product = await kitchen.entity()
  const bomId = await kitchen.bom(product, [[entityId, quantity, kitchen.sub(subBomId)]], { yieldQuantity })
  return { product, bomId }
}

describe("a bill of material", () => {
  it("is exploded exactly through all levels, and rounded up once", async () => {
    const [flour, egg, dough, cake] = await kitchen.entities()
    const doughBom = await kitchen.bom(dough, [[flour, 1, { unitCost: 30 }], [egg, "0.5"]], { yieldQuantity: 3 })
    const cakeBom = await kitchen.bom(cake, [[dough, 1, kitchen.sub(doughBom)], [egg, 1, { unitCost: 10 }]])
    assert.deepStrictEqual(await kitchen.explode(cakeBom, 3), [[egg, 4, 9, 34], [flour, 1, 30, 30]])
    assert.deepStrictEqual(await kitchen.explode(cakeBom, 1), [[egg, 2, 9, 17], [flour, 1, 30, 30]])
    assert.deepStrictEqual((await kitchen.explode(cakeBom, 3_000_000))[1], [flour, 1_000_000, 30, 30_000_000])
  })

  it("counts in the units of its lines, and in stock units of what is made and taken", async () => {
    const [kg, g, [flour, dough, bread]] = await Promise.all([kitchen.unit(), kitchen.unit(), kitchen.entities()])
    await kitchen.conversion(kg, g, "1000")
    for (const one of [flour, dough]) await kitchen.unitsOf(one, kg, g)
    const flours: ReadonlyArray<Ingredient> = [[flour, "0.6", { uomId: kg, unitCost: 100 }], [flour, 1, { uomId: g }]]
    const doughBom = await kitchen.bom(dough, flours, { yieldQuantity: "0.9", yieldUomId: kg })
    const breadBom = await kitchen.bom(bread, [[dough, "0.45", { ...kitchen.sub(doughBom), uomId: kg }]])
    // 300.5 g of flour for each, of which 300 cost 0.1.
    assert.deepStrictEqual(await kitchen.explode(breadBom, 1), [[flour, 301, 0, 30]])
    assert.deepStrictEqual(await kitchen.explode(breadBom, 2), [[flour, 601, 0, 60]])
    const litre = await kitchen.unit("volume")
    assert.strictEqual((await addItem(doughBom, [flour, 1, { uomId: litre }])).at("error.code"), "VALIDATION_FAILED")
    assert.strictEqual((await addItem(doughBom, [flour, 1, { uomId: randomUUID() }])).status, 422)
  })

  it("of any depth costs what its materials cost", async () => {
    const [flour, first] = await kitchen.entities()
    let [product, bomId] = [first, await kitchen.bom(first, [[flour, 7, { unitCost: 11 }]], { yieldQuantity: 3 })]
    for (let level = 0; level < 12; level++) ({ bomId, product } = await above(product, bomId, 1, 3))
    const top = await above(product, bomId, 3 ** 13)
    const { at } = await kitchen.done("POST", `/boms/${top.bomId}/cost-rollup`)
    assert.strictEqual(at("data.totalCost"), 77)
    assert.deepInclude(at("data.items.0"), { totalCost: 77, unitCost: 0 })
    assert.deepStrictEqual(await kitchen.explode(top.bomId, 1), [[flour, 7, 11, 77]])
    // Two lines of each recipe lead to the next one: as many ways as 2 to the 12th.
    for (let level = 0; level < 12; level++) {
      const next = await kitchen.entity()
      const line: [string, number, object] = [product, 1, kitchen.sub(bomId)]
      ;[bomId, product] = [await kitchen.bom(next, [line, line]), next]
    }
    assert.deepStrictEqual((await kitchen.explode(bomId, 3 ** 13)).map((row) => row[1]), [7 * 4096])
  })

  it("makes no product a part of itself, also when two that are written at once would do so together", async () => {
    const [a, b, c] = await kitchen.entities()
    const [bomA, bomB] = [await kitchen.bom(a, [[c, 1]]), await kitchen.bom(b, [[c, 1]])]
    assert.strictEqual((await addItem(bomA, [a, 1])).status, 422)
    const close = [() => addItem(bomA, [b, 1, kitchen.sub(bomB)]), () => addItem(bomB, [a, 1, kitchen.sub(bomA)])]
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, n) => close[n % 2]?.()))
    const done = statuses.map((answer) => answer?.status)
    assert.deepStrictEqual(done.toSorted(), [201, 201, 201, 201, 422, 422, 422, 422])
    assert.strictEqual(new Set([done[0], done[2], done[4], done[6]]).size, 1, "one of the two ways is open")
    const [inner, outer] = done[0] === 201 ? [[b, bomB], [a, bomA]] as const : [[a, bomA], [b, bomB]] as const
    const items = kitchen.lines([[outer[0], 1, kitchen.sub(outer[1])]])
    await kitchen.refused("422 VALIDATION_FAILED", "POST", `/boms/${inner[1]}/versions`, { items })
    await kitchen.done("POST", `/boms/${outer[1]}/cost-rollup`)
  })

  it("makes no product a material of its parts", async () => {
    const [a, b, c] = await kitchen.entities()
    const bomB = await kitchen.bom(b, [[c, 1]])
    const bomA = await kitchen.bom(a, [[b, 1, kitchen.sub(bomB)]])
    const ofC = { entityId: c, name: "C", items: kitchen.lines([[a, 1, kitchen.sub(bomA)]]) }
    await kitchen.refused("422 VALIDATION_FAILED", "POST", "/boms", ofC)
    assert.strictEqual((await addItem(bomB, [a, 1])).status, 422)
  })

  it("goes no deeper than 100 levels", async () => {
    const ids = await Promise.all(Array.from({ length: 101 }, kitchen.entity))
    const { app: { serviceRegistry: { run }, tables: { table } } } = kitchen
    const levels = ids.map((id) => ({ id, familyId: id, entityId: EntityId.make(id), name: "Level" }))
    const next = { itemName: "Next", quantity: "1", unitCost: 0 }
    const parts = levels.slice(1).map(({ entityId, id }, n) => ({
      ...next,
      bomId: ids[n] ?? "",
      entityId,
      subBomId: id
    }))
    await run(table(boms).insertMany(levels))
    await run(table(items).insertMany(parts))
    const [first = "", deepest = ""] = [ids[0], ids[100]]
    const [product, material, other] = await kitchen.entities()
    const top = { entityId: product, name: "Top", items: kitchen.lines([[first, 1, kitchen.sub(first)]]) }
    await kitchen.refused("422 VALIDATION_FAILED", "POST", "/boms", top)
    const last = await kitchen.bom(material, [[other, 1]])
    assert.strictEqual((await addItem(deepest, [material, 1, kitchen.sub(last)])).status, 422)
    assert.strictEqual((await addItem(deepest, [material, 2])).status, 201)
    assert.deepStrictEqual(await kitchen.explode(first, 1), [[material, 2, 0, 0]])
  })

  it("has versions, of which the last one counts for all that refer to it", async () => {
    const [flour, rye, dough] = await kitchen.entities()
    const first = await kitchen.bom(dough, [[flour, 2, { unitCost: 5 }]])
    const bread = await above(dough, first, 1)
    const post = () => kitchen.post(`/boms/${first}/versions`, { items: kitchen.lines([[rye, 3, { unitCost: 7 }]]) })
    const answers = await Promise.all(Array.from({ length: 4 }, post))
    const made = answers.find(({ status }) => status === 201)
    assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422])
    assert.deepInclude(made?.at("data"), { version: 2, isActive: true, totalCost: 21 })
    assert.strictEqual((await kitchen.done("GET", `/boms/${first}`)).at("data.isActive"), false)
    assert.deepStrictEqual(await kitchen.explode(bread.bomId, 1), [[rye, 3, 7, 21]])
    assert.strictEqual((await addItem(first, [rye, 1])).at("error.code"), "INVALID_TRANSITION")
    await kitchen.refused("422 VALIDATION_FAILED", "POST", "/orders", kitchen.plan(first, dough, 1))
    const { at } = await kitchen.done("GET", `/boms?entityId=${dough}&isActive=true`)
    assert.strictEqual(at("meta.pagination.total"), 1)
    assert.deepInclude(at("data.0"), { version: 2, yieldQuantity: 1 })
  })

  it("takes what its parts make, in quantities above 0 of at most six digits after the point", async () => {
    const [flour, dough] = await kitchen.entities()
    const doughBom = await kitchen.bom(dough, [[flour, 1]])
    const item = await addItem(doughBom, [flour, 2, { unitCost: 4 }])
    assert.deepStrictEqual([item.at("data.quantity"), item.at("data.totalCost")], [2, 8])
    const whole = await kitchen.done("GET", `/boms/${doughBom}`)
    assert.deepStrictEqual([whole.at("data.totalCost"), whole.at("data.items.1.id")], [8, item.at("data.id")])
    for (const quantity of [0, -1, "1.0000001", 1e10]) {
      assert.strictEqual((await addItem(doughBom, [flour, quantity])).status, 422)
    }
    assert.strictEqual((await addItem(doughBom, [flour, 999_999_999, { unitCost: 9e15 }])).status, 422)
    for (const subBomId of [doughBom, randomUUID()]) {
      assert.strictEqual((await addItem(doughBom, [flour, 1, { subBomId }])).status, 422)
    }
    assert.strictEqual((await addItem(randomUUID(), [flour, 1])).status, 404)
  })

  it("is of something that is there, and costs no more than can be kept", async () => {
    const [[flour, cake], most] = [await kitchen.entities(), Number.MAX_SAFE_INTEGER]
    const cases: ReadonlyArray<readonly [ReadonlyArray<Ingredient>, object?]> = [
      [[]],
      [[[flour, 1]], { entityId: randomUUID() }],
      [[[flour, 1]], { yieldQuantity: 0 }],
      [[[flour, 1]], { yieldUomId: randomUUID() }],
      [[[flour, 1, { unitCost: -1 }]]],
      [[[flour, 1, { unitCost: most }], [flour, 1, { unitCost: most }]]]
    ]
    for (const [all, more] of cases) {
      const body = { entityId: cake, name: "Recipe", items: kitchen.lines(all), ...more }
      await kitchen.refused("422 VALIDATION_FAILED", "POST", "/boms", body)
    }
    const much = await kitchen.bom(cake, [[flour, 999_999_999]])
    const most32 = { quantity: 2_147_483_647 }
    const exploded = await kitchen.refused("422 VALIDATION_FAILED", "POST", `/boms/${much}/explode`, most32)
    assert.strictEqual(exploded.at("error.details.issues.0.path"), "quantity")
    await kitchen.refused("422 VALIDATION_FAILED", "POST", `/boms/${much}/versions`, { items: [] })
  })
})
