import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomOf } from "../fuzz/Values.ts"
import { happen, shopifyShopkeeper, type Shopkeeper, wooShopkeeper } from "../support/channels/ShopEvents.ts"
import { startShopify } from "../support/channels/ShopifyShop.ts"
import { startWooCommerce } from "../support/channels/WooCommerceShop.ts"
import { webhookReceiver } from "../support/WebhookReceiver.ts"

/** Two thousand events from a seed. */
const day = (keeper: Shopkeeper) => {
  const random = randomOf(7)
  for (let n = 0; n < 20; n++) keeper.arrival(random)
  return Array.from({ length: 2_000 }, () => happen(keeper, random)).filter((one) => one !== undefined)
}

const kinds = [
  "arrival",
  "cancellation",
  "edit",
  "fulfilment",
  "options",
  "picture",
  "price",
  "publication",
  "purchase",
  "refund",
  "removal",
  "return",
  "stock",
  "title"
]

describe("random events of emulated shops", () => {
  it.live("are of every kind and the same for the same seed", () =>
    Effect.gen(function*() {
      const now = () => 0
      const woo = yield* Effect.all([startWooCommerce({ now }), startWooCommerce({ now })])
      const shopify = yield* Effect.all([startShopify({ now }), startShopify({ now })])
      const [first, second] = woo.map((shop) => day(wooShopkeeper(shop)))
      const [third, fourth] = shopify.map((shop) => day(shopifyShopkeeper(shop)))
      assert.deepStrictEqual(first, second)
      assert.deepStrictEqual(third, fourth)
      for (const one of [first, third]) assert.sameMembers([...new Set(one?.map(({ event }) => event))], kinds)
      const [wooStock, wooAgain] = woo.map(({ catalog }) =>
        [...catalog.products.values()].map((one) => catalog.view(one).stock_quantity)
      )
      assert.deepStrictEqual(wooStock, wooAgain)
    }).pipe(Effect.scoped))

  it.live("never leave Shopify's stock with units committed to nothing", () =>
    Effect.gen(function*() {
      const shop = yield* startShopify({ now: () => 0 })
      day(shopifyShopkeeper(shop))
      const committed = shop.catalog.variants().flatMap(({ levels }) => levels).reduce(
        (sum, one) => sum + one.committed,
        0
      )
      const lines = [...shop.orders.orders.values()].flatMap((one) => one.lines)
      const held = lines.filter(({ variant }) => variant !== undefined && shop.catalog.variants().includes(variant))
      assert.strictEqual(committed, held.reduce((sum, { claimed }) => sum + claimed, 0))
    }).pipe(Effect.scoped))

  it.live("come with webhooks that are lost, doubled and late, and with calls that fail, by chance and seed", () =>
    Effect.gen(function*() {
      const shop = yield* startWooCommerce({ now: () => 0 })
      const receiver = yield* webhookReceiver()
      yield* Effect.promise(() => shop.webhooks.create({ topic: "product.created", delivery_url: receiver.url }))
      let made = 0
      const arrivals = () => {
        const random = randomOf(3)
        shop.deliveries.unreliable(randomOf(4), 0.5)
        for (let n = 0; n < 40; n++) wooShopkeeper(shop).arrival(random)
        made = shop.catalog.products.size
        for (const id of shop.catalog.products.keys()) shop.catalog.remove(id, true)
        shop.deliveries.unreliable(randomOf(4), 0)
      }
      const names = Effect.promise(async () => {
        receiver.react({ status: 200 })
        const before = receiver.received.length
        arrivals()
        await shop.deliveries.settled()
        return receiver.received.slice(before).map(({ body }): string => {
          const { name, sku } = JSON.parse(body)
          return name || sku
        }).toSorted()
      })
      const first = yield* names
      assert.isBelow(new Set(first).size, made)
      assert.isAbove(first.length, new Set(first).size)
      assert.deepStrictEqual(yield* names, first)
      const statuses = Effect.promise(async () => {
        shop.unreliable(randomOf(5), 0.5)
        const all: Array<number> = []
        for (let n = 0; n < 30; n++) all.push(await fetch(shop.url).then(({ status }) => status, () => 0))
        return all
      })
      const failures = yield* statuses
      assert.sameMembers([...new Set(failures)], [0, 404, 429, 502])
      assert.deepStrictEqual(yield* statuses, failures)
    }).pipe(Effect.scoped))
})
