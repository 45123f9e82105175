import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { WarehouseId } from "stoa/plugin"
import { jsonHeaders, raceOf, testAdminActor } from "stoa/plugin/testing"
import { pdfTexts } from "../../../../test/invoices/PdfText.ts"
import { transferItems } from "../Transfers.ts"
import { openYard, type Yard } from "./Yard.ts"

describe("transfers", () => {
  let yard: Yard
  let here: WarehouseId
  let there: WarehouseId
  beforeAll(async () => {
    yard = await openYard()
    here = await yard.place()
    there = await yard.place()
  })
  afterAll(() => yard.close())

  const move = (id: string, name: string, body?: object) => yard.done("POST", `/transfers/${id}/${name}`, body)
  const read = (id: string) => yard.done("GET", `/transfers/${id}`)
  const itemsOf = async (id: string) => (await read(id)).list("data.items").map((item) => String(Object(item).id))
  /** What is on hand and in transit of a thing, here and there. */
  const stocks = (entityId: string) => Promise.all([here, there].map((one) => yard.stock(entityId, one)))

  it("take goods out of one warehouse, show them in transit and put what arrives into the other, with lots and cost", async () => {
    const [tea, milk] = [await yard.thing(here, 10, 250), await yard.thing(here, 10)]
    const lot = { entityId: milk, warehouseId: here }
    await yard.run(yard.receive([
      { ...lot, batchNumber: "late", expiryDate: "2027-06-01", quantity: 5 },
      { ...lot, batchNumber: "soon", expiryDate: "2027-01-01", quantity: 2 }
    ]))
    const id = await yard.transfer(here, there, [
      { entityId: tea, quantityRequested: 4 },
      { entityId: milk, quantityRequested: 6 }
    ])
    assert.match((await read(id)).text("data.transfer.transferNumber"), /^TRF-\d{4}$/)
    for (
      const [name, status] of Object.entries({
        submit: "pending_approval",
        approve: "approved",
        dispatch: "in_transit"
      })
    ) {
      assert.deepStrictEqual((await move(id, name)).at("data.status"), status)
    }
    assert.deepStrictEqual(await stocks(tea), [[6, 0], [0, 4]])
    assert.deepStrictEqual(await yard.lotsIn(here), [["late", 1]])
    const [teas, milks] = await itemsOf(id)
    const arrived = [{ itemId: teas, quantityReceived: 4 }, { itemId: milks, quantityReceived: 3 }]
    const received = await move(id, "receive", { items: arrived })
    assert.deepStrictEqual(received.at("data.discrepancies"), [{ itemId: milks, missing: 3 }])
    assert.deepStrictEqual([await yard.stock(tea, there), await yard.stock(milk, there)], [[4, 0], [3, 0]])
    assert.deepStrictEqual(await yard.lotsIn(there), [["soon", 2], ["late", 1]])
    const whole = await read(id)
    assert.deepInclude(whole.at("data.items.1"), { quantityRequested: 6, quantityDispatched: 6, quantityReceived: 3 })
    assert.strictEqual(whole.at("data.transfer.status"), "received")
    assert.strictEqual(whole.at("data.discrepancies.0.missing"), 3)
    const url = `${yard.app.app.url}/api/warehouse/transfers/${id}/pdf`
    const paper = await fetch(url, { headers: jsonHeaders(testAdminActor) })
    const said = pdfTexts(Buffer.from(await paper.arrayBuffer())).join("\n")
    for (const text of ["Stock transfer", whole.text("data.transfer.transferNumber"), "2 of soon, 2027-01-01"]) {
      assert.include(said, text)
    }
    const [level] = await yard.app.db.query(
      "select unit_cost::int4 as cost from stock_levels where entity_id = $1 and warehouse_id = $2",
      [tea, there]
    )
    assert.deepStrictEqual(level, { cost: 250 })
  })

  it("are refused where nothing can be moved, and then nothing has changed", async () => {
    const entityId = await yard.thing(here, 3)
    const item = { entityId, itemName: "thing", quantityRequested: 1 }
    const whole = { fromWarehouseId: here, toWarehouseId: there, items: [item] }
    const cases: ReadonlyArray<readonly [named: string, body: object]> = [
      ["fromWarehouseId", { toWarehouseId: here }],
      ["fromWarehouseId", { fromWarehouseId: randomUUID() }],
      ["toWarehouseId", { toWarehouseId: randomUUID() }],
      ["items.0.entityId", { items: [{ ...item, entityId: randomUUID() }] }],
      ["items.0.variantId", { items: [{ ...item, variantId: randomUUID() }] }],
      ["items", { items: [] }],
      ["items.0.quantityRequested", { items: [{ ...item, quantityRequested: 0 }] }]
    ]
    for (const [named, body] of cases) await yard.wrong(named, "/transfers", { ...whole, ...body })
    const id = await yard.approved(await yard.transfer(here, there, [{ entityId, quantityRequested: 4 }]))
    await yard.wrong("lines.0.delta", `/transfers/${id}/dispatch`)
    const batch = [{ entityId, quantityRequested: 1, batchNumber: "none" }]
    const other = await yard.approved(await yard.transfer(here, there, batch))
    await yard.wrong("lines.0.batchNumber", `/transfers/${other}/dispatch`)
    assert.strictEqual((await read(id)).at("data.transfer.status"), "approved")
    assert.deepStrictEqual(await stocks(entityId), [[3, 0], [0, 0]])
    assert.strictEqual((await move(id, "cancel")).at("data.status"), "cancelled")
  })

  it("receive no more than was dispatched and no items of others; what is not named is missing", async () => {
    const entityId = await yard.thing(here, 9)
    const sent = async () => {
      const id = await yard.approved(await yard.transfer(here, there, [{ entityId, quantityRequested: 3 }]))
      await move(id, "dispatch")
      return id
    }
    const [one, two] = [await sent(), await sent()]
    const [[item], [foreign]] = [await itemsOf(one), await itemsOf(two)]
    const cases = [
      { named: "items", wrong: [[item, 4]] },
      { named: "items.0.quantityReceived", wrong: [[item, -1]] },
      { named: "items.0.itemId", wrong: [[foreign, 1]] },
      { named: "items.1.itemId", wrong: [[item, 1], [item, 1]] }
    ]
    for (const { named, wrong } of cases) {
      const items = wrong.map(([itemId, quantityReceived]) => ({ itemId, quantityReceived }))
      await yard.wrong(named, `/transfers/${one}/receive`, { items })
    }
    // The database refuses a surplus by any statement.
    for (const surplus of [{ quantityReceived: 4 }, { quantityDispatched: 4 }]) {
      const { _tag } = await yard.run(Effect.flip(yard.app.tables.table(transferItems).update(String(item), surplus)))
      assert.include(_tag, "ValidationFailed/ConditionNotMet")
    }
    assert.deepStrictEqual(await yard.stock(entityId, there), [0, 6])
    await move(one, "receive", { items: [] })
    assert.deepStrictEqual(await yard.stock(entityId, there), [0, 3])
  })

  it("are approved, dispatched and received once by eight requests at once, and eight new ones have eight numbers", async () => {
    const entityId = await yard.thing(here, 100)
    const five = [{ entityId, quantityRequested: 5 }]
    const ids = await Promise.all(Array.from({ length: 8 }, () => yard.transfer(here, there, five)))
    const numbers = "select distinct transfer_number from stock_transfers where id = any($1::uuid[])"
    assert.lengthOf(await yard.app.db.query(numbers, [ids]), 8)
    const path = `/api/warehouse/transfers/${ids[0]}`
    await raceOf(yard.app, { method: "POST", path: `${path}/approve` })
    await raceOf(yard.app, { method: "POST", path: `${path}/dispatch` })
    assert.deepStrictEqual(await stocks(entityId), [[95, 0], [0, 5]])
    const body = { items: [{ itemId: (await itemsOf(String(ids[0])))[0], quantityReceived: 5 }] }
    await raceOf(yard.app, { method: "POST", path: `${path}/receive`, body })
    assert.deepStrictEqual(await yard.stock(entityId, there), [5, 0])
  })

  it("in opposite directions at the same time never wait for each other", async () => {
    const things = await Promise.all(Array.from({ length: 6 }, () => yard.thing(here, 50)))
    for (const entityId of things) await yard.adjust(entityId, there, 50)
    const lots = things.flatMap((entityId) => [here, there].map((warehouseId) => ({ entityId, warehouseId })))
    await yard.run(yard.receive(lots.map((one) => ({ ...one, batchNumber: "B", quantity: 50 }))))
    const items = things.map((entityId) => ({ entityId, quantityRequested: 2 }))
    const ids = await Promise.all(Array.from({ length: 12 }, async (_, n) => {
      const [from, to] = n % 2 === 0 ? [here, there] : [there, here]
      return yard.approved(await yard.transfer(from, to, n % 3 === 0 ? items : items.toReversed()))
    }))
    await Promise.all(ids.map((id) => move(id, "dispatch")))
    const arrivals = await Promise.all(ids.map(async (id) => ({
      id,
      items: (await itemsOf(id)).map((itemId) => ({ itemId, quantityReceived: 2 }))
    })))
    await Promise.all(arrivals.map(({ id, items }) => move(id, "receive", { items })))
    for (const entityId of things) assert.deepStrictEqual(await stocks(entityId), [[50, 0], [50, 0]])
  })
})
