import { Layer } from "effect"
import { pluginWith } from "stoa/plugin"
import { catalogRoutes } from "./CatalogRoutes.ts"
import { catalogTasks } from "./CatalogTasks.ts"
import { catalogWriteRoutes } from "./CatalogWriteRoutes.ts"
import { Channels, ChannelSettings, manage, read } from "./ChannelOptions.ts"
import { deliveryHandling, deliveryRoutes } from "./Deliveries.ts"
import { exportRoutes } from "./ExportRoutes.ts"
import { stockEvents, stockSending } from "./LinkedStock.ts"
import { LiveStock, liveStockHook } from "./LiveStock.ts"
import { oauthRoutes } from "./OAuth.ts"
import { orderExports, refundRequests } from "./OrderTables.ts"
import { feedPushing, feedRoutes } from "./ProductFeed.ts"
import { catalogEvents, catalogPushing } from "./PushCatalog.ts"
import { orderEvents, orderPushing } from "./PushOrder.ts"
import { catalogConflicts, catalogPushes } from "./PushTables.ts"
import { reaping } from "./ReapExports.ts"
import { registration } from "./Registration.ts"
import { forgetting } from "./Retention.ts"
import { refundExecution } from "./StoreRefunds.ts"
import { storeRoutes } from "./StoreRoutes.ts"
import { runs } from "./StoreRuns.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { deliveries, entityMap, grants, stores } from "./StoreTables.ts"
import { unregistration } from "./Unregistration.ts"
import { webhookRoutes } from "./Webhooks.ts"

export {
  type AdapterDefinition,
  type AppWebhooks,
  type Capability,
  type Channel,
  type ChannelAdapter,
  channelAdapter,
  type ChannelCatalog,
  type ChannelOAuth,
  type ChannelOrders,
  type ChannelPush,
  type ChannelStock,
  type ChannelWebhooks,
  type Delivery,
  isSame,
  isSigned,
  type ListingFile,
  type OAuthAnswer,
  type ProductFields,
  type ProductValues,
  type PushableFields,
  type RefusedWrite,
  type StoreAccess,
  type Subscription,
  type ValueOf,
  type WebhookRequest
} from "./ChannelAdapter.ts"
export {
  type ChannelError,
  channelError,
  ChannelRefused,
  ChannelUnavailable,
  CredentialsRefused
} from "./ChannelErrors.ts"
export {
  CatalogPage,
  ChannelProduct,
  ComplianceRequest,
  FieldValue,
  Hint,
  MappedField,
  OrderSlice,
  RemoteField,
  RemoteOrder,
  StockChange,
  StockLevel,
  StockOutcome
} from "./ChannelRecords.ts"
export { productFeed } from "./ProductFeed.ts"
export { shopify, type ShopifyOptions } from "./shopify/Shopify.ts"
export {
  isGenuineShopify,
  isShopDomain,
  renewShopify,
  type ShopifyAppOptions,
  shopifyCompliance,
  ShopifyCredentials,
  shopifyExpiry,
  shopifyOAuth
} from "./shopify/ShopifyApp.ts"
export { woocommerce } from "./woocommerce/WooCommerce.ts"

/** Outside stores: their products, stock and orders (contract, plugins §13): `plugins: [channelConnector({ … })]`. */
export const channelConnector = pluginWith("channel-connector", ChannelSettings, (settings) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  permissions: [
    { scope: read, description: "See connected stores", roles: ["staff"] },
    { scope: manage, description: "Connect stores and decide what they get" }
  ],
  schema: () => ({
    stores,
    entityMap,
    deliveries,
    orderExports,
    refundRequests,
    grants,
    runs,
    catalogPushes,
    catalogConflicts
  }),
  layer: LiveStock.layer.pipe(Layer.provideMerge(StoreSessions.layer), Layer.provideMerge(Channels.layerOf(settings))),
  routes: (context) => [
    ...storeRoutes(context.config),
    ...catalogRoutes,
    ...catalogWriteRoutes,
    ...deliveryRoutes,
    ...exportRoutes,
    ...feedRoutes(context),
    ...webhookRoutes(context),
    ...oauthRoutes(context)
  ],
  hooks: () => [liveStockHook],
  onEvents: { ...orderEvents, ...stockEvents, ...catalogEvents },
  tasks: () => [
    registration,
    unregistration,
    ...catalogTasks,
    catalogPushing,
    stockSending,
    deliveryHandling,
    orderPushing,
    refundExecution,
    reaping(settings),
    feedPushing,
    forgetting(settings)
  ]
}))
