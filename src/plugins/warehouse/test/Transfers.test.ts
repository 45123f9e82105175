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
  }, 60_000)
  afterAll(() => yard.close())

  const move = (id: string, name: string, body?: object) =>
    yard.ask("POST", `/warehouse/transfers/${id}/${name}`, body === undefined ? {} : { body })
  const read = (id: string) => yard.done("GET", `/warehouse/transfers/${id}`)
  const itemsOf = async (id: string) => {
    const items = (await read(id)).at("data.items")
    return (Array.isArray(items) ? items : []).map((item) => String(Reflect.get(Object(item), "id")))
  }

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
      const [name, status] of [["submit", "pending_approval"], ["approve", "approved"], [
        "dispatch",
        "in_transit"
      ]] as const
    ) {
      assert.deepStrictEqual((await move(id, name)).at("data.status"), status)
    }
    assert.deepStrictEqual([await yard.stock(tea, here), await yard.stock(tea, there)], [[6, 0], [0, 4]])
    assert.deepStrictEqual(await yard.lotsIn(here), [["late", 1]])
    const [teas, milks] = await itemsOf(id)
    const received = await move(id, "receive", {
      items: [{ itemId: teas, quantityReceived: 4 }, { itemId: milks, quantityReceived: 3 }]
    })
    assert.deepStrictEqual(received.at("data.discrepancies"), [{ itemId: milks, missing: 3 }])
    assert.deepStrictEqual([await yard.stock(tea, there), await yard.stock(milk, there)], [[4, 0], [3, 0]])
    assert.deepStrictEqual(await yard.lotsIn(there), [["soon", 2], ["late", 1]])
    const whole = await read(id)
    assert.deepInclude(whole.at("data.items.1"), { quantityRequested: 6, quantityDispatched: 6, quantityReceived: 3 })
    assert.deepStrictEqual([whole.at("data.transfer.status"), whole.at("data.discrepancies.0.missing")], [
      "received",
      3
    ])
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
    const post = async (body: object) => {
      const item = { entityId, itemName: "thing", quantityRequested: 1 }
      const whole = { fromWarehouseId: here, toWarehouseId: there, items: [item], ...body }
      const answer = await yard.ask("POST", "/warehouse/transfers", { body: whole })
      return [answer.status, answer.at("error.code"), answer.at("error.details.issues.0.path")]
    }
    const refused = (path: string) => [422, "VALIDATION_FAILED", path]
    assert.deepStrictEqual(
      [
        await post({ toWarehouseId: here }),
        await post({ fromWarehouseId: randomUUID() }),
        await post({ toWarehouseId: randomUUID() }),
        await post({ items: [{ entityId: randomUUID(), itemName: "x", quantityRequested: 1 }] }),
        await post({ items: [{ entityId, variantId: randomUUID(), itemName: "x", quantityRequested: 1 }] }),
        await post({ items: [] }),
        await post({ items: [{ entityId, itemName: "x", quantityRequested: 0 }] })
      ],
      [
        "",
        "fromWarehouseId",
        "toWarehouseId",
        "items.0.entityId",
        "items.0.variantId",
        "items",
        "items.0.quantityRequested"
      ]
        .map(refused)
    )
    const id = await yard.approved(await yard.transfer(here, there, [{ entityId, quantityRequested: 4 }]))
    const short = await move(id, "dispatch")
    assert.deepStrictEqual([short.status, short.at("error.details.issues.0.path")], [422, "lines.0.delta"])
    const batch = [{ entityId, quantityRequested: 1, batchNumber: "none" }]
    const named = await move(await yard.approved(await yard.transfer(here, there, batch)), "dispatch")
    assert.deepStrictEqual([named.status, named.at("error.details.issues.0.path")], [422, "lines.0.batchNumber"])
    assert.strictEqual((await read(id)).at("data.transfer.status"), "approved")
    assert.deepStrictEqual([await yard.stock(entityId, here), await yard.stock(entityId, there)], [[3, 0], [0, 0]])
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
    const receive = async (...items: ReadonlyArray<readonly [string | undefined, number]>) => {
      const body = { items: items.map(([itemId, quantityReceived]) => ({ itemId, quantityReceived })) }
      const { at, status } = await move(one, "receive", body)
      return [status, at("error.details.issues.0.path")]
    }
    assert.deepStrictEqual(
      [
        await receive([item, 4]),
        await receive([item, -1]),
        await receive([foreign, 1]),
        await receive([item, 1], [item, 1])
      ],
      [[422, "items"], [422, "items.0.quantityReceived"], [422, "items.0.itemId"], [422, "items.1.itemId"]]
    )
    // The database refuses a surplus by any statement.
    for (const surplus of [{ quantityReceived: 4 }, { quantityDispatched: 4 }]) {
      const { _tag } = await yard.run(Effect.flip(yard.app.tables.table(transferItems).update(String(item), surplus)))
      assert.include(_tag, "ValidationFailed/ConditionNotMet")
    }
    assert.deepStrictEqual(await yard.stock(entityId, there), [0, 6])
    assert.deepStrictEqual(await receive(), [201, undefined])
    assert.deepStrictEqual(await yard.stock(entityId, there), [0, 3])
  })

  it("are approved, dispatched and received once by eight requests at once, and eight new ones have eight numbers", async () => {
    const entityId = await yard.thing(here, 100)
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => yard.transfer(here, there, [{ entityId, quantityRequested: 5 }]))
    )
    const numbers = await yard.app.db.query(
      "select distinct transfer_number from stock_transfers where id = any($1::uuid[])",
      [
        ids
      ]
    )
    assert.strictEqual(numbers.length, 8)
    const path = `/api/warehouse/transfers/${ids[0]}`
    await raceOf(yard.app, { method: "POST", path: `${path}/approve` })
    await raceOf(yard.app, { method: "POST", path: `${path}/dispatch` })
    assert.deepStrictEqual([await yard.stock(entityId, here), await yard.stock(entityId, there)], [[95, 0], [0, 5]])
    const body = { items: [{ itemId: (await itemsOf(String(ids[0])))[0], quantityReceived: 5 }] }
    await raceOf(yard.app, { method: "POST", path: `${path}/receive`, body })
    assert.deepStrictEqual(await yard.stock(entityId, there), [5, 0])
  })

  it("in opposite directions at the same time never wait for each other", async () => {
    const things = await Promise.all(Array.from({ length: 6 }, () => yard.thing(here, 50)))
    for (const entityId of things) {
      await yard.done("POST", "/inventory/adjust", { entityId, warehouseId: there, adjustment: 50 })
    }
    await yard.run(
      yard.receive(
        things.flatMap((entityId) =>
          [here, there].map((warehouseId) => ({ entityId, warehouseId, batchNumber: "B", quantity: 50 }))
        )
      )
    )
    const items = things.map((entityId) => ({ entityId, quantityRequested: 2 }))
    const ids = await Promise.all(Array.from({ length: 12 }, async (_, n) => {
      const [from, to] = n % 2 === 0 ? [here, there] : [there, here]
      return yard.approved(await yard.transfer(from, to, n % 3 === 0 ? items : items.toReversed()))
    }))
    const sent = await Promise.all(ids.map((id) => move(id, "dispatch")))
    assert.deepStrictEqual(sent.map(({ status }) => status), Array(12).fill(201))
    const arrivals = await Promise.all(ids.map(async (id) => ({
      id,
      items: (await itemsOf(id)).map((itemId) => ({ itemId, quantityReceived: 2 }))
    })))
    const received = await Promise.all(arrivals.map(({ id, items }) => move(id, "receive", { items })))
    assert.deepStrictEqual(received.map(({ status }) => status), Array(12).fill(201))
    for (const entityId of things) {
      assert.deepStrictEqual([await yard.stock(entityId, here), await yard.stock(entityId, there)], [[50, 0], [50, 0]])
    }
  })
})
