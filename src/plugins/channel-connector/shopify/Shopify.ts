import { Effect, Redacted } from "effect"
import { type ChannelAdapter, channelAdapter } from "../ChannelAdapter.ts"
import { shopifyApi } from "./ShopifyApi.ts"
import {
  isShopDomain,
  renewShopify,
  type ShopifyAppOptions,
  shopifyCompliance,
  ShopifyCredentials,
  shopifyExpiry,
  shopifyOAuth
} from "./ShopifyApp.ts"
import { shopifyCatalog } from "./ShopifyCatalog.ts"
import { shopifyOrders } from "./ShopifyOrders.ts"
import { shopifyStock } from "./ShopifyStock.ts"
import { shopifyWebhooks } from "./ShopifyWebhooks.ts"

export interface ShopifyOptions {
  /** The app that merchants consent to; a store with a custom app has the keys of that one in its credentials. */
  readonly app?: ShopifyAppOptions
  /** Version of the Admin API. Default `2026-10`, which is tested. */
  readonly version?: string
}

/** Shops at Shopify. */
export const shopify = ({ app, version = "2026-10" }: ShopifyOptions = {}): ChannelAdapter => {
  const callsOf = shopifyApi(version)
  return channelAdapter({
    id: "shopify",
    capabilities: ["catalog", "stock", "orders", "webhooks"],
    credentialsForm: "{ accessToken, refreshToken?, expiresAt? } or { clientId, clientSecret }",
    credentials: ShopifyCredentials,
    expiresAt: shopifyExpiry,
    admits: isShopDomain,
    ...(app !== undefined && { oauth: shopifyOAuth(app), app: shopifyCompliance(app) }),
    connect: (access) => {
      const { credentials, domain, http, webhookSecret } = access
      const [call, keys] = [callsOf(access), Redacted.value(credentials)]
      const catalog = shopifyCatalog(call, http)
      const secrets = [keys.clientSecret, app?.clientSecret, webhookSecret]
      return {
        verify: Effect.asVoid(catalog.currency),
        renew: renewShopify(http, domain, keys, app),
        catalog,
        stock: shopifyStock(call),
        orders: shopifyOrders(call, domain),
        webhooks: shopifyWebhooks(
          call,
          secrets.flatMap((secret) =>
            secret === undefined ? [] : typeof secret === "string" ? Redacted.make(secret) : secret
          )
        )
      }
    }
  })
}
