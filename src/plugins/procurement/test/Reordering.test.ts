import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { openShop, type Shop } from "./ProcurementShop.ts"

describe("reorder rules", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop()
  })
  afterAll(() => shop.close())

  const rule = async (entityId: string, more: object = {}) => {
    const body = { entityId, warehouseId: await shop.place(), minQuantity: 5, targetQuantity: 20, ...more }
    return (await shop.done("POST", "/reorder-rules", body)).text("data.id")
  }
  const price = (supplierId: string, entityId: string, unitCost: number, more: object = {}) =>
    shop.done("POST", `/suppliers/${supplierId}/items`, { entityId, unitCost, ...more })
  const run = async () => Object((await shop.done("POST", "/reorder")).at("data"))
  const linesOf = async (id: string) => {
    const items = (await shop.order(id)).list("data.items").map(Object)
    return items.map((one) => [one.entityId, one.quantityOrdered, one.unitCost])
  }

  it("draft one order for a supplier, once for a shortage, until it is there again", async () => {
    const supplierId = await shop.supplier()
    const [flour, rye, warehouseId] = [await shop.product(), await shop.product(), await shop.place()]
    for (const entityId of [flour, rye]) await price(supplierId, entityId, 100, { leadTimeDays: 7 })
    const id = await rule(flour, { warehouseId })
    await rule(rye, { warehouseId, supplierId })
    const runs = await Promise.all(Array.from({ length: 8 }, run))
    const orders = runs.flatMap((one) => one.orders)
    assert.lengthOf(orders, 1)
    const [first] = orders
    assert.deepInclude(first, { supplierId, warehouseId, status: "draft", grandTotal: 4_000 })
    assert.deepStrictEqual(await linesOf(first.id), [[flour, 20, 100], [rye, 20, 100]])
    for (const name of ["submit", "approve"]) {
      await shop.move(first.id, name)
      assert.deepStrictEqual((await run()).orders, [], name)
    }
    await shop.move(first.id, "cancel")
    const changed = await shop.done("PATCH", `/reorder-rules/${id}`, { isActive: false })
    assert.strictEqual(changed.at("data.isActive"), false)
    await shop.serviceRegistry.enqueue("procurement/reorder", {})
    const second = await waitFor("the draft of the job", async () => {
      const { at } = await shop.done("GET", `/purchase-orders?supplierId=${supplierId}&status=draft`)
      return at("data.0.id")
    })
    assert.deepStrictEqual(await linesOf(String(second)), [[rye, 20, 100]])
  })

  it("ask the preferred supplier, else for the lowest sum, for at least the smallest quantity", async () => {
    const [cheap, dear, preferred] = [await shop.supplier(), await shop.supplier(), await shop.supplier()]
    const [some, bulk, best] = [await shop.product(), await shop.product(), await shop.product()]
    await price(dear, some, 100)
    await price(cheap, some, 90, { minOrderQuantity: 100 })
    await price(dear, bulk, 100)
    await price(cheap, bulk, 80, { minOrderQuantity: 24 })
    await price(dear, best, 100)
    await price(preferred, best, 200, { isPreferred: true })
    for (const entityId of [some, bulk, best]) await rule(entityId)
    const { orders } = await run()
    const drafted = await Promise.all(orders.map((one: { readonly id: string }) => linesOf(one.id)))
    assert.sameDeepMembers(drafted.flat(), [[some, 20, 100], [bulk, 24, 80], [best, 20, 200]])
  })

  it("say which got no order, and keep to one rule for a thing in a warehouse", async () => {
    const [entityId, gone, warehouseId] = [await shop.product(), await shop.product(), await shop.place()]
    const supplierId = await shop.supplier()
    await price(supplierId, gone, 100)
    const unpriced = await rule(entityId, { warehouseId })
    const closed = await shop.place()
    const unplaced = await rule(gone, { warehouseId: closed })
    await shop.db.query("delete from warehouses where id = $1", [closed])
    const { orders, skipped } = await run()
    assert.deepStrictEqual(orders, [])
    const rules = skipped.map(({ ruleId }: { readonly ruleId: string }) => ruleId)
    assert.sameMembers(rules, [unpriced, unplaced])
    const again = { entityId, warehouseId, minQuantity: 1, targetQuantity: 1 }
    await shop.refused("409 CONFLICT", "POST", "/reorder-rules", again)
    await shop.refused("422 VALIDATION_FAILED", "POST", "/reorder-rules", { ...again, minQuantity: 2 })
  })
})
