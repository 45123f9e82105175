import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import type { WarehouseId } from "stoa/plugin"
import { contractOf, machineOf, raceOf, testAdminActor, withPermissions } from "stoa/plugin/testing"
import { reconciliation } from "../Reconciliations.ts"
import { transfer } from "../Transfers.ts"
import { wastage } from "../Wastage.ts"
import { openYard, type Yard } from "./Yard.ts"

describe("a warehouse", () => {
  let yard: Yard
  let here: WarehouseId
  beforeAll(async () => {
    yard = await openYard()
    here = await yard.place()
  })
  afterAll(() => yard.close())

  const send = (path: string, body?: object) => yard.done("POST", `/${path}`, body)
  const count = (items: ReadonlyArray<object>) =>
    yard.create("reconciliations", { warehouseId: here, items: items.map((item) => ({ itemName: "thing", ...item })) })
  const submitted = async (items: ReadonlyArray<object>) => {
    const id = await count(items)
    await send(`reconciliations/${id}/submit`)
    return id
  }

  it("posts wastage with its lots once, when it is approved", async () => {
    const entityId = await yard.thing(here, 10)
    await yard.run(yard.receive([{ entityId, warehouseId: here, batchNumber: "B", quantity: 4 }]))
    const note = { warehouseId: here, type: "spoilage" }
    const items = [
      { entityId, itemName: "milk", quantity: 3, unitCost: 200, batchNumber: "B", reason: "warm" },
      { entityId, itemName: "milk", quantity: 1, unitCost: 50 }
    ]
    const id = await yard.create("wastage", { ...note, items })
    const read = await yard.done("GET", `/wastage/${id}`)
    assert.deepInclude(read.at("data.note"), { status: "draft", totalCost: 650 })
    assert.match(read.text("data.note.noteNumber"), /^WST-\d{4}$/)
    assert.deepStrictEqual(await yard.stock(entityId, here), [10, 0])
    await raceOf(yard.app, { method: "POST", path: `/api/warehouse/wastage/${id}/approve` })
    assert.deepStrictEqual([await yard.stock(entityId, here), await yard.lotsIn(here)], [[6, 0], []])
    await yard.refused("422 INVALID_TRANSITION", "POST", `/wastage/${id}/approve`)
    const [movement] = await yard.app.db.query(
      "select type, quantity, reason, reference_type from stock_movements where reference_id = $1 order by quantity",
      [id]
    )
    const wasted = { type: "adjustment", quantity: -3, reason: "warm", reference_type: "warehouse.wastage" }
    assert.deepStrictEqual(movement, wasted)
    const much = await yard.create("wastage", { ...note, items: [{ ...items[1], quantity: 7 }] })
    await yard.refused("422 VALIDATION_FAILED", "POST", `/wastage/${much}/approve`)
    assert.strictEqual((await send(`wastage/${much}/cancel`)).at("data.status"), "cancelled")
    const dear = { ...items[1], quantity: 2_147_483_647, unitCost: 1_000_000_000 }
    const unknown = { ...items[0], variantId: randomUUID() }
    await yard.wrong("items", "/wastage", { ...note, items: [dear] })
    await yard.wrong("warehouseId", "/wastage", { ...note, items, warehouseId: randomUUID() })
    await yard.wrong("items.1.variantId", "/wastage", { ...note, items: [items[1], unknown] })
  })

  it("is what was counted once the count is approved, and says what that costs", async () => {
    const [less, more] = [await yard.thing(here, 10, 300), await yard.thing(here, 5, 100)]
    const same = await yard.thing(here, 2)
    await yard.run(yard.receive([
      { entityId: less, warehouseId: here, batchNumber: "soon", expiryDate: "2027-01-01", quantity: 4 },
      { entityId: less, warehouseId: here, batchNumber: "late", quantity: 4 }
    ]))
    const id = await submitted([
      { entityId: less, physicalQuantity: 7, systemQuantity: 99 },
      { entityId: more, physicalQuantity: 6 },
      { entityId: same, physicalQuantity: 2 }
    ])
    await raceOf(yard.app, { method: "POST", path: `/api/warehouse/reconciliations/${id}/approve` })
    const stock = [await yard.stock(less, here), await yard.stock(more, here), await yard.stock(same, here)]
    assert.deepStrictEqual(stock, [[7, 0], [6, 0], [2, 0]])
    assert.deepStrictEqual(await yard.lotsIn(here, `&entityId=${less}`), [["soon", 1], ["late", 4]])
    const read = await yard.done("GET", `/reconciliations/${id}`)
    assert.deepInclude(read.at("data.reconciliation"), { status: "adjusted" })
    const shown = [0, 1, 2].map((n) =>
      ["systemQuantity", "variance", "varianceCost", "adjustmentMade"].map((name) => read.at(`data.items.${n}.${name}`))
    )
    assert.deepStrictEqual(shown, [[10, -3, -900, true], [5, 1, 100, true], [2, 0, 0, false]])
    const exact = await submitted([{ entityId: same, physicalQuantity: 2 }])
    assert.strictEqual((await send(`reconciliations/${exact}/approve`)).at("data.status"), "approved")
  })

  it("costs what is missing to a part of a minor unit", async () => {
    const gram = await yard.gram(here, 10_000, "0.08092")
    const id = await submitted([{ entityId: gram, physicalQuantity: 9_900 }])
    assert.strictEqual((await yard.done("GET", `/reconciliations/${id}`)).at("data.items.0.varianceCost"), -8)
    const items = [{ entityId: gram, itemName: "flour", quantity: 100, unitCost: 1 }]
    const note = await yard.create("wastage", { warehouseId: here, type: "damage", items })
    await send(`wastage/${note}/approve`)
    const read = await yard.done("GET", `/wastage/${note}`)
    assert.strictEqual(read.at("data.note.totalCost"), 8)
    assert.deepInclude(read.at("data.items.0"), { unitCost: 0, totalCost: 8 })
  })

  it("is not adjusted when stock has moved since the count: 409 until it is counted again", async () => {
    const [differs, exact] = [await yard.thing(here, 10), await yard.thing(here, 10)]
    for (const moved of [differs, exact]) {
      const counted = [{ entityId: differs, physicalQuantity: 1 }, { entityId: exact, physicalQuantity: 10 }]
      const id = await submitted(counted)
      await yard.adjust(moved, here, -2)
      await yard.refused("409 CONFLICT", "POST", `/reconciliations/${id}/approve`)
      await yard.adjust(moved, here, 2)
      assert.deepStrictEqual([await yard.stock(differs, here), await yard.stock(exact, here)], [[10, 0], [10, 0]])
      await send(`reconciliations/${id}/cancel`)
    }
    const id = await submitted([{ entityId: differs, physicalQuantity: 1 }])
    await yard.adjust(differs, here, 5)
    const [item] = await yard.app.db.query("select id from reconciliation_items where reconciliation_id = $1", [id])
    const one = { itemId: item?.["id"], physicalQuantity: 14 }
    for (const items of [[{ ...one, itemId: randomUUID() }], [one, one]]) {
      await yard.refused("422 VALIDATION_FAILED", "POST", `/reconciliations/${id}/count`, { items })
    }
    const read = await yard.done("GET", `/reconciliations/${id}`)
    assert.strictEqual(read.at("data.reconciliation.status"), "submitted")
    assert.strictEqual((await send(`reconciliations/${id}/count`, { items: [one] })).at("data.status"), "counting")
    await send(`reconciliations/${id}/submit`)
    await send(`reconciliations/${id}/approve`)
    assert.deepStrictEqual(await yard.stock(differs, here), [14, 0])
  })

  it("counts what is there also where more is reserved, and no goods twice or that are not there", async () => {
    const entityId = await yard.thing(here, 5)
    const four = { entityId, warehouseId: here, quantity: 4, orderId: randomUUID() }
    assert.isBelow((await yard.ask("POST", "/inventory/reserve", four)).status, 300)
    const id = await submitted([{ entityId, physicalQuantity: 3 }])
    await send(`reconciliations/${id}/approve`)
    assert.deepStrictEqual(await yard.stock(entityId, here), [3, 0])
    const item = { entityId, itemName: "x", physicalQuantity: 1 }
    await yard.refused("409 CONFLICT", "POST", "/reconciliations", { warehouseId: here, items: [item, item] })
    const unknown = { warehouseId: here, items: [item, { ...item, entityId: randomUUID() }] }
    await yard.wrong("items.1.entityId", "/reconciliations", unknown)
  })

  it("has bins with codes of which there is one, in warehouses that are there", async () => {
    const bin = { warehouseId: here, code: "A-1", name: "Shelf", type: "cold" }
    const id = await yard.create("bins", bin)
    await yard.refused("409 CONFLICT", "POST", "/bins", bin)
    const elsewhere = { warehouseId: randomUUID() }
    await yard.refused("422 VALIDATION_FAILED", "PATCH", `/bins/${id}`, elsewhere)
    await yard.wrong("warehouseId", "/bins", { ...bin, ...elsewhere })
    const found = await yard.done("GET", `/bins?warehouseId=${here}&type=cold&search=shelf`)
    assert.strictEqual(found.at("data.0.id"), id)
  })

  it("lets those approve who may, and lists documents by their states", async () => {
    const entityId = await yard.thing(here, 5)
    const id = await yard.transfer(here, await yard.place(), [{ entityId, quantityRequested: 1 }])
    const as = withPermissions(["warehouse:operate", "warehouse:read"], testAdminActor)
    await yard.refused("403 FORBIDDEN", "POST", `/transfers/${id}/approve`, undefined, as)
    const listed = await yard.done("GET", `/transfers?status=draft&fromWarehouseId=${here}`, undefined, as)
    assert.deepStrictEqual([listed.at("meta.pagination.total"), listed.at("data.0.id")], [1, id])
    const none = await yard.done("GET", "/transfers?status=received", undefined, as)
    assert.deepStrictEqual(none.at("data"), [])
  })

  it("keeps to the rules of every plugin, and its documents to their moves", async () => {
    const [goods, there] = [{ entityId: await yard.thing(here, 20) }, await yard.place()]
    const counted = await yard.thing(here, 7)
    const samples = {
      warehouse_bins: { warehouseId: here },
      stock_transfers: { fromWarehouseId: here, toWarehouseId: there },
      stock_transfer_items: goods,
      wastage_notes: { warehouseId: here },
      wastage_note_items: goods,
      stock_reconciliations: { warehouseId: here },
      reconciliation_items: { entityId: counted, systemQuantity: 7, physicalQuantity: 7, variance: 0 }
    }
    const path = (name: string) => ({ samples, path: `/api/warehouse/${name}` })
    const checks = [
      ...contractOf(yard.app, { samples }),
      ...machineOf(yard.app, transfer, { ...path("transfers"), bodies: { receive: { items: [] } } }),
      ...machineOf(yard.app, wastage, path("wastage")),
      ...machineOf(yard.app, reconciliation, { ...path("reconciliations"), bodies: { count: { items: [] } } })
    ]
    for (const { name, run } of checks) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })
})
