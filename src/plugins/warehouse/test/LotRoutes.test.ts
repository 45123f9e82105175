import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import type { EntityId, WarehouseId } from "stoa/plugin"
import { testStaffActor } from "stoa/plugin/testing"
import { formerLots } from "../migrations.ts"
import { openYard, type Yard } from "./Yard.ts"

describe("a lot", () => {
  let yard: Yard
  let warehouseId: WarehouseId
  beforeAll(async () => {
    yard = await openYard()
    warehouseId = await yard.place()
  })
  afterAll(() => yard.close())

  /** A lot of a thing of which so many are on hand. */
  const lotOf = async (onHand: number, quantity: number, batchNumber = "B") => {
    const entityId = await yard.thing(warehouseId, onHand)
    const [lot] = await yard.run(yard.receive([{ entityId, warehouseId, batchNumber, quantity }]))
    return { entityId, id: String(lot?.id) }
  }
  const free = async (entityId: string) =>
    (await yard.ask("GET", `/inventory/check?entityIds=${entityId}`)).at(`data.${entityId}`)
  const shipped = async (entityId: EntityId, quantity: number) => {
    const order = await yard.builders.order([[entityId, quantity]])
    const id = String(order["id"])
    await yard.ask("PATCH", `/orders/${id}/status`, { status: "confirmed" })
    const lineItems = [{ orderLineItemId: Object(order["lineItems"])[0].id, quantity }]
    assert.strictEqual((await yard.ask("POST", `/orders/${id}/fulfillments`, { lineItems })).status, 201)
    return { id, orderNumber: order["orderNumber"] }
  }

  it("is corrected with a reason, to no more than is on hand and in no other lot", async () => {
    const { entityId, id } = await lotOf(10, 4)
    await yard.run(yard.receive([{ entityId, warehouseId, batchNumber: "other", quantity: 3 }]))
    const correct = (body: object) => yard.done("POST", `/lots/${id}/correct`, body)
    const body = { reason: "counted", quantity: 7, batchNumber: "B2", expiryDate: "2127-01-01" }
    assert.deepInclude(Object((await correct(body)).at("data")), body)
    await yard.wrong("quantity", `/lots/${id}/correct`, { reason: "x", quantity: 8 })
    await yard.wrong("reason", `/lots/${id}/correct`, { quantity: 1 })
    await yard.refused("404 NOT_FOUND", "POST", `/lots/${randomUUID()}/correct`, { reason: "x" })
    const [entry] = await yard.app.db.query(
      "select payload->>'reason' as reason, before->>'quantity' as before from outbox_events where entity_id = $1 and type like '%update'",
      [id]
    )
    assert.deepStrictEqual(entry, { reason: "counted", before: "4" })
    assert.deepStrictEqual(await yard.surplus(), [])
  })

  it("that is corrected while its goods leave never says more than is on hand", async () => {
    const { entityId, id } = await lotOf(20, 2)
    await Promise.all(Array.from({ length: 8 }, (_, n) =>
      n % 2 === 0
        ? yard.ask("POST", `/warehouse/lots/${id}/correct`, { reason: "counted", quantity: 20 - 2 * n })
        : yard.ask("POST", "/inventory/adjust", { entityId, warehouseId, adjustment: -4 })))
    assert.deepStrictEqual(await yard.surplus(), [])
  })

  it("that is corrected beside another one of the same goods never claims its units", async () => {
    for (let round = 0; round < 5; round++) {
      const { entityId, id } = await lotOf(10, 1)
      const [other] = await yard.run(yard.receive([{ entityId, warehouseId, batchNumber: "other", quantity: 1 }]))
      const correct = (lot: string, quantity: number) =>
        yard.ask("POST", `/warehouse/lots/${lot}/correct`, { reason: "counted", quantity })
      const answers = await Promise.all([correct(id, 9), correct(String(other?.id), 9)])
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 422])
      assert.deepStrictEqual(await yard.surplus(), [])
    }
  })

  it("that is blocked is not for sale and leaves with no order, until it is unblocked", async () => {
    const { entityId, id } = await lotOf(10, 6)
    await yard.run(
      yard.receive([{ entityId, warehouseId, batchNumber: "good", quantity: 2, expiryDate: "2127-01-01" }])
    )
    assert.strictEqual(await free(entityId), 10)
    assert.strictEqual((await yard.done("POST", `/lots/${id}/block`, { reason: "smells" })).at("data.withheld"), 6)
    await yard.refused("409 CONFLICT", "POST", `/lots/${id}/block`, { reason: "again" })
    await yard.wrong("quantity", `/lots/${id}/correct`, { reason: "x", quantity: 1 })
    assert.strictEqual(await free(entityId), 4)
    assert.deepStrictEqual(await yard.lotsIn(warehouseId, `&entityId=${entityId}&isBlocked=true`), [["B", 6]])
    await shipped(entityId, 4)
    assert.deepStrictEqual(await yard.lotsIn(warehouseId, `&entityId=${entityId}`), [["B", 6]])
    assert.strictEqual(
      (await yard.ask("POST", "/inventory/adjust", { entityId, warehouseId, adjustment: -1 })).status,
      422
    )
    // A document that names the batch takes it out although it is reserved.
    const items = [{ entityId, itemName: "thing", quantity: 2, unitCost: 1, batchNumber: "B" }]
    const note = await yard.create("wastage", { warehouseId, type: "spoilage", items })
    await yard.done("POST", `/wastage/${note}/approve`)
    assert.deepStrictEqual(await yard.stock(entityId, warehouseId), [4, 0])
    assert.strictEqual(await free(entityId), 0)
    await yard.done("POST", `/lots/${id}/unblock`, { reason: "fine" })
    assert.strictEqual(await free(entityId), 4)
    await yard.refused("409 CONFLICT", "POST", `/lots/${id}/unblock`, { reason: "again" })
  })

  it("that is blocked withholds what no order has, once of eight requests at once", async () => {
    const { entityId, id } = await lotOf(5, 5)
    await yard.builders.order([[entityId, 3]])
    const all = await Promise.all(
      Array.from({ length: 8 }, () => yard.ask("POST", `/warehouse/lots/${id}/block`, { reason: "recall" }))
    )
    assert.deepStrictEqual(all.filter(({ status }) => status === 201).map(({ at }) => at("data.withheld")), [2])
    assert.strictEqual(await free(entityId), 0)
  })

  it("names the orders that got goods of its batch, from any warehouse, with addresses for readers of orders", async () => {
    const { entityId, id } = await lotOf(9, 9, "RECALL")
    const first = await shipped(entityId, 2)
    const there = await yard.place()
    const items = [{ entityId, quantityRequested: 7, batchNumber: "RECALL" }]
    const transfer = await yard.approved(await yard.transfer(warehouseId, there, items))
    await yard.done("POST", `/transfers/${transfer}/dispatch`)
    const itemId = (await yard.done("GET", `/transfers/${transfer}`)).text("data.items.0.id")
    await yard.done("POST", `/transfers/${transfer}/receive`, { items: [{ itemId, quantityReceived: 7 }] })
    const second = await shipped(entityId, 3)
    await yard.app.db.query("update orders set email = 'ada@example.com' where id = $1", [second.id])
    const found = await yard.done("GET", `/lots/${id}/orders`)
    assert.deepStrictEqual(found.list("data").map(Object).map((one) => [one.orderId, one.orderNumber, one.units]), [
      [second.id, second.orderNumber, 3],
      [first.id, first.orderNumber, 2]
    ])
    assert.strictEqual(found.at("data.0.email"), "ada@example.com")
    const page = await yard.done("GET", `/lots/${id}/orders?page=2&limit=1`)
    assert.deepStrictEqual([page.at("data.0.orderId"), page.at("meta.pagination.total")], [first.id, 2])
    const reader = { ...testStaffActor, permissions: ["warehouse:read"] }
    assert.isNull((await yard.done("GET", `/lots/${id}/orders`, undefined, reader)).at("data.0.email"))
  })

  it("of the version before is lowered to what is on hand, and its shipments are found", async () => {
    const { entityId, id } = await lotOf(3, 9, "OLD")
    const order = await yard.builders.order([[entityId, 1]])
    const { query } = yard.app.db
    await query(
      "create table warehouse_shipped_lots (organization_id text, order_id uuid, lots jsonb, created_at timestamptz)"
    )
    const lots = JSON.stringify([{ batchNumber: "OLD", expiryDate: null, quantity: 2 }])
    await query("insert into warehouse_shipped_lots values ('org_default', $1, $2::jsonb, now())", [order["id"], lots])
    for (const step of formerLots) await query(step)
    await query("drop table warehouse_shipped_lots")
    assert.deepStrictEqual(await yard.surplus(), [])
    assert.deepStrictEqual(await yard.lotsIn(warehouseId, `&entityId=${entityId}`), [["OLD", 3]])
    const found = await yard.done("GET", `/lots/${id}/orders`)
    assert.deepStrictEqual([found.at("data.0.orderId"), found.at("data.0.units")], [order["id"], 2])
  })
})
