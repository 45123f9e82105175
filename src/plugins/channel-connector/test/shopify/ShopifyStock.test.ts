import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { webhookReceiver } from "../../../../../test/support/WebhookReceiver.ts"
import { addMug, given, sliceOf, storeTest } from "./ShopifyStore.ts"

describe("stock of a Shopify store", () => {
  storeTest(
    "is that of all locations, and null where it is not counted",
    ({ channel, shop }) =>
      Effect.gen(function*() {
        shop.catalog.addLocation("Second")
        const [mug, cup] = [addMug(shop, 5), addMug(shop)]
        const [, second] = mug.variant.levels
        shop.catalog.setLevel(mug.variant, given(second), { available: 3 })
        const { read, set } = given(channel.stock)
        const many = Array.from({ length: 150 }, (_, n) => String(900_000 + n))
        assert.deepStrictEqual(yield* read([...many, mug.id, cup.id]), [
          { externalId: mug.id, available: 8 },
          { externalId: cup.id, available: null }
        ])
        assert.deepStrictEqual(
          yield* set([
            { externalId: mug.id, available: 6, expected: 8 },
            { externalId: cup.id, available: 6, expected: 0 },
            { externalId: "4711", available: 1, expected: 1 }
          ], "k1"),
          [
            { externalId: mug.id, available: 6, outcome: "set" },
            { externalId: cup.id, available: null, outcome: "differs" }
          ]
        )
        assert.deepStrictEqual(mug.variant.levels.map(({ available }) => available), [3, 3])
        shop.catalog.setLevel(mug.variant, given(second), { available: 40 })
        yield* set([{ externalId: mug.id, available: 36, expected: 43 }], "k2")
        assert.deepStrictEqual(mug.variant.levels.map(({ available }) => available), [3, 33])
        const reduced = yield* set([{ externalId: mug.id, available: 2, expected: 36 }], "k3")
        assert.deepStrictEqual(reduced, [{ externalId: mug.id, available: 2, outcome: "set" }])
        assert.deepStrictEqual(mug.variant.levels.map(({ available }) => available), [2, 0])
        shop.fault("inventorySetQuantities", "hear")
        const raised = set([{ externalId: mug.id, available: 10, expected: 2 }], "k4")
        assert.strictEqual((yield* Effect.flip(raised))._tag, "ChannelUnavailable")
        shop.catalog.setLevel(mug.variant, given(second), { available: 20 })
        assert.deepStrictEqual(yield* raised, [{ externalId: mug.id, available: 30, outcome: "set" }])
        assert.deepStrictEqual(mug.variant.levels.map(({ available }) => available), [10, 20])
      })
  )

  storeTest("is set once for a key, also when the answer was lost", ({ channel, shop }) =>
    Effect.gen(function*() {
      const { id, variant } = addMug(shop, 5)
      const { read, set } = given(channel.stock)
      const change = [{ externalId: id, available: 9, expected: 5 }]
      shop.fault("inventorySetQuantities", "hear")
      assert.strictEqual((yield* Effect.flip(set(change, "k1")))._tag, "ChannelUnavailable")
      shop.catalog.setStock(variant, 5)
      assert.deepStrictEqual(yield* set(change, "k1"), [{ externalId: id, available: 9, outcome: "set" }])
      assert.deepStrictEqual(yield* read([id]), [{ externalId: id, available: 5 }])
      assert.deepStrictEqual(yield* set([{ externalId: id, available: 9, expected: 4 }], "k2"), [
        { externalId: id, available: 5, outcome: "differs" }
      ])
    }))
})

describe("webhooks of a Shopify store", () => {
  storeTest(
    "are hints of what changed, and stock is read by them",
    ({ channel, shop }) =>
      Effect.scoped(Effect.gen(function*() {
        const receiver = yield* webhookReceiver()
        const { isGenuine, list, read, register, topics, unregister } = given(channel.webhooks)
        for (const topic of topics) yield* register(topic, receiver.url, undefined)
        assert.strictEqual(
          (yield* Effect.flip(register("products/update", receiver.url, undefined)))._tag,
          "ChannelRefused"
        )
        const { id, product, variant } = addMug(shop, 5)
        const { remoteOrderId } = yield* given(channel.orders).push(sliceOf(id))
        const order = shop.orders.find(`gid://shopify/Order/${remoteOrderId}`) ?? assert.fail()
        shop.orders.refund(order, { transactions: [{ kind: "REFUND", amount: "1" }] })
        shop.orders.cancel(order, { refund: false })
        shop.catalog.remove(product)
        yield* given(channel.webhooks).unregister("gid://shopify/WebhookSubscription/1")
        for (const { externalId } of yield* list) yield* unregister(externalId)
        assert.deepStrictEqual(yield* list, [])
        yield* Effect.promise(() => shop.deliveries.settled())
        const found = receiver.received.map(({ body, headers }) => {
          const request = {
            body: Buffer.from(body),
            headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
          }
          assert.isTrue(isGenuine(request))
          const delivery = given(read(request))
          assert.strictEqual(delivery.deliveryId, request.headers["x-shopify-webhook-id"])
          return [delivery.topic, ...delivery.hints.map((hint) => "externalId" in hint ? hint.externalId : hint.kind)]
            .join(" ")
        })
        const item = `gid://shopify/InventoryItem/${variant.item}`
        assert.sameMembers([...new Set(found)], [
          `products/create ${product.id}`,
          `products/update ${product.id}`,
          `products/delete ${product.id}`,
          `inventory_levels/update ${item}`,
          `orders/cancelled ${remoteOrderId}`,
          `refunds/create ${remoteOrderId}`
        ])
        const other = addMug(shop, 7)
        assert.deepStrictEqual(
          yield* given(channel.stock).read([`gid://shopify/InventoryItem/${other.variant.item}`]),
          [{ externalId: other.id, available: 7 }]
        )
        const about = (topic: string, body: string) =>
          read({ body: Buffer.from(body), headers: { "x-shopify-topic": topic } })
        assert.deepStrictEqual(about("app/uninstalled", `{"id":1}`)?.hints, [{ kind: "uninstalled" }])
        assert.deepStrictEqual(about("bulk_operations/finish", `{"id":1}`)?.hints, [])
        for (const body of ["{}", `{"id":null}`, `{"id":"x"}`]) assert.isUndefined(about("products/update", body))
      }))
  )
})
