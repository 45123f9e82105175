import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { startWooCommerce } from "../../../../test/support/channels/WooCommerceShop.ts"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { type Received, webhookReceiver } from "../../../../test/support/WebhookReceiver.ts"
import { woocommerce } from "../index.ts"
import { openShop } from "./ChannelShop.ts"

describe("a WooCommerce that is connected", () => {
  it.live("sends its webhooks, of which pings are refused and two of one second are two, and gets a title that changes here", () =>
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
        const mapped = "select entity_id, external_id from channel_entity_map where store_id = $1 and kind = 'entity'"
        const [mug] = await waitFor("both products", async () => {
          const found = await shop.app.db.query(mapped, [id])
          return found.length === 2 && found
        })
        await shop.settled(id)
        await shop.done("PUT", `/stores/${id}/catalog-write`, { enabled: true })
        const renamed = await shop.ask("PUT", `/catalog/entities/${mug?.["entity_id"]}/attributes/en`, { title: "Cup" })
        assert.strictEqual(renamed.status, 200, JSON.stringify(renamed.body))
        const product = woo.catalog.get(Number(mug?.["external_id"]))
        await waitFor("the store has the title", () => product.fields.name === "Cup")
        await woo.deliveries.settled()
        const update = receiver.received.at(-1)
        if (update !== undefined) assert.strictEqual((await forward(update)).status, 200)
        await shop.settled(id)
        const titles = await shop.app.db.query("select title from entity_attributes order by title")
        assert.deepStrictEqual(titles, [{ title: "Cup" }, { title: "Mug" }])
      })
    }).pipe(Effect.scoped))
})
