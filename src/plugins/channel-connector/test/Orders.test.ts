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
      last_error: "The order was cancelled here, and the store does not cancel it."
    })
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
