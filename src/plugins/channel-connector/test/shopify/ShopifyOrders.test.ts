import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { CurrencyCode } from "stoa/plugin"
import type { OrderSlice } from "../../index.ts"
import { addMug, given, type OpenStore, sliceOf, storeTest } from "./ShopifyStore.ts"

const orderIn = ({ shop }: OpenStore, remoteOrderId: string) =>
  given(shop.orders.find(`gid://shopify/Order/${remoteOrderId}`))

const lineOf = (externalVariantId: string, quantity: number, unitPrice: number) => ({
  externalVariantId,
  sku: null,
  title: "Mug",
  quantity,
  unitPrice,
  totalPrice: quantity * unitPrice
})

describe("orders at a Shopify store", () => {
  storeTest("are paid to the minor unit, have address and tax, and take stock", (store) =>
    Effect.gen(function*() {
      const { channel, shop } = store
      const { id, variant } = addMug(shop, 10)
      const three = [lineOf(id, 1, 334), lineOf(id, 2, 333)] as const
      const slices: ReadonlyArray<Partial<OrderSlice>> = [
        { grandTotal: 2_000, shippingTotal: 499, taxTotal: 333, lines: [...three, lineOf(id, 1, 501)] },
        { grandTotal: 1_210, taxTotal: 210, pricesIncludeTax: false, lines: three },
        { grandTotal: 0, lines: [lineOf(id, 1, 0)] }
      ]
      for (const slice of slices.map((one) => sliceOf(id, one))) {
        const { remoteOrderId, remoteUrl } = yield* given(channel.orders).push(slice)
        assert.strictEqual(remoteUrl, `${shop.url}/admin/orders/${remoteOrderId}`)
        const { input, lines, totals } = orderIn(store, remoteOrderId)
        const { grandTotal, shippingTotal: shipping, taxTotal: tax } = slice
        assert.deepStrictEqual(totals, { total: grandTotal, tax, shipping, paid: grandTotal })
        assert.strictEqual(
          lines.reduce((sum, { quantity }) => sum + quantity, 0),
          slice.lines.reduce((sum, { quantity }) => sum + quantity, 0)
        )
        assert.deepInclude(input, { tags: [slice.orderId], email: "ann@x.example" })
        const to = { firstName: "Ann", lastName: "Lee", address1: "Hauptplatz 1", countryCode: "AT" }
        assert.deepInclude(JSON.parse(JSON.stringify(input)).shippingAddress, to)
      }
      assert.deepInclude(variant.levels[0], { available: 2, committed: 8 })
      const yen = sliceOf(id, { currency: CurrencyCode.make("JPY"), grandTotal: 1_050 })
      const { remoteOrderId } = yield* given(channel.orders).push(yen)
      assert.strictEqual(
        orderIn(store, remoteOrderId).input.lineItems?.[0]?.priceSet?.shopMoney.amount,
        "1050"
      )
    }))

  storeTest("are refused without stock, and wait for a trial store", ({ channel, shop }) =>
    Effect.gen(function*() {
      const { id } = addMug(shop, 1)
      const { push } = given(channel.orders)
      yield* push(sliceOf(id))
      const short = yield* Effect.flip(push(sliceOf(id)))
      assert.deepInclude(short, { _tag: "ChannelRefused", message: "Unable to reserve inventory" })
      assert.strictEqual((yield* Effect.flip(push(sliceOf("4711"))))._tag, "ChannelRefused")
      shop.orders.perMinute = 1
      const limited = yield* Effect.flip(push(sliceOf(id)))
      assert.deepInclude(limited, { _tag: "ChannelUnavailable", retryAfterMs: 30_000 })
    }))

  storeTest("are found by our id when their answer was lost", ({ channel, shop }) =>
    Effect.gen(function*() {
      const { id } = addMug(shop)
      const { lookup, push } = given(channel.orders)
      const slice = sliceOf(id)
      yield* push(sliceOf(id))
      assert.isUndefined(yield* lookup(slice.orderId))
      shop.fault("orderCreate", "hear")
      assert.strictEqual((yield* Effect.flip(push(slice)))._tag, "ChannelUnavailable")
      const [, made] = [...shop.orders.orders.keys()]
      // Searches know it only later.
      for (const searchDelayMs of [3_600_000, 0]) {
        shop.orders.searchDelayMs = searchDelayMs
        assert.strictEqual((yield* lookup(slice.orderId))?.remoteOrderId, String(made))
      }
      assert.strictEqual(shop.orders.orders.size, 2)
    }))

  storeTest("show what was sent and given back, line by line", (store) =>
    Effect.gen(function*() {
      const { channel, shop } = store
      const [mug, cup] = [addMug(shop, 50), addMug(shop, 50)]
      const { get, push } = given(channel.orders)
      const { remoteOrderId } = yield* push(
        sliceOf(mug.id, { grandTotal: 398, lines: [lineOf(mug.id, 2, 99), lineOf(cup.id, 2, 100)] })
      )
      const order = orderIn(store, remoteOrderId)
      shop.orders.fulfil(order, { number: "T-1", url: "https://track.example/T-1" }, 3)
      assert.deepInclude(yield* get(remoteOrderId), {
        status: "open",
        fulfillments: [{
          externalId: String(order.fulfillments[0]?.id),
          lines: [{ externalVariantId: mug.id, quantity: 2 }, { externalVariantId: cup.id, quantity: 1 }],
          trackingNumber: "T-1",
          trackingUrl: "https://track.example/T-1"
        }]
      })
      shop.orders.fulfil(order)
      const refundLineItems = [{
        lineItemId: `gid://shopify/LineItem/${order.lines.at(-1)?.id}`,
        quantity: 1,
        restockType: "RETURN"
      }]
      shop.orders.refund(order, { refundLineItems, transactions: [{ kind: "REFUND", amount: "1.10" }] })
      const found = yield* get(remoteOrderId)
      assert.deepInclude(found, {
        status: "fulfilled",
        refunds: [{
          remoteRefundId: String(order.refunds[0]?.id),
          amount: 110,
          lines: [{ externalVariantId: cup.id, quantity: 1 }]
        }]
      })
      assert.isNull(found?.fulfillments[1]?.trackingNumber)
      assert.isUndefined(yield* get("4711"))

      const lines = Array.from({ length: 60 }, () => lineOf(cup.id, 1, 100))
      shop.catalog.setStock(cup.variant, 60)
      const many = yield* push(
        sliceOf(mug.id, { grandTotal: 6_000, lines: [lines[0] ?? assert.fail(), ...lines.slice(1)] })
      )
      shop.orders.fulfil(orderIn(store, many.remoteOrderId))
      const [whole] = (yield* get(many.remoteOrderId))?.fulfillments ?? []
      assert.deepStrictEqual(whole?.lines, [{ externalVariantId: cup.id, quantity: 60 }])

      Object.assign(shop.bucket, { maximum: 100_000, perSecond: 100_000 })
      const parcels = yield* push(sliceOf(mug.id, { grandTotal: 3_500, lines: [lineOf(mug.id, 35, 100)] }))
      const parted = orderIn(store, parcels.remoteOrderId)
      for (let n = 0; n < 35; n++) {
        shop.orders.fulfil(parted, {}, 1)
        shop.orders.refund(parted, { transactions: [{ kind: "REFUND", amount: "0.10" }] })
      }
      const { fulfillments = [], refunds = [] } = (yield* get(parcels.remoteOrderId)) ?? {}
      assert.deepStrictEqual([fulfillments.length, refunds.length], [35, 35])
    }))

  storeTest("are cancelled with their stock back, and without money of the store", (store) =>
    Effect.gen(function*() {
      const { channel, shop } = store
      const { id, variant } = addMug(shop, 5)
      const { cancel, get, push } = given(channel.orders)
      const { remoteOrderId } = yield* push(sliceOf(id))
      shop.fault("orderCancel", "hear")
      assert.strictEqual((yield* Effect.flip(cancel(remoteOrderId)))._tag, "ChannelUnavailable")
      assert.isTrue(yield* cancel(remoteOrderId))
      assert.deepInclude(yield* get(remoteOrderId), { status: "cancelled", refunds: [] })
      assert.deepInclude(variant.levels[0], { available: 5, committed: 0 })
      const sent = yield* push(sliceOf(id))
      shop.orders.keepsOrders = true
      assert.strictEqual((yield* Effect.flip(cancel(sent.remoteOrderId)))._tag, "ChannelUnavailable")
      shop.orders.fulfil(orderIn(store, sent.remoteOrderId))
      assert.isFalse(yield* cancel(sent.remoteOrderId))
    }))
})
