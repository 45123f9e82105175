import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ChannelRefused } from "../index.ts"
import { openOrderShop, type OrderShop } from "./OrderShop.ts"

describe("jobs of channels say what they did", () => {
  let shop: OrderShop
  let storeId: string
  beforeAll(async () => {
    shop = await openOrderShop({ driftAlertThreshold: 1 })
    storeId = await shop.connect()
    await shop.ran(storeId, "import")
  })
  afterAll(() => shop.close())

  /** Waits until a job of the task has said this. */
  const said = (task: string, output: object) =>
    waitFor(`${task} says ${JSON.stringify(output)}`, async () => {
      const found = await shop.app.db.query(
        "select 1 from commerce_jobs where task_slug = $1 and output @> $2::jsonb",
        [task, JSON.stringify(output)]
      )
      return found.length > 0 || assert.fail("No job has said it.")
    })

  it("about products, stock and differences", async () => {
    await said("channel/import-catalog", { complete: true, cursor: null, imported: 5, skipped: [], warnings: [] })
    for (const id of ["v1", "v2"]) shop.memory.levels.set(id, 3)
    await shop.app.serviceRegistry.enqueue("channel/sync-inventory", { storeId })
    await said("channel/sync-inventory", { complete: true, synced: 2 })
    for (const id of ["v1", "v2"]) shop.memory.levels.set(id, 4)
    await shop.done("POST", `/stores/${storeId}/reconcile`)
    const found = { imported: 0, converged: 0, archived: 0, inventoryUpdated: 2, openConflicts: 0, driftAlert: true }
    await said("channel/reconcile", found)
    await shop.app.serviceRegistry.enqueue("channel/reconcile-sweep", {})
    await said("channel/reconcile-sweep", { enqueued: 1 })
  })

  it("about orders, sent or given back", async () => {
    const goods = await shop.goodsOf(storeId)
    const orderId = await shop.order([[goods, 1]])
    const { id: exportId } = await shop.exported(orderId, storeId, "confirmed")
    await said("channel/push-order", { exportId, state: "confirmed" })
    shop.memory.failure = new ChannelRefused({ message: "No." })
    const refused = await shop.order([[goods, 1]])
    await shop.exported(refused, storeId, "failed")
    shop.app.clock.advance("5 hours")
    await shop.app.serviceRegistry.enqueue("channel/reap-exports", {})
    await said("channel/reap-exports", { abandonedCount: 1, refundedOrderIds: [refused] })
  })
})
