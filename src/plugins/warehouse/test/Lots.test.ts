import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { EntityId, ValidationFailed, WarehouseId } from "stoa/plugin"
import { inOrganization, testAdminActor } from "stoa/plugin/testing"
import { openYard, type Yard } from "./Yard.ts"

const warehouseId = () => WarehouseId.make(randomUUID())
const entityId = () => EntityId.make(randomUUID())

describe("lots", () => {
  let yard: Yard
  beforeAll(async () => {
    yard = await openYard()
  })
  afterAll(() => yard.close())

  it("leave first expired first out, those that never expire last, and what no lot covers is no error", async () => {
    const [here, there] = [await yard.place(), await yard.place()]
    const goods = { entityId: await yard.thing(here, 20), warehouseId: here }
    const other = { entityId: await yard.thing(there, 9), warehouseId: there }
    const inCapitals = { ...goods, entityId: EntityId.make(goods.entityId.toUpperCase()) }
    await yard.run(yard.receive([
      { ...goods, batchNumber: "never", quantity: 5 },
      { ...goods, batchNumber: "late", expiryDate: "2127-06-01", quantity: 5 },
      { ...goods, batchNumber: "soon", expiryDate: "2127-01-01", quantity: 5 },
      { ...other, batchNumber: "elsewhere", quantity: 5 }
    ]))
    const taken = await yard.run(yard.take([{ ...inCapitals, quantity: 7 }, { ...other, quantity: 1 }]))
    assert.deepStrictEqual(taken, [
      [
        { batchNumber: "soon", expiryDate: "2127-01-01", quantity: 5 },
        { batchNumber: "late", expiryDate: "2127-06-01", quantity: 2 }
      ],
      [{ batchNumber: "elsewhere", expiryDate: null, quantity: 1 }]
    ])
    // The line that names a batch has it, although the other line comes first.
    const named = await yard.run(yard.take([{ ...goods, quantity: 9 }, { ...goods, batchNumber: "late", quantity: 3 }]))
    assert.deepStrictEqual(named.map((parts) => parts.map(({ batchNumber, quantity }) => [batchNumber, quantity])), [
      [["never", 5]],
      [["late", 3]]
    ])
    assert.deepStrictEqual(await yard.lotsIn(here), [])
    assert.deepStrictEqual(await yard.lotsIn(there), [["elsewhere", 4]])
  })

  it("that have expired leave last where customers get the goods, and as any others where not", async () => {
    const warehouseId = await yard.place()
    const goods = { entityId: await yard.thing(warehouseId, 6), warehouseId }
    const lot = (batchNumber: string, expiryDate?: string) => ({ ...goods, batchNumber, expiryDate, quantity: 2 })
    await yard.run(yard.receive([lot("over", "2026-01-01"), lot("good", "2126-01-02"), lot("never")]))
    const take = async (quantity: number, type?: "sale") =>
      (await yard.run(yard.take([{ ...goods, quantity }], type))).flat().map((one) => [one.batchNumber, one.quantity])
    assert.deepStrictEqual(await take(1), [["over", 1]])
    assert.deepStrictEqual(await take(3, "sale"), [["good", 2], ["never", 1]])
    assert.deepStrictEqual(await yard.lotsIn(warehouseId), [["over", 1], ["never", 1]])
  })

  it("of a named batch are 422 when they are too few, and nothing leaves", async () => {
    const warehouseId = await yard.place()
    const goods = { entityId: await yard.thing(warehouseId, 9), warehouseId }
    await yard.run(yard.receive([1, 2].map((quantity) => ({ ...goods, batchNumber: "B", quantity }))))
    const refused = await yard.run(
      Effect.flip(yard.take([{ ...goods, quantity: 1 }, { ...goods, batchNumber: "B", quantity: 4 }]))
    )
    assert.instanceOf(refused, ValidationFailed)
    assert.deepInclude(refused.error.details.issues[0], {
      path: "lines.1.batchNumber",
      message: "lines.1.batchNumber names a batch of which the warehouse has 1 units too few: B."
    })
    assert.deepStrictEqual((await yard.lotsIn(warehouseId)).length, 2)
  })

  it("are never taken twice, and takers of the same goods in another order do not wait for each other", async () => {
    const warehouseId = await yard.place()
    const goods = await Promise.all(
      Array.from({ length: 20 }, async () => ({ entityId: await yard.thing(warehouseId, 9), warehouseId, quantity: 8 }))
    )
    await yard.run(yard.receive(goods.map((one) => ({ ...one, batchNumber: "B" }))))
    const one = goods.map((line) => ({ ...line, batchNumber: "B", quantity: 1 }))
    const takes = Array.from({ length: 9 }, (_, n) => Effect.exit(yard.take(n % 2 === 0 ? one : one.toReversed())))
    const all = await yard.run(Effect.all(takes, { concurrency: "unbounded" }))
    assert.deepStrictEqual(all.map(({ _tag }) => _tag).toSorted(), ["Failure", ...Array(8).fill("Success")])
    assert.notInclude(JSON.stringify(all), "Die")
    assert.deepStrictEqual(await yard.lotsIn(warehouseId), [])
  })

  it("are listed by goods, warehouse, batch and expiry, to their organization alone", async () => {
    const goods = { entityId: entityId(), warehouseId: warehouseId(), quantity: 1 }
    await yard.run(yard.receive([
      { ...goods, batchNumber: "late", expiryDate: "2027-06-01" },
      { ...goods, batchNumber: "soon", expiryDate: "2027-01-01" },
      { ...goods, batchNumber: "never" },
      { ...goods, entityId: entityId(), batchNumber: "soon", expiryDate: "2027-01-02" }
    ]))
    const batches = async (query: string) => (await yard.lotsIn(goods.warehouseId, query)).map(([batch]) => batch)
    assert.deepStrictEqual(await batches(""), ["soon", "soon", "late", "never"])
    assert.deepStrictEqual(await batches(`&entityId=${goods.entityId}`), ["soon", "late", "never"])
    assert.deepStrictEqual(await batches(`&entityId=${goods.entityId}&expiringBefore=2027-06-01`), ["soon"])
    assert.deepStrictEqual(await batches("&batchNumber=never"), ["never"])
    const outsider = await yard.done("GET", "/lots", undefined, inOrganization("org_other", testAdminActor))
    assert.deepStrictEqual(outsider.at("data"), [])
    await yard.refused("422 VALIDATION_FAILED", "GET", "/lots?expiringBefore=2027-02-30")
  })

  it("leave with a shipment of an order, in its transaction, and come back without a lot", async () => {
    const { order, product } = yard.builders
    const entityId = EntityId.make(await product({ stock: 10 }))
    const [level] = await yard.app.db.query("select warehouse_id from stock_levels where entity_id = $1", [entityId])
    const goods = { entityId, warehouseId: WarehouseId.make(String(level?.["warehouse_id"])) }
    await yard.run(yard.receive([
      { ...goods, batchNumber: "expired", expiryDate: "2020-01-01", quantity: 4 },
      { ...goods, batchNumber: "late", expiryDate: "2127-06-01", quantity: 4 },
      { ...goods, batchNumber: "soon", expiryDate: "2127-01-01", quantity: 2 }
    ]))
    const { id, lineItems } = await order([[entityId, 5]])
    await yard.ask("PATCH", `/orders/${id}/status`, { status: "confirmed" })
    const parcel = { lineItems: [{ orderLineItemId: Object(lineItems)[0].id, quantity: 3 }] }
    const shipment = (await yard.ask("POST", `/orders/${id}/fulfillments`, parcel)).text("data.id")
    const left = () => yard.lotsIn(goods.warehouseId, `&entityId=${entityId}`)
    assert.deepStrictEqual(await left(), [["expired", 4], ["late", 3]])
    assert.strictEqual(
      (await yard.ask("PATCH", `/orders/${id}/fulfillments/${shipment}`, { status: "cancelled" })).status,
      200
    )
    assert.deepStrictEqual(await left(), [["expired", 4], ["late", 3]])
    assert.deepStrictEqual(await yard.stock(entityId, goods.warehouseId), [10, 0])
    const gone = await yard.app.db.query(
      "select batch_number, quantity from warehouse_lot_movements where reference_id = $1 order by expiry_date",
      [id]
    )
    assert.deepStrictEqual(gone.map((row) => [row["batch_number"], row["quantity"]]), [["soon", 2], ["late", 1]])
  })
})
