import { Effect, Redacted } from "effect"
import { type ChannelAdapter, channelAdapter } from "../ChannelAdapter.ts"
import { shopifyApi } from "./ShopifyApi.ts"
import * as App from "./ShopifyApp.ts"
import { shopifyCatalog } from "./ShopifyCatalog.ts"
import { shopifyOrders } from "./ShopifyOrders.ts"
import { shopifyPush, shopifyPushes } from "./ShopifyPush.ts"
import { shopifyStock } from "./ShopifyStock.ts"
import { shopifyWebhooks } from "./ShopifyWebhooks.ts"

export interface ShopifyOptions {
  /** The app that merchants consent to; a store with a custom app has the keys of that one in its credentials. */
  readonly app?: App.ShopifyAppOptions
  /** Version of the Admin API. Default `2026-10`, which is tested. */
  readonly version?: string
}

/** Shops at Shopify. */
export const shopify = ({ app, version = "2026-10" }: ShopifyOptions = {}): ChannelAdapter => {
  const callsOf = shopifyApi(version)
  return channelAdapter({
    id: "shopify",
    capabilities: ["catalog", "pushCatalog", "stock", "orders", "webhooks"],
    credentialsForm: "{ accessToken, refreshToken?, expiresAt? } or { clientId, clientSecret }",
    credentials: App.ShopifyCredentials,
    expiresAt: App.shopifyExpiry,
    admits: App.isShopDomain,
    pushes: shopifyPushes,
    ...(app !== undefined && { oauth: App.shopifyOAuth(app), app: App.shopifyCompliance(app) }),
    connect: (access) => {
      const { credentials, domain, http, webhookSecret } = access
      const [call, keys] = [callsOf(access), Redacted.value(credentials)]
      const catalog = shopifyCatalog(call, http)
      // A custom app has a secret of its store, an older one gave it as that of the webhooks.
      const secrets = [Redacted.make(keys.clientSecret ?? ""), app?.clientSecret ?? webhookSecret, webhookSecret]
      return {
        verify: Effect.asVoid(catalog.currency),
        renew: App.renewShopify(http, domain, keys, app),
        catalog,
        pushCatalog: shopifyPush(call),
        stock: shopifyStock(call),
        orders: shopifyOrders(call, domain),
        webhooks: shopifyWebhooks(call, secrets)
      }
    }
  })
}
