import { Effect } from "effect"
import { channelAdapter } from "../ChannelAdapter.ts"
import { wooApi, WooCredentials } from "./WooApi.ts"
import { wooCatalog } from "./WooCatalog.ts"
import { wooOrders } from "./WooOrders.ts"
import { wooPush, wooPushes } from "./WooPush.ts"
import { wooStock } from "./WooStock.ts"
import { wooWebhooks } from "./WooWebhooks.ts"

/** Stores of WooCommerce by its REST API v3. */
export const woocommerce = channelAdapter({
  id: "woocommerce",
  capabilities: ["catalog", "pushCatalog", "stock", "orders", "webhooks"],
  credentialsForm: "{ consumerKey, consumerSecret }",
  credentials: WooCredentials,
  pushes: wooPushes,
  connect: (access) => {
    const api = wooApi(access)
    const catalog = wooCatalog(api)
    return {
      verify: Effect.asVoid(catalog.currency),
      catalog,
      pushCatalog: wooPush(api),
      stock: wooStock(api),
      orders: wooOrders(api, access.domain),
      webhooks: wooWebhooks(api, access.webhookSecret)
    }
  }
})
