import { it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { CurrencyCode, outbound, PluginContext } from "stoa/plugin"
import { createPluginTestApp, type PluginTestApp } from "stoa/plugin/testing"
import { afterAll, beforeAll, inject } from "vitest"
import { startWooCommerce, type WooOptions } from "../../../../test/support/channels/WooCommerceShop.ts"
import { channelConnector, type OrderSlice, woocommerce } from "../index.ts"

/** An order of three units with shipping and tax, in EUR. */
export const slice = (externalVariantId: string, fields: Partial<OrderSlice> = {}): OrderSlice => ({
  orderId: randomUUID(),
  orderNumber: "1001",
  currency: CurrencyCode.make("EUR"),
  grandTotal: 2_649,
  shippingTotal: 500,
  taxTotal: 199,
  pricesIncludeTax: false,
  lines: [{ externalVariantId, sku: null, title: "Mug", quantity: 3, unitPrice: 650, totalPrice: 1_950 }],
  customer: {
    name: "Ann Mary Meier",
    email: "ann@x.example",
    shippingAddress: { line1: "Gasse 1", city: "Wien", postalCode: "1010", country: "AT", phone: null }
  },
  ...fields
})

/** An emulated WooCommerce and its channel. */
export const wooShop = (context: PluginTestApp["context"], options: WooOptions = {}) =>
  Effect.gen(function*() {
    const shop = yield* startWooCommerce({ offsetHours: 0, ...options })
    const http = yield* outbound({ name: "The store", origins: [shop.url], delay: 1 }).pipe(
      Effect.provideService(PluginContext, context)
    )
    const keys = { consumerKey: shop.keys.consumerKey, consumerSecret: shop.keys.consumerSecret }
    const connect = (credentials: object = keys, client = http) =>
      woocommerce.connect({
        storeId: "7f1d9b1a-3b39-4b7c-9d54-1f3f4f9a2b11",
        domain: shop.url,
        http: client,
        credentials: Redacted.make(JSON.stringify(credentials)),
        webhookSecret: Redacted.make("webhook-secret")
      })
    const { catalog, orders, pushCatalog, stock, webhooks } = yield* connect()
    if (!catalog || !orders || !pushCatalog || !stock || !webhooks) return yield* Effect.die("a part is missing")
    return { shop, http, keys, connect, catalog, orders, pushCatalog, stock, webhooks }
  })

/** Makes tests, each with a shop; the emulated time is that of the system. */
export const wooTests = () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(channelConnector({ adapters: [woocommerce] }), { postgres: inject("postgres") })
  })
  afterAll(() => app.close())
  return <E>(
    title: string,
    work: (test: Effect.Success<ReturnType<typeof wooShop>>) => Effect.Effect<void, E, Scope.Scope>,
    options: WooOptions = {}
  ) => it.live(title, () => Effect.scoped(Effect.flatMap(wooShop(app.context, options), work)))
}
