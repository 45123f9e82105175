import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Cutter, openCutter } from "../../../../test/support/OpenTap.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ChannelRefused } from "../index.ts"
import { openOrderShop, type OrderShop } from "./OrderShop.ts"

describe("a process that ends between two statements", () => {
  let shop: OrderShop
  let cutter: Cutter
  let storeId: string
  beforeAll(async () => {
    cutter = await openCutter(/channel_order_exports|channel_refund_requests|refund_lines/, "any connection")
    shop = await openOrderShop({}, { postgres: cutter })
    storeId = await shop.connect()
  })
  afterAll(async () => {
    await shop.close()
    await cutter.close()
  })

  const run = async (task: string, input: object) => {
    // A job that was cut off before would be whole while this one is cut off.
    await shop.app.db.query("delete from commerce_jobs where task_slug = $1 and status = 'pending'", [task])
    const id = await shop.app.serviceRegistry.enqueue(task, { ...input })
    await waitFor("the job has run", async () => {
      const [job] = await shop.app.db.query("select status, wait_until from commerce_jobs where id = $1", [id])
      return job?.["status"] !== "processing" && (job?.["status"] !== "pending" || job["wait_until"] !== null)
    })
    return { status: 200 }
  }
  /** Runs a job before each of whose statements the connection is cut, until it is whole. */
  const cutOff = async (task: string, input: object, check: () => Promise<void>) => {
    const times = await cutter.cutOff(shop.app, [200], () => run(task, input), check)
    assert.isAtLeast(times, 3, task)
  }
  const one = async (text: string, orderId: string): Promise<Readonly<Record<string, unknown>>> =>
    (await shop.app.db.query(text, [orderId]))[0] ?? {}
  /** How many refunds an order has after a job that could not write a state. */
  const unlessWritten = async (table: string, state: string, orderId: string, task: string, input: object) => {
    await shop.app.db.query(
      "create or replace function refused() returns trigger language plpgsql as $$ begin raise 'refused'; end $$"
    )
    await shop.app.db.query(
      `create trigger refused before update on ${table} for each row when (new.state = '${state}') execute function refused()`
    )
    await run(task, input)
    await shop.app.db.query(`drop trigger refused on ${table}`)
    return (await one("select count(*)::int as refunds from refunds where order_id = $1", orderId))["refunds"]
  }
  /** An order that the store has not. */
  const unsent = async () => {
    const goods = await shop.goodsOf(storeId)
    shop.memory.failure = new ChannelRefused({ message: "No." })
    const orderId = await shop.order([[goods, 2]])
    await shop.exported(orderId, storeId, "failed")
    await shop.rested(orderId)
    shop.memory.failure = undefined
    return { orderId, goods }
  }

  it("sends an order once, and knows it", async () => {
    const { orderId } = await unsent()
    await cutOff("channel/push-order", { storeId, orderId }, async () => {
      const { remote_order_id: remote, state } = await shop.row(orderId, storeId)
      assert.isAtMost(shop.slicesOf(orderId).length, 1)
      assert.strictEqual(remote !== null, state === "confirmed")
    })
    await shop.exported(orderId, storeId, "confirmed")
    assert.lengthOf(shop.slicesOf(orderId), 1)
  })

  it("takes a shipment and a refund over once, each with its note", async () => {
    const { goods, orderId } = await unsent()
    await shop.app.serviceRegistry.enqueue("channel/push-order", { storeId, orderId })
    await shop.exported(orderId, storeId, "confirmed")
    const lines = [{ externalVariantId: goods.externalId, quantity: 1 }]
    const before = shop.memory.orders.get(orderId)
    assert.isDefined(before)
    shop.memory.orders.set(orderId, {
      ...before,
      fulfillments: [{ externalId: "f", lines, trackingNumber: null, trackingUrl: null }],
      refunds: [{ remoteRefundId: "r", amount: 1_000, lines }]
    })
    await shop.app.db.query(
      `insert into channel_deliveries (id, organization_id, store_id, delivery_id, topic, hints)
        values (gen_random_uuid(), 'org_default', $1, 'd', 'order', $2)`,
      [storeId, JSON.stringify([{ kind: "order", externalId: before.remoteOrderId }])]
    )
    await cutOff("channel/handle-deliveries", { storeId }, async () => {
      const { parcels, shipments } = await one(
        `select (select count(*)::int from fulfillments where order_id = $1) as parcels,
          cardinality(shipments) as shipments from channel_order_exports where order_id = $1`,
        orderId
      )
      assert.strictEqual(parcels, shipments)
    })
    const row = () => one("select id, state, refund_id from channel_refund_requests where order_id = $1", orderId)
    const { id: requestId } = await row()
    await shop.app.db.query("update channel_refund_requests set state = 'approved' where id = $1", [requestId])
    assert.strictEqual(
      await unlessWritten("channel_refund_requests", "executing", orderId, "channel/execute-refund", { requestId }),
      0
    )
    await cutOff("channel/execute-refund", { requestId }, async () => {
      const { refund_id: known } = await row()
      const { refunds } = await one("select count(*)::int as refunds from refunds where order_id = $1", orderId)
      assert.strictEqual(refunds, known === null ? 0 : 1)
    })
    await waitFor("the refund is executed", async () => (await row())["state"] === "executed")
    assert.strictEqual((await shop.orderOf(orderId)).at("data.refundedTotal"), 1_000)
  })

  it("refunds an order that no store sends exactly if it abandons the export", async () => {
    const { orderId } = await unsent()
    await shop.app.db.query(
      "update channel_order_exports set failed_at = now() - interval '5 hours' where order_id = $1",
      [orderId]
    )
    assert.strictEqual(
      await unlessWritten("channel_order_exports", "abandoned", orderId, "channel/reap-exports", {}),
      0
    )
    await cutOff("channel/reap-exports", {}, async () => {
      const { refunds, state } = await one(
        `select (select count(*)::int from refunds where order_id = $1) as refunds, state
          from channel_order_exports where order_id = $1`,
        orderId
      )
      assert.strictEqual(refunds, state === "abandoned" ? 1 : 0)
    })
    await waitFor("the money is back", async () => (await shop.orderOf(orderId)).at("data.refundedTotal") === 2_000)
  })
})
