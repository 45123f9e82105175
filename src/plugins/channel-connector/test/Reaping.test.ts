import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ChannelRefused, ChannelUnavailable } from "../index.ts"
import { openOrderShop, type OrderShop } from "./OrderShop.ts"

describe("orders that no store sends", () => {
  let shop: OrderShop
  let storeId: string
  beforeAll(async () => {
    shop = await openOrderShop({}, { shipping: { type: "flat", flatRate: 490 } })
    storeId = await shop.connect()
  })
  afterEach(() => void Object.assign(shop.memory, { failure: undefined, silence: undefined }))
  afterAll(() => shop.close())

  const reap = async () => {
    const id = await shop.app.serviceRegistry.enqueue("channel/reap-exports", {})
    await waitFor("the run is over", async () => {
      const [job] = await shop.app.db.query("select status from commerce_jobs where id = $1", [id])
      return job === undefined || job["status"] === "succeeded" || job["status"] === "superseded"
    })
  }
  /** An order whose export failed so many hours ago. */
  const failed = async (things: Parameters<OrderShop["order"]>[0], hours: number, kind = "definitive") => {
    const message = "No."
    shop.memory.failure = kind === "definitive" ? new ChannelRefused({ message }) : new ChannelUnavailable({ message })
    const orderId = await shop.order(things)
    await shop.exported(orderId, storeId, "failed")
    await shop.rested(orderId)
    await shop.app.db.query(
      "update channel_order_exports set failed_at = failed_at - make_interval(hours => $2) where order_id = $1 and state = 'failed'",
      [orderId, hours]
    )
    shop.memory.failure = undefined
    return orderId
  }
  const refunded = async (orderId: string) => (await shop.orderOf(orderId)).at("data.refundedTotal")
  const state = async (orderId: string) => (await shop.row(orderId, storeId))["state"]

  it("are refunded and abandoned after the time of their failure, once", async () => {
    const goods = await shop.goodsOf(storeId)
    const [early, late] = [await failed([[goods, 1]], 3), await failed([[goods, 2]], 5)]
    const waiting = await failed([[goods, 1]], 23, "transient")
    const silent = await failed([[goods, 1]], 25, "transient")
    await Promise.all([reap(), reap()])
    assert.deepStrictEqual(
      await Promise.all([early, late, waiting, silent].map(state)),
      ["failed", "abandoned", "failed", "abandoned"]
    )
    await waitFor("the money is back", async () => (await refunded(silent)) === 1_490)
    assert.deepStrictEqual(await Promise.all([early, late, waiting].map(refunded)), [0, 2_490, 0])
    await reap()
    assert.strictEqual(await refunded(late), 2_490)
  })

  it("get back the lines of their store alone", async () => {
    const own = await shop.goodsOf("7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11", 500, false)
    const orderId = await failed([[await shop.goodsOf(storeId), 2], [own, 1]], 5)
    await reap()
    await waitFor("the money is back", async () => (await refunded(orderId)) === 2_000)
    assert.strictEqual((await shop.orderOf(orderId)).at("data.status"), "pending")
  })

  it("stay failed with a reason while their refund is refused", async () => {
    const orderId = await failed([[await shop.goodsOf(storeId), 2]], 5)
    await shop.ask("POST", `/orders/${orderId}/refunds`, { amount: 2_000 })
    await reap()
    const row = await shop.row(orderId, storeId)
    assert.strictEqual(row["state"], "failed")
    assert.match(String(row["last_error"]), /^It could not be refunded: amount must be at most 490/)
    assert.strictEqual(await refunded(orderId), 2_000)
  })

  it("are no such orders when the store has them after all", async () => {
    shop.memory.silence = new ChannelUnavailable({ message: "No answer." })
    const orderId = await shop.order([[await shop.goodsOf(storeId), 1]])
    await shop.exported(orderId, storeId, "failed")
    await shop.app.db.query(
      "update channel_order_exports set failed_at = failed_at - interval '25 hours' where order_id = $1",
      [orderId]
    )
    shop.memory.silence = undefined
    await reap()
    await shop.exported(orderId, storeId, "confirmed")
    assert.deepStrictEqual([await refunded(orderId), shop.slicesOf(orderId).length], [0, 1])
  })

  it("are sent when their job was lost", async () => {
    const orderId = await failed([[await shop.goodsOf(storeId), 1]], 0)
    await shop.app.db.query(
      "update channel_order_exports set state = 'exported', updated_at = now() - interval '7 hours' where order_id = $1",
      [orderId]
    )
    await reap()
    await shop.exported(orderId, storeId, "confirmed")
  })
})
