import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import { machineOf } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { ChannelRefused, ChannelUnavailable } from "../index.ts"
import { orderExport, refundRequest } from "../OrderTables.ts"
import { orderPushing } from "../PushOrder.ts"
import { openOrderShop, type OrderShop } from "./OrderShop.ts"

describe("orders of stores", () => {
  let shop: OrderShop
  let storeId: string
  beforeAll(async () => {
    shop = await openOrderShop({}, { shipping: { type: "flat", flatRate: 490 } })
    storeId = await shop.connect()
  })
  afterEach(() => void Object.assign(shop.memory, { failure: undefined, silence: undefined, cancels: true }))
  afterAll(() => shop.close())

  it("are sent once when they are paid, with their shipping, and shown with what was sent", async () => {
    const goods = await shop.goodsOf(storeId)
    const orderId = await shop.order([[goods, 3]])
    await shop.exported(orderId, storeId, "confirmed")
    const [slice, ...more] = shop.slicesOf(orderId)
    assert.isEmpty(more)
    assert.deepInclude(slice ?? {}, { grandTotal: 3_490, shippingTotal: 490, taxTotal: 0 })
    assert.deepInclude(slice?.lines[0] ?? {}, { externalVariantId: goods.externalId, quantity: 3, unitPrice: 1_000 })
    assert.deepInclude(slice?.customer ?? {}, { name: "Ann Lee", email: "ann@example.com" })
    const list = await shop.done("GET", `/exports?orderId=${orderId}&state=confirmed&storeId=${storeId}`)
    assert.deepInclude(list.at("data.0"), {
      attempts: 1,
      remoteOrderId: `r${shop.memory.slices.length}`,
      failureKind: null
    })
  })

  it("of two stores go to each with its lines, and what none ships to neither", async () => {
    const other = await shop.connect()
    const [mine, theirs] = [await shop.goodsOf(storeId), await shop.goodsOf(other, 700)]
    const own = await shop.goodsOf("7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11", 500, false)
    const orderId = await shop.order([[mine, 1], [theirs, 2], [own, 1]])
    for (const id of [storeId, other]) await shop.exported(orderId, id, "confirmed")
    const sent = shop.slicesOf(orderId).map(({ grandTotal, shippingTotal }) => [grandTotal, shippingTotal])
    assert.sameDeepMembers(sent, [[1_000, 0], [1_400, 0]])
  })

  it("that cost nothing are sent when they are made", async () => {
    await shop.ask("POST", "/promotions", { code: "FREE", name: "FREE", type: "free_shipping", value: 0 })
    const orderId = await shop.order([[await shop.goodsOf(storeId, 0), 1]], { promotionCodes: ["FREE"] })
    await shop.exported(orderId, storeId, "confirmed")
  })

  it("fail for good without an address or a product at the store, with a sentence", async () => {
    const cases = [
      [
        await shop.goodsOf(storeId),
        { shippingAddress: undefined },
        "The order has no shipping address, which the store needs."
      ],
      [await shop.goodsOf(storeId, 1_000, false), {}, /^The store has no product for "Title of plugin-test-\d+"\.$/]
    ] as const
    for (const [goods, terms, why] of cases) {
      const orderId = await shop.order([[goods, 1]], terms)
      const row = await shop.exported(orderId, storeId, "failed")
      assert.strictEqual(row["failure_kind"], "definitive")
      assert.match(String(row["last_error"]), new RegExp(why))
      assert.isEmpty(shop.slicesOf(orderId))
    }
  })

  it("that the store refuses fail at once, and are sent again by hand", async () => {
    shop.memory.failure = new ChannelRefused({ message: "Unknown country." })
    const orderId = await shop.order([[await shop.goodsOf(storeId), 1]])
    const { id } = await shop.exported(orderId, storeId, "failed")
    const failed = await shop.done("GET", `/exports/failed?orderId=${orderId}`)
    assert.deepInclude(failed.at("data.0"), { failureKind: "definitive", lastError: "Unknown country.", attempts: 1 })
    shop.memory.failure = undefined
    const again = await shop.done("POST", `/exports/${id}/retry`)
    assert.deepInclude(again.at("data"), { state: "exported", attempts: 2, lastError: null, failureKind: null })
    await shop.exported(orderId, storeId, "confirmed")
    await shop.refused("422 INVALID_TRANSITION", "POST", `/exports/${id}/retry`)
    assert.lengthOf(shop.slicesOf(orderId), 1)
  })

  it("that the store took without an answer are found there and not sent again", async () => {
    shop.memory.silence = new ChannelUnavailable({ message: "No answer." })
    const orderId = await shop.order([[await shop.goodsOf(storeId), 1]])
    assert.deepInclude(await shop.exported(orderId, storeId, "failed"), {
      failure_kind: "transient",
      remote_order_id: null
    })
    shop.app.clock.advance("3 minutes")
    const row = await shop.exported(orderId, storeId, "confirmed")
    assert.deepInclude(row, { attempts: 2, failure_kind: null, last_error: null })
    assert.lengthOf(shop.slicesOf(orderId), 1)
  })

  it("that the store took and refused all the same are found there", async () => {
    shop.memory.silence = new ChannelRefused({ message: "Invalid coupon." })
    const orderId = await shop.order([[await shop.goodsOf(storeId), 1]])
    const row = await shop.exported(orderId, storeId, "confirmed")
    assert.deepInclude(row, { attempts: 1, failure_kind: null, last_error: null })
    assert.lengthOf(shop.slicesOf(orderId), 1)
  })

  it("are tried eight times in four hours, and pauses that a store asks for are no tries", async () => {
    shop.memory.failure = new ChannelUnavailable({ message: "Busy.", retryAfterMs: 40_000 })
    const orderId = await shop.order([[await shop.goodsOf(storeId), 1]])
    const job = async () => (await shop.jobs(storeId, "channel/push-order")).at(-1) ?? {}
    const after = (tries: number, status: string) =>
      waitFor(`the job is ${status} after ${tries} tries`, async () => {
        const { attempts, status: now } = await job()
        return attempts === tries && now === status
      })
    await shop.exported(orderId, storeId, "exported")
    await after(0, "pending")
    shop.memory.failure = new ChannelUnavailable({ message: "Not there." })
    shop.app.clock.advance("40 seconds")
    const { attempts: most = 0, backoff } = orderPushing.retries ?? {}
    const waits = Array.from({ length: most - 1 }, (_, n) => (backoff?.delay ?? 0) * 2 ** n)
    assert.approximately(waits.reduce((sum, one) => sum + one, 0), 4 * 3_600_000, 60_000)
    for (const [n, wait] of waits.entries()) {
      await after(n + 1, "pending")
      shop.app.clock.advance(`${wait} millis`)
    }
    await after(most, "failed")
    assert.deepInclude(await shop.row(orderId, storeId), { state: "failed", failure_kind: "transient", attempts: 8 })
  })

  it("that are cancelled are not sent, or cancelled at the store, or noted where it does not", async () => {
    const cancel = (id: string) => shop.ask("PATCH", `/orders/${id}/status`, { status: "cancelled" })
    const goods = await shop.goodsOf(storeId)
    shop.memory.failure = new ChannelUnavailable({ message: "Not there." })
    const unsent = await shop.order([[goods, 1]])
    await shop.exported(unsent, storeId, "failed")
    shop.memory.failure = undefined
    await cancel(unsent)
    await shop.exported(unsent, storeId, "abandoned")
    assert.isEmpty(shop.slicesOf(unsent))

    shop.memory.silence = new ChannelUnavailable({ message: "No answer." })
    const silent = await shop.order([[goods, 1]])
    await shop.exported(silent, storeId, "failed")
    shop.memory.silence = undefined
    const sent = await shop.order([[goods, 1]])
    await shop.exported(sent, storeId, "confirmed")
    for (const id of [silent, sent]) {
      await cancel(id)
      await shop.exported(id, storeId, "abandoned")
      assert.strictEqual(shop.memory.orders.get(id)?.status, "cancelled")
    }

    shop.memory.cancels = false
    const kept = await shop.order([[goods, 1]])
    await shop.exported(kept, storeId, "confirmed")
    await cancel(kept)
    await waitFor("the note", async () => (await shop.row(kept, storeId))["last_error"] !== null)
    assert.deepInclude(await shop.row(kept, storeId), {
      state: "confirmed",
      last_error: "The order was cancelled or refunded here, and the store does not cancel it."
    })
  })

  it("that were wholly refunded are not sent, or cancelled at the store, and end where it does not", async () => {
    const goods = await shop.goodsOf(storeId)
    const refund = async (id: string, quantity: number) => {
      const lineItemId = (await shop.orderOf(id)).text("data.lineItems.0.id")
      await shop.ask("POST", `/orders/${id}/refunds`, { lines: [{ lineItemId, quantity }] })
    }
    const sent = async () => {
      const id = await shop.order([[goods, 2]])
      await shop.exported(id, storeId, "confirmed")
      return id
    }
    shop.memory.failure = new ChannelUnavailable({ message: "Not there." })
    const unsent = await shop.order([[goods, 2]])
    await shop.exported(unsent, storeId, "failed")
    shop.memory.failure = undefined
    const [byUnits, inFull, half] = [await sent(), await sent(), await sent()]
    await refund(half, 1)
    await refund(byUnits, 2)
    await refund(unsent, 2)
    await shop.ask("POST", `/orders/${inFull}/refund`, {})
    for (const id of [unsent, byUnits, inFull]) await shop.exported(id, storeId, "abandoned")
    assert.isEmpty(shop.slicesOf(unsent))
    assert.deepStrictEqual(
      [byUnits, inFull, half].map((id) => shop.memory.orders.get(id)?.status),
      ["cancelled", "cancelled", "open"]
    )

    const [begun, kept] = [await sent(), await sent()]
    const remote = shop.memory.orders.get(begun)
    assert.isDefined(remote)
    const lines = [{ externalVariantId: goods.externalId, quantity: 1 }]
    const parcel = { externalId: "f", lines, trackingNumber: null, trackingUrl: null }
    shop.memory.orders.set(begun, { ...remote, fulfillments: [parcel] })
    await refund(begun, 2)
    await shop.done("POST", `/stores/${storeId}/reconcile`)
    await waitFor("the first has ended", async () => (await shop.row(begun, storeId))["ended_at"] !== null)
    shop.memory.cancels = false
    await refund(kept, 2)
    for (const id of [begun, kept]) {
      await waitFor("the export has ended", async () => (await shop.row(id, storeId))["ended_at"] !== null)
      assert.deepInclude(await shop.row(id, storeId), {
        state: "confirmed",
        last_error: "The order was cancelled or refunded here, and the store does not cancel it."
      })
      assert.strictEqual(shop.memory.orders.get(id)?.status, "open")
    }
    shop.memory.cancels = true
    await shop.ran(storeId, "reconcile")
    // One whose event found no job.
    await shop.app.db.query("update channel_order_exports set ended_at = null where order_id = $1", [kept])
    await shop.done("POST", `/stores/${storeId}/reconcile`)
    await shop.exported(kept, storeId, "abandoned")
    const open = await shop.app.db.query(
      "select order_id from channel_order_exports where store_id = $1 and state = 'confirmed' and ended_at is null",
      [storeId]
    )
    assert.include(open.map((one) => one["order_id"]), half)
    assert.notIncludeMembers(open.map((one) => one["order_id"]), [byUnits, inFull, begun, kept])
  })

  it("and refunds of stores keep to their moves", async () => {
    const checks = [
      ...machineOf(shop.app, orderExport, { without: ["send", "confirm", "fail", "abandon", "reap"] }),
      ...machineOf(shop.app, refundRequest, {
        // The job of an approved one moves on.
        without: ["approve", "execute", "finish", "fail"],
        samples: { channel_refund_requests: { lines: "[]" } }
      })
    ]
    for (const { name, run } of checks) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })
})
