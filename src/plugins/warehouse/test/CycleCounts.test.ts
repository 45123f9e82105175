import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { openYard, type Yard } from "./Yard.ts"

describe("a cycle count", () => {
  let yard: Yard
  beforeAll(async () => {
    yard = await openYard()
  })
  afterAll(() => yard.close())

  const move = (id: string, name: string, body?: object) => yard.done("POST", `/reconciliations/${id}/${name}`, body)
  const itemsOf = async (id: string) =>
    (await yard.done("GET", `/reconciliations/${id}`)).list("data.items").map(Object)
  /** Enters what was counted of things. */
  const enter = async (id: string, counts: Readonly<Record<string, number>>) => {
    const items = (await itemsOf(id)).flatMap((item) => {
      const physicalQuantity = counts[item.entityId]
      return physicalQuantity === undefined ? [] : [{ itemId: item.id, physicalQuantity }]
    })
    await move(id, "count", { items })
  }
  const open = (body: object) => yard.create("reconciliations/open", body)

  it("opens for named goods, else for those worth most that were not counted for so long", async () => {
    const warehouseId = await yard.place()
    const cheap = await yard.thing(warehouseId, 10, 1)
    const dear = await yard.thing(warehouseId, 2, 900)
    const middle = await yard.thing(warehouseId, 10, 100)
    const things = async (id: string) => (await itemsOf(id)).map((item) => item.entityId)
    const first = await open({ warehouseId, limit: 2 })
    assert.deepStrictEqual(await things(first), [dear, middle])
    // Goods of an open count are not opened again.
    const second = await open({ warehouseId, notCountedForDays: 30 })
    assert.deepStrictEqual(await things(second), [cheap])
    await yard.wrong("notCountedForDays", "/reconciliations/open", { warehouseId, notCountedForDays: 30 })
    await enter(first, { [dear]: 2, [middle]: 10 })
    await move(first, "submit")
    await move(first, "approve")
    await move(second, "cancel")
    assert.deepStrictEqual(await things(await open({ warehouseId, notCountedForDays: 30 })), [cheap])
    await yard.wrong("items.0.entityId", "/reconciliations/open", { warehouseId, items: [{ entityId: randomUUID() }] })
    assert.deepStrictEqual(await things(await open({ warehouseId, items: [{ entityId: dear }] })), [dear])
  })

  it("hides what stock says from those who count blindly, until it is submitted", async () => {
    const warehouseId = await yard.place()
    const [counted, left] = [await yard.thing(warehouseId, 10), await yard.thing(warehouseId, 5)]
    const id = await open({ warehouseId, isBlind: true })
    const seen = async (entityId: string) => {
      const item = (await itemsOf(id)).find((one) => one.entityId === entityId)
      return [item?.systemQuantity, item?.physicalQuantity, item?.variance]
    }
    assert.deepStrictEqual(await seen(counted), [null, null, null])
    await enter(id, { [counted]: 8 })
    assert.deepStrictEqual(await seen(counted), [null, 8, null])
    await move(id, "submit")
    assert.deepStrictEqual([await seen(counted), await seen(left)], [[10, 8, -2], [null, null, null]])
    await move(id, "approve")
    // What was not counted stays as it is.
    assert.deepStrictEqual([await yard.stock(counted, warehouseId), await yard.stock(left, warehouseId)], [[8, 0], [
      5,
      0
    ]])
  })

  it("posts its differences once of eight requests, beside what moved since, with lots", async () => {
    const warehouseId = await yard.place()
    const entityId = await yard.thing(warehouseId, 10)
    await yard.run(yard.receive([{ entityId, warehouseId, batchNumber: "B", quantity: 10 }]))
    const id = await open({ warehouseId })
    await enter(id, { [entityId]: 8 })
    await move(id, "submit")
    await yard.adjust(entityId, warehouseId, -3)
    await yard.adjust(entityId, warehouseId, 1)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => yard.ask("POST", `/warehouse/reconciliations/${id}/approve`))
    )
    assert.deepStrictEqual(answers.filter(({ status }) => status === 201).length, 1)
    assert.deepStrictEqual(await yard.stock(entityId, warehouseId), [6, 0])
    assert.deepStrictEqual(await yard.lotsIn(warehouseId), [["B", 5]])
    assert.deepStrictEqual(await yard.surplus(), [])
  })

  it("is 409 where another count has adjusted the goods since, also at once, until it is counted again", async () => {
    const warehouseId = await yard.place()
    const entityId = await yard.thing(warehouseId, 10)
    const ids = [await open({ warehouseId }), await open({ warehouseId, items: [{ entityId }] })]
    for (const id of ids) {
      await enter(id, { [entityId]: 7 })
      await move(id, "submit")
    }
    const answers = await Promise.all(ids.map((id) => yard.ask("POST", `/warehouse/reconciliations/${id}/approve`)))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 409])
    assert.deepStrictEqual(await yard.stock(entityId, warehouseId), [7, 0])
    const again = ids[answers.findIndex(({ status }) => status === 409)] ?? ""
    await enter(again, { [entityId]: 7 })
    await move(again, "submit")
    assert.strictEqual((await move(again, "approve")).at("data.status"), "approved")
    assert.deepStrictEqual(await yard.stock(entityId, warehouseId), [7, 0])
  })
})
