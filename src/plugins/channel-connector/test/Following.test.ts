import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { PluginContext } from "stoa/plugin"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { Channels, ChannelSettings } from "../ChannelOptions.ts"
import { followOrder } from "../FollowOrder.ts"
import type { RemoteOrder } from "../index.ts"
import { StoreSessions } from "../StoreSessions.ts"
import { openOrderShop, type OrderShop } from "./OrderShop.ts"

const parcel = (externalId: string, externalVariantId: string, quantity: number) => ({
  externalId,
  lines: [{ externalVariantId, quantity }],
  trackingNumber: `T-${externalId}`,
  trackingUrl: `https://carrier.example/${externalId}`
})

describe("what happens to orders at their store", () => {
  let shop: OrderShop
  let storeId: string
  beforeAll(async () => {
    shop = await openOrderShop({ refundAutoMax: 2_500 }, { shipping: { type: "flat", flatRate: 490 } })
    storeId = await shop.connect()
    await shop.grown(storeId)
  })
  afterAll(() => shop.close())

  /** A paid order that the store has. */
  const confirmed = async (things: Parameters<OrderShop["order"]>[0]) => {
    const orderId = await shop.order(things)
    await shop.exported(orderId, storeId, "confirmed")
    return orderId
  }
  /** Changes an order at the store, which tells us so; waits until that is handled. */
  const change = async (orderId: string, to: Partial<RemoteOrder>, of = storeId) => {
    const before = shop.memory.orders.get(orderId)
    assert.isDefined(before)
    shop.memory.orders.set(orderId, { ...before, ...to })
    await tell(before.remoteOrderId, of)
  }
  const tell = async (id: string, of = storeId) => {
    await shop.hint(of, "order", id)
    await shop.settled(of)
  }
  const parcels = async (orderId: string) =>
    (await shop.ask("GET", `/orders/${orderId}/fulfillments`)).list("data").map(Object)
  const requests = async (orderId: string, state?: string) =>
    (await shop.done("GET", `/refund-requests?orderId=${orderId}${state === undefined ? "" : `&state=${state}`}`)).list(
      "data"
    ).map(Object)
  const refunded = async (orderId: string) => (await shop.orderOf(orderId)).at("data.refundedTotal")
  const executed = (orderId: string, count = 1) =>
    waitFor("the refunds are executed", async () => (await requests(orderId, "executed")).length === count)

  it("fulfills its lines with tracking, each shipment once, and the order follows", async () => {
    const [goods, own] = [
      await shop.goodsOf(storeId),
      await shop.goodsOf("7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11", 500, false)
    ]
    const orderId = await confirmed([[goods, 3], [own, 1]])
    await change(orderId, { fulfillments: [parcel("f1", goods.externalId, 2)] })
    const all = [parcel("f1", goods.externalId, 2), parcel("f2", goods.externalId, 1)]
    await change(orderId, { fulfillments: all, status: "fulfilled" })
    await Promise.all([1, 2, 3].map(() => tell(String(shop.memory.orders.get(orderId)?.remoteOrderId))))
    const sent = (await parcels(orderId)).map((
      { lineItems: [line], trackingNumber }
    ) => [line.quantity, trackingNumber])
    assert.sameDeepMembers(sent, [[2, "T-f1"], [1, "T-f2"]])
    assert.strictEqual((await shop.orderOf(orderId)).at("data.status"), "partially_fulfilled")
    assert.isNotNull((await shop.row(orderId, storeId))["ended_at"])
  })

  it("is taken over once, also when four processes look at it at once", async () => {
    const goods = await shop.goodsOf(storeId)
    const orderId = await confirmed([[goods, 3]])
    const remote = shop.memory.orders.get(orderId)
    assert.isDefined(remote)
    const lines = [{ externalVariantId: goods.externalId, quantity: 1 }]
    const refunds = [{ remoteRefundId: `${orderId}-a`, amount: 1_000, lines }]
    shop.memory.orders.set(orderId, { ...remote, fulfillments: [parcel("f", goods.externalId, 1)], refunds })
    const settings = { ...Schema.decodeSync(ChannelSettings)({}), adapters: [shop.adapter] }
    const services = StoreSessions.layer.pipe(
      Layer.provideMerge(Channels.layerOf(settings)),
      Layer.provide(Layer.succeed(PluginContext, shop.app.context))
    )
    const look = Effect.gen(function*() {
      const call = yield* shop.app.context.call
      const { use } = yield* StoreSessions
      return yield* use(call.db, storeId, (session) => followOrder(call, session, remote.remoteOrderId))
    }).pipe(Effect.provide(services))
    await Promise.all(Array.from({ length: 4 }, () => shop.app.serviceRegistry.run(look)))
    await executed(orderId)
    assert.lengthOf(await parcels(orderId), 1)
    assert.strictEqual(await refunded(orderId), 1_000)
  })

  it("fulfills all its lines when it says no more than that", async () => {
    const goods = await shop.goodsOf(storeId)
    const orderId = await confirmed([[goods, 3]])
    await change(orderId, { status: "fulfilled" })
    assert.deepStrictEqual((await parcels(orderId)).map(({ lineItems: [line] }) => line.quantity), [3])
    assert.strictEqual((await shop.orderOf(orderId)).at("data.status"), "fulfilled")
  })

  it("is refunded after it sent everything, also when the webhook was lost", async () => {
    const goods = await shop.goodsOf(storeId)
    const orderId = await confirmed([[goods, 2]])
    await change(orderId, { status: "fulfilled" })
    const remote = shop.memory.orders.get(orderId)
    assert.isDefined(remote)
    const lines = [{ externalVariantId: goods.externalId, quantity: 1 }]
    const refunds = [{ remoteRefundId: `${orderId}-late`, amount: 1_000, lines }]
    shop.memory.orders.set(orderId, { ...remote, refunds })
    await shop.done("POST", `/stores/${storeId}/reconcile`)
    await executed(orderId)
    assert.strictEqual(await refunded(orderId), 1_000)
  })

  it("refunds lines by themselves, once, also while a refund is under way", async () => {
    const goods = await shop.goodsOf(storeId)
    const orderId = await confirmed([[goods, 3]])
    const refund = (remoteRefundId: string, quantity: number, amount: number) => ({
      remoteRefundId: `${orderId}-${remoteRefundId}`,
      amount,
      lines: [{ externalVariantId: goods.externalId, quantity }]
    })
    await change(orderId, { refunds: [refund("a", 1, 1_000)] })
    await change(orderId, { refunds: [refund("a", 1, 1_000), refund("b", 1, 900)] })
    await Promise.all([1, 2].map(() => tell(String(shop.memory.orders.get(orderId)?.remoteOrderId))))
    await executed(orderId, 2)
    assert.strictEqual(await refunded(orderId), 1_900)
    // The last unit and the shipping.
    await change(orderId, { refunds: [refund("c", 1, 1_490)] })
    await executed(orderId, 3)
    assert.strictEqual(await refunded(orderId), 3_390)
    assert.deepStrictEqual((await shop.orderOf(orderId)).at("data.lineItems.0.refundedQuantity"), 3)
  })

  it("leaves refunds to staff that are too large, of unknown lines or without lines", async () => {
    const goods = await shop.goodsOf(storeId)
    const orderId = await confirmed([[goods, 2]])
    const lines = [{ externalVariantId: goods.externalId, quantity: 1 }]
    await change(orderId, {
      refunds: [
        { remoteRefundId: `${orderId}-much`, amount: 1_491, lines },
        { remoteRefundId: `${orderId}-other`, amount: 100, lines: [{ externalVariantId: "none", quantity: 1 }] },
        {
          remoteRefundId: `${orderId}-units`,
          amount: 100,
          lines: [{ externalVariantId: goods.externalId, quantity: 3 }]
        },
        { remoteRefundId: `${orderId}-gift`, amount: 200, lines: [] }
      ]
    })
    const waiting = await requests(orderId)
    assert.lengthOf(waiting, 4)
    assert.isTrue(waiting.every(({ lastError }) => lastError === "The lines and the amount do not belong together."))
    const [gift] = waiting.filter(({ amount }) => amount === 200)
    const [other] = waiting.filter(({ remoteRefundId }) => remoteRefundId.endsWith("other"))
    await Promise.all(Array.from({ length: 4 }, () => shop.ask("POST", `/channels/refund-requests/${gift.id}/approve`)))
    await shop.done("POST", `/refund-requests/${other.id}/reject`)
    await executed(orderId)
    assert.strictEqual(await refunded(orderId), 200)
    for (const move of ["approve", "reject"]) {
      await shop.refused("422 INVALID_TRANSITION", "POST", `/refund-requests/${other.id}/${move}`)
    }
  })

  it("leaves refunds of a new store, and those above the limit, to staff", async () => {
    const dear = await shop.goodsOf(storeId, 3_000)
    const large = await confirmed([[dear, 1]])
    const refund = (of: string, { externalId: externalVariantId }: typeof dear, amount: number) => ({
      refunds: [{ remoteRefundId: `${of}-a`, amount, lines: [{ externalVariantId, quantity: 1 }] }]
    })
    await change(large, refund(large, dear, 3_000))
    assert.deepInclude((await requests(large))[0], {
      lastError: "The amount is above 2500, up to which refunds are automatic."
    })

    const young = await shop.connect()
    const goods = await shop.goodsOf(young)
    const orderId = await shop.order([[goods, 1]])
    await shop.exported(orderId, young, "confirmed")
    await change(orderId, refund(orderId, goods, 1_000), young)
    const [waiting] = await requests(orderId)
    assert.deepInclude(waiting, { lastError: "The store was connected less than 7 days ago.", amount: 1_000 })
    await shop.done("POST", `/refund-requests/${waiting.id}/approve`)
    await executed(orderId)
    assert.strictEqual(await refunded(orderId), 1_000)
  })

  it("gives back what it cancelled, without what it sent", async () => {
    const goods = await shop.goodsOf(storeId)
    const orderId = await confirmed([[goods, 3]])
    await change(orderId, { status: "cancelled", fulfillments: [parcel(`${orderId}-f`, goods.externalId, 1)] })
    await executed(orderId)
    await tell(String(shop.memory.orders.get(orderId)?.remoteOrderId))
    assert.strictEqual(await refunded(orderId), 2_000)
    const whole = await confirmed([[goods, 1]])
    await change(whole, { status: "cancelled" })
    await executed(whole)
    assert.strictEqual(await refunded(whole), 1_490)
    assert.deepInclude(await shop.row(whole, storeId), { last_error: "The store cancelled the order." })
  })

  it("is nothing for orders of others, and gives nothing back that was cancelled here", async () => {
    await tell("r0")
    const goods = await shop.goodsOf(storeId)
    const orderId = await confirmed([[goods, 1]])
    shop.memory.cancels = false
    await shop.ask("PATCH", `/orders/${orderId}/status`, { status: "cancelled" })
    await shop.rested(orderId)
    const refund = { remoteRefundId: `${orderId}-a`, amount: 1_000, lines: [] }
    await change(orderId, {
      status: "cancelled",
      refunds: [refund],
      fulfillments: [parcel("late", goods.externalId, 1)]
    })
    assert.isEmpty(await requests(orderId))
    assert.isEmpty(await parcels(orderId))
  })
})
