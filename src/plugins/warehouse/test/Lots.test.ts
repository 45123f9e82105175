import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { EntityId, ValidationFailed, VariantId, WarehouseId } from "stoa/plugin"
import { inOrganization, testAdminActor } from "stoa/plugin/testing"
import { statementsOf } from "../../../../test/pricing/Statements.ts"
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
    const goods = { entityId: entityId(), warehouseId: warehouseId() }
    const other = { ...goods, warehouseId: warehouseId() }
    const variant = { ...goods, variantId: VariantId.make(randomUUID()) }
    const inCapitals = { ...goods, entityId: EntityId.make(goods.entityId.toUpperCase()) }
    await yard.run(yard.receive([
      { ...goods, batchNumber: "never", quantity: 5 },
      { ...goods, batchNumber: "late", expiryDate: "2027-06-01", quantity: 5 },
      { ...goods, batchNumber: "soon", expiryDate: "2027-01-01", quantity: 5 },
      { ...other, batchNumber: "elsewhere", quantity: 5 },
      { ...variant, batchNumber: "variant", expiryDate: "2026-01-01", quantity: 5 }
    ]))
    const taken = await yard.run(yard.take([{ ...inCapitals, quantity: 7 }, { ...variant, quantity: 1 }]))
    assert.deepStrictEqual(taken, [
      [
        { batchNumber: "soon", expiryDate: "2027-01-01", quantity: 5 },
        { batchNumber: "late", expiryDate: "2027-06-01", quantity: 2 }
      ],
      [{ batchNumber: "variant", expiryDate: "2026-01-01", quantity: 1 }]
    ])
    // The line that names a batch has it, although the other line comes first.
    const named = await yard.run(yard.take([{ ...goods, quantity: 9 }, { ...goods, batchNumber: "late", quantity: 3 }]))
    assert.deepStrictEqual(named.map((parts) => parts.map(({ batchNumber, quantity }) => [batchNumber, quantity])), [
      [["never", 5]],
      [["late", 3]]
    ])
    assert.deepStrictEqual(await yard.lotsIn(goods.warehouseId), [["variant", 4]])
    assert.deepStrictEqual(await yard.lotsIn(other.warehouseId), [["elsewhere", 5]])
  })

  it("that have expired leave last where units have to be good, and as any others where not", async () => {
    const goods = { entityId: entityId(), warehouseId: warehouseId() }
    const lot = (batchNumber: string, expiryDate?: string) => ({ ...goods, batchNumber, expiryDate, quantity: 2 })
    await yard.run(yard.receive([lot("over", "2026-01-01"), lot("today", "2026-01-02"), lot("never")]))
    const take = async (quantity: number, goodOn?: string) =>
      (await yard.run(yard.take([{ ...goods, quantity, goodOn }]))).flat().map((one) => [one.batchNumber, one.quantity])
    assert.deepStrictEqual(await take(1), [["over", 1]])
    const all = [["today", 2], ["never", 2], ["over", 1]]
    assert.deepStrictEqual(await take(5, "2026-01-02"), all)
  })

  it("of a named batch are 422 when they are too few, and nothing leaves", async () => {
    const goods = { entityId: entityId(), warehouseId: warehouseId() }
    await yard.run(yard.receive([1, 2].map((quantity) => ({ ...goods, batchNumber: "B", quantity }))))
    const refused = await yard.run(
      Effect.flip(yard.take([{ ...goods, quantity: 1 }, { ...goods, batchNumber: "B", quantity: 4 }]))
    )
    assert.instanceOf(refused, ValidationFailed)
    assert.deepInclude(refused.error.details.issues[0], {
      path: "lines.1.batchNumber",
      message: "The warehouse has 1 units too few of the batch B."
    })
    assert.deepStrictEqual((await yard.lotsIn(goods.warehouseId)).length, 2)
  })

  it("are never taken twice, and takers of the same goods in another order do not wait for each other", async () => {
    const place = warehouseId()
    const goods = Array.from({ length: 20 }, () => ({ entityId: entityId(), warehouseId: place, quantity: 8 }))
    await yard.run(yard.receive(goods.map((one) => ({ ...one, batchNumber: "B" }))))
    const one = goods.map((line) => ({ ...line, batchNumber: "B", quantity: 1 }))
    const takes = Array.from({ length: 9 }, (_, n) => Effect.exit(yard.take(n % 2 === 0 ? one : one.toReversed())))
    const all = await yard.run(Effect.all(takes, { concurrency: "unbounded" }))
    assert.deepStrictEqual(all.map(({ _tag }) => _tag).toSorted(), ["Failure", ...Array(8).fill("Success")])
    assert.notInclude(JSON.stringify(all), "Die")
    assert.deepStrictEqual(await yard.lotsIn(place), [])
  })

  it("cost as many statements for 500 lines as for 2", async () => {
    const place = warehouseId()
    const linesOf = (count: number) =>
      Array.from({ length: count }, () => ({ entityId: entityId(), warehouseId: place, batchNumber: "B", quantity: 1 }))
    const counts = []
    for (const lines of [linesOf(2), linesOf(500)]) {
      const both = Effect.andThen(yard.receive(lines), yard.take(lines))
      counts.push((await yard.run(statementsOf(both))).length)
    }
    assert.deepStrictEqual(counts, [3, 3])
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

  it("leave with a fulfillment of an order, once for each fulfillment", async () => {
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
    const ship = async (quantity: number) => {
      const parcel = { lineItems: [{ orderLineItemId: Object(lineItems)[0].id, quantity }] }
      return (await yard.ask("POST", `/orders/${id}/fulfillments`, parcel)).text("data.id")
    }
    const left = () => yard.lotsIn(goods.warehouseId, `&entityId=${entityId}`)
    const wait = { timeout: 60_000 }
    const first = await ship(3)
    await expect.poll(left, wait).toEqual([["expired", 4], ["late", 3]])
    await ship(1)
    await expect.poll(left, wait).toEqual([["expired", 4], ["late", 2]])
    // Delivered again, as after a process that died before it said so.
    await yard.run(yard.ship(first))
    assert.deepStrictEqual(await left(), [["expired", 4], ["late", 2]])
    const shipped = await yard.app.db.query(
      "select fulfillment_id::text = $1 as first, lots from warehouse_shipped_lots where order_id = $2 order by created_at",
      [first, id]
    )
    assert.deepStrictEqual(shipped.map((row) => [row["first"], JSON.stringify(row["lots"]).match(/"(soon|late)"/g)]), [
      [true, [`"soon"`, `"late"`]],
      [false, [`"late"`]]
    ])
  })
})
