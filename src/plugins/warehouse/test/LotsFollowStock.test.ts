import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { EntityId, type StockPostingLine, WarehouseId } from "stoa/plugin"
import { openYard, type Yard } from "./Yard.ts"

/** The same numbers in each run. */
const randomOf = (seed: number) => {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

describe("lots", () => {
  let yard: Yard
  beforeAll(async () => {
    yard = await openYard()
  })
  afterAll(() => yard.close())

  /** Every kind of movement of one thing between two warehouses; a refusal of one is fine. */
  const movementsOf = (
    entityId: EntityId,
    [home, away]: readonly [WarehouseId, WarehouseId],
    random: (below: number) => number
  ) => {
    const some = () => 1 + random(5)
    const item = { entityId, itemName: "thing" }
    const ask = async (path: string, body: object = {}, method = "POST") => {
      const { at } = await yard.ask(method, path, body)
      return String(at("data.id"))
    }
    const adjust = (body: object) => ask("/inventory/adjust", { entityId, warehouseId: home, ...body })
    const post = (line: Partial<StockPostingLine>) =>
      yard.run(
        yard.tools.services.inventory.post({ type: "test", id: randomUUID() }, [{
          entityId,
          warehouseId: home,
          ...line
        }])
      )
    const receiveLot = async (quantity: number) => {
      const expiryDate = ["2020-01-01", "2127-01-01", null][random(3)]
      await yard.run(
        yard.receive([{ entityId, warehouseId: home, batchNumber: `B${random(3)}`, expiryDate, quantity }])
      )
      await post({ delta: quantity, unitCost: 5, average: true })
    }
    const sale = async () => {
      const order = await yard.builders.order([[entityId, 2]]).catch(() => undefined)
      if (order === undefined) return
      const lines = (quantity: number) => ({
        lineItems: [{ orderLineItemId: Object(order["lineItems"])[0].id, quantity }]
      })
      await ask(`/orders/${order["id"]}/status`, { status: "confirmed" }, "PATCH")
      const parcel = await ask(`/orders/${order["id"]}/fulfillments`, lines(1 + random(2)))
      if (random(2) === 0) await ask(`/orders/${order["id"]}/fulfillments/${parcel}`, { status: "cancelled" }, "PATCH")
      await ask(`/orders/${order["id"]}/refunds`, {
        lines: [{ lineItemId: Object(order["lineItems"])[0].id, quantity: 1 }],
        restock: random(2) === 0
      })
    }
    const transfer = async () => {
      const id = await ask("/warehouse/transfers", {
        fromWarehouseId: home,
        toWarehouseId: away,
        items: [{ ...item, quantityRequested: 3, ...(random(2) === 0 && { batchNumber: "B1" }) }]
      })
      for (const move of ["approve", "dispatch"]) await ask(`/warehouse/transfers/${id}/${move}`)
      const itemId = Object((await yard.ask("GET", `/warehouse/transfers/${id}`)).body).data.items[0].id
      await ask(`/warehouse/transfers/${id}/receive`, { items: [{ itemId, quantityReceived: random(4) }] })
    }
    const document = async (path: string, body: object, moves: ReadonlyArray<string>) => {
      const id = await ask(`/warehouse/${path}`, { warehouseId: home, ...body })
      for (const move of moves) await ask(`/warehouse/${path}/${id}/${move}`)
    }
    const importStock = async () => {
      const slug = Object((await yard.ask("GET", `/catalog/entities/${entityId}`)).body).data.slug
      const [row] = await yard.app.db.query("select code from warehouses where id = $1", [home])
      const body = `${JSON.stringify({ slug, warehouse: row?.["code"], onHand: random(12) })}\n`
      const headers = { "content-type": "application/x-ndjson" }
      const started = await yard.ask("POST", "/imports?kind=stock", body, undefined, headers)
      const status = async () => String((await yard.ask("GET", `/imports/${started.text("data.id")}`)).at("data.state"))
      await expect.poll(status, { timeout: 60_000 }).toMatch(/completed|failed/)
    }
    return {
      receiveLot: () => receiveLot(some()),
      receiveMoreLots: () => receiveLot(some()),
      restock: () => adjust({ type: "restock", quantity: some() }),
      comeBack: () => adjust({ type: "return", quantity: some() }),
      damage: () => adjust({ type: "damage", quantity: some() }),
      set: () => adjust({ type: "set", quantity: random(9) }),
      remove: () => adjust({ mode: "remove", amount: some() }),
      oversell: () => post({ delta: -some(), type: "sale", allowNegative: true }),
      sale,
      transfer,
      importStock,
      waste: () =>
        document("wastage", { type: "damage", items: [{ ...item, quantity: some(), unitCost: 1 }] }, ["approve"]),
      count: () =>
        document("reconciliations", { items: [{ ...item, physicalQuantity: random(9) }] }, ["submit", "approve"])
    }
  }

  it("never say more than is on hand, whichever movements of stock there are", async () => {
    for (const seed of [1, 2, 3]) {
      const random = randomOf(seed)
      const places = [await yard.place(), await yard.place()] as const
      const moves = Object.entries(
        movementsOf(EntityId.make(await yard.builders.product({ stock: 0 })), places, random)
      )
      const script: Array<string> = []
      for (
        const [name, move] of [...moves, ...Array.from({ length: 30 }, () => moves[random(moves.length)] ?? moves[0])]
          .flatMap((one) => one ? [one] : [])
      ) {
        script.push(name)
        await move()
        assert.deepStrictEqual(await yard.surplus(), [], `seed ${seed}: ${script.join()}`)
      }
    }
  })

  it("never say more than is on hand when movements of the same goods run at once", async () => {
    const places = [await yard.place(), await yard.place()] as const
    const entityId = EntityId.make(await yard.builders.product({ stock: 0 }))
    const { importStock: _, ...moves } = movementsOf(entityId, places, randomOf(9))
    for (let round = 0; round < 5; round++) {
      await Promise.allSettled(Object.values(moves).map((move) => move()))
      assert.deepStrictEqual(await yard.surplus(), [])
    }
  })

  it("have what left them in order, and goods that come back stand without a lot", async () => {
    const warehouseId = WarehouseId.make(await yard.place())
    const goods = { entityId: await yard.thing(warehouseId, 10), warehouseId }
    await yard.run(yard.receive([
      { ...goods, batchNumber: "late", expiryDate: "2127-06-01", quantity: 4 },
      { ...goods, batchNumber: "soon", expiryDate: "2127-01-01", quantity: 4 }
    ]))
    await yard.adjust(goods.entityId, warehouseId, -5)
    assert.deepStrictEqual(await yard.lotsIn(warehouseId), [["late", 3]])
    await yard.adjust(goods.entityId, warehouseId, 5)
    assert.deepStrictEqual(await yard.lotsIn(warehouseId), [["late", 3]])
  })
})
