import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startWooCommerce } from "../../../../test/support/channels/WooCommerceShop.ts"
import { type Received, webhookReceiver } from "../../../../test/support/WebhookReceiver.ts"
import { woocommerce } from "../index.ts"
import { openShop } from "./ChannelShop.ts"

describe("a WooCommerce that is connected", () => {
  it.live("sends its webhooks, of which pings are refused and two of one second are two", () =>
    Effect.gen(function*() {
      const woo = yield* startWooCommerce({ now: () => Date.parse("2026-11-30T10:00:00Z") })
      const receiver = yield* webhookReceiver()
      const publicUrl = new URL(receiver.url).origin
      const open = openShop({ adapters: [woocommerce], origins: [woo.url], publicUrl })
      const shop = yield* Effect.acquireRelease(Effect.promise(() => open), ({ close }) => Effect.promise(close))
      const { consumerKey, consumerSecret } = woo.keys
      yield* Effect.promise(async () => {
        const connect = (credentials: object) =>
          shop.connect({ provider: "woocommerce", storeDomain: woo.url, credentials })
        const id = await connect({ consumerKey, consumerSecret: "cs_wrong_secret" })
        const refused = await shop.until(id, "error")
        assert.strictEqual(refused.at("data.lastError"), "The store answered 401.")
        await shop.done("PUT", `/stores/${id}/credentials`, { credentials: { consumerKey, consumerSecret } })
        await shop.until(id, "connected")
        assert.lengthOf([...woo.webhooks.hooks.values()].filter(({ status }) => status === "active"), 5)
        const forward = ({ body, headers, path }: Received) =>
          shop.app.app.request("POST", path, {
            body,
            headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
          })
        for (const ping of receiver.received) assert.strictEqual((await forward(ping)).status, 401)
        const { length } = receiver.received
        for (const sku of ["a", "b"]) woo.catalog.create({ name: "Mug", sku })
        await woo.deliveries.settled()
        const [first, second] = receiver.received.slice(length)
        for (const one of [first, second, first]) {
          if (one !== undefined) assert.strictEqual((await forward(one)).status, 200)
        }
        const stored = await shop.app.db.query("select topic from channel_deliveries where store_id = $1", [id])
        assert.deepStrictEqual(stored, [{ topic: "product.created" }, { topic: "product.created" }])
      })
    }).pipe(Effect.scoped))
})
