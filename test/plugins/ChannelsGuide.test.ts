import { assert, describe, inject, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { createPluginTestApp, optionsTable, testAdminActor } from "stoa/plugin/testing"
import { channelConnector, productFeed, shopify, woocommerce } from "../../src/plugins/channel-connector/index.ts"
import { startShopify } from "../support/channels/ShopifyShop.ts"
import { startWooCommerce } from "../support/channels/WooCommerceShop.ts"
import { waitFor } from "../support/waitFor.ts"
import { type Received, webhookReceiver } from "../support/WebhookReceiver.ts"
import { routesNamedIn, runGuide, servedBy, valueAt } from "./GuideRequests.ts"

const page = (path: string) => readFile(join(import.meta.dirname, "../..", path), "utf8")

/** Stores with their goods, and a deployment that they reach. */
const openGuide = Effect.gen(function*() {
  const [woo, shop] = [yield* startWooCommerce({ offsetHours: 0, currency: "EUR" }), yield* startShopify()]
  const mug = { regular_price: "12.50", manage_stock: true, stock_quantity: 12 }
  for (const name of ["Blue mug", "Red mug"]) woo.catalog.create({ ...mug, name, sku: name })
  shop.catalog.add({ title: "Teapot", variants: [{ sku: "TEAPOT", price: 3_900, stock: 4 }] })
  const receiver = yield* webhookReceiver()
  const plugin = channelConnector({
    // Addresses at Shopify end with ".myshopify.com".
    adapters: [woocommerce, { ...shopify(), admits: () => true }, productFeed],
    origins: [woo.url, shop.url],
    publicUrl: new URL(receiver.url).origin
  })
  const open = createPluginTestApp(plugin, { postgres: inject("postgres"), store: { defaultCurrency: "EUR" } })
  const test = yield* Effect.acquireRelease(Effect.promise(() => open), ({ close }) => Effect.promise(close))
  return { woo, shop, mug, receiver, plugin, test }
})

describe("a reader of docs/channels.md", () => {
  it.live("sells the goods of a WooCommerce, and both sides agree about money and stock", () =>
    Effect.scoped(Effect.flatMap(openGuide, ({ mug, plugin, receiver, shop, test, woo }) =>
      Effect.promise(async () => {
        const forward = ({ body, headers, path }: Received) =>
          test.app.request("POST", path, {
            body,
            headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
          })
        const order = () => woo.orders.orders.values().toArray()[0] ?? assert.fail("The store has no order.")
        const events = [
          () => {
            const { id, lines: [line] } = order()
            const refunded = { id: line?.id, quantity: 2, refund_total: 26.2 }
            woo.orders.refund(id, { amount: "26.20", api_refund: false, line_items: [refunded] })
          },
          () => woo.orders.change(order().id, { status: "completed" }),
          async () => {
            const names = () => woo.catalog.products.values().map(({ fields }) => fields.name).toArray()
            await waitFor("the store has our name", () => names().includes("Cobalt mug"))
            woo.deliveries.lose()
            woo.catalog.create({ ...mug, name: "Green mug" })
          }
        ]
        let arrived = 0
        const later = async () => {
          await events.shift()?.()
          await woo.deliveries.settled()
          for (; arrived < receiver.received.length; arrived++) {
            const one = receiver.received[arrived]
            if (one !== undefined) await forward(one)
          }
          return {}
        }
        const { consumerKey, consumerSecret } = woo.keys
        const { clientId, clientSecret } = shop.tokens
        const known = {
          woo: { url: woo.url, consumerKey, consumerSecret },
          shop: { url: shop.url, clientId, clientSecret }
        }
        const { answer } = await runGuide(test.app, await page("docs/channels.md"), { known, later })
        assert.deepInclude(woo.orders.view(order()), { status: "completed", total: "39.30" })
        assert.lengthOf([...woo.orders.orders], 1)
        const levels = await test.app.request("GET", `/api/inventory/levels?entityId=${String(answer("mug.id"))}`, {
          as: testAdminActor
        })
        const [blue] = woo.catalog.products.values()
        assert.deepStrictEqual(
          [valueAt(levels.body, "data.0.quantityOnHand"), valueAt(levels.body, "data.0.quantityReserved")],
          [Number(blue?.fields.stock_quantity) - 2, 0]
        )
        const readme = await page("src/plugins/channel-connector/README.md")
        assert.include(readme, optionsTable(plugin))
        assert.deepStrictEqual(routesNamedIn(readme), servedBy(test, "/api/channels"))
      }))))
})
