import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Analytics } from "../domain/analytics/Analytics.ts"
import { Carts } from "../domain/carts/Carts.ts"
import { Brands } from "../domain/catalog/brands/Brands.ts"
import { Catalog } from "../domain/catalog/Catalog.ts"
import { CatalogReads } from "../domain/catalog/CatalogReads.ts"
import { Categories } from "../domain/catalog/categories/Categories.ts"
import { Variants } from "../domain/catalog/variants/Variants.ts"
import { OrderEdits } from "../domain/checkout/OrderEdits.ts"
import { Quotes } from "../domain/checkout/Quotes.ts"
import { Customers } from "../domain/customers/Customers.ts"
import { Fulfillments } from "../domain/fulfillment/Fulfillments.ts"
import { Shipments } from "../domain/fulfillment/Shipments.ts"
import { ExternalImports } from "../domain/import-export/external/ExternalImports.ts"
import { Inventory } from "../domain/inventory/Inventory.ts"
import { Invoices } from "../domain/invoices/Invoices.ts"
import { PrintedDocuments } from "../domain/invoices/PrintedDocuments.ts"
import { InvoiceMails } from "../domain/mail/OrderMails.ts"
import { PluginMails } from "../domain/mail/PluginMails.ts"
import { Media } from "../domain/media/Media.ts"
import { Orders } from "../domain/orders/Orders.ts"
import { Refunds } from "../domain/payments/Refunds.ts"
import { ApiKeys } from "../domain/platform/credentials/ApiKeys.ts"
import { Users } from "../domain/platform/credentials/Users.ts"
import { Hooks } from "../domain/platform/hooks/Hooks.ts"
import { Jobs } from "../domain/platform/jobs/Jobs.ts"
import { ServiceRegistry } from "../domain/platform/modules/ServiceRegistry.ts"
import { GuessLimits } from "../domain/platform/ratelimits/RateLimits.ts"
import { PriceModifiers } from "../domain/pricing/PriceModifiers.ts"
import { Prices } from "../domain/pricing/Prices.ts"
import { Promotions } from "../domain/promotions/Promotions.ts"
import { Returns } from "../domain/returns/Returns.ts"
import { SearchUpdates } from "../domain/search/SearchUpdates.ts"
import { ShippingRates } from "../domain/shipping/ShippingRate.ts"
import { ShippingZones } from "../domain/shipping/ShippingZone.ts"
import { Captures } from "../workflows/checkout/Captures.ts"
import { Checkouts } from "../workflows/checkout/Checkouts.ts"
import { ManualOrders } from "../workflows/orders/ManualOrders.ts"
import { ReturnRefunds } from "../workflows/orders/ReturnRefunds.ts"
import { SoldOrders } from "../workflows/orders/SoldOrders.ts"
import { CollectedPayments } from "../workflows/payments/CollectedPayments.ts"
import { RefundRequests, RefundSettlement } from "../workflows/payments/RefundSettlement.ts"
import { StatusChanges } from "../workflows/payments/StatusChanges.ts"

const both = <A extends object, E, R, B extends object, E2, R2>(
  a: Effect.Effect<A, E, R>,
  b: Effect.Effect<B, E2, R2>
) => Effect.zipWith(a, b, (one, other) => ({ ...one, ...other }))

const coreServices = Effect.all({
  /** Changes of entities and their reads. */
  catalog: both(Catalog, CatalogReads),
  categories: Categories,
  brands: Brands,
  variants: Variants,
  /** Products of stores elsewhere, in batches. */
  imports: ExternalImports,
  /** Files and their assignments. */
  media: Media,
  /** Carts and changes of their lines. */
  cart: Carts,
  checkout: Checkouts,
  /** Prices of lines and carts, as a checkout would charge them; stores nothing. */
  quotes: Effect.map(Quotes, ({ quote, shippingRates }) => ({ quote, shippingRates })),
  /** Reads of orders; `change` sets a status, `createSold` is for goods that have left, others edit lines. */
  orders: both(
    both(
      Effect.zipWith(Orders, StatusChanges, ({ get, list }, { change }) => ({ get, list, change })),
      Effect.map(OrderEdits, ({ addLine, changeLine, removeLine }) => ({ addLine, changeLine, removeLine }))
    ),
    both(Effect.map(ManualOrders, ({ create }) => ({ create })), SoldOrders)
  ),
  /** Captures orders that were only authorized. */
  captures: Effect.map(Captures, ({ capture }) => ({ capture })),
  /** Payments that are collected before their order: `createSold` claims them. */
  payments: Effect.map(CollectedPayments, ({ collect, giveBack }) => ({ collect, giveBack })),
  /** Pages and files of invoices and receipts, and invoices by mail. */
  invoices: both(
    Effect.map(Invoices, ({ file, page, receipt }) => ({ file, page, receipt })),
    Effect.map(InvoiceMails, ({ send }) => ({ send }))
  ),
  printing: PrintedDocuments,
  /** API keys, also short-lived ones in a scope of a plugin (`keyScopes`, `expiresAt`). */
  apiKeys: ApiKeys,
  /**
   * Refunds. `request` writes one, also in a transaction; `settle` moves its money after the commit; `refund` does
   * both, outside transactions.
   */
  refunds: both(
    both(Refunds, RefundRequests),
    Effect.map(RefundSettlement, ({ settle }) => ({ settle }))
  ),
  /** Goods that come back. `requestRefund` writes the refund, also in a transaction; `refunds.settle` moves its money. */
  returns: Effect.zipWith(
    Returns,
    ReturnRefunds,
    ({ approve, cancel, find, receive, reject, request, returnable }, { request: requestRefund }) => ({
      find,
      returnable,
      request,
      approve,
      reject,
      cancel,
      receive,
      requestRefund
    })
  ),
  /** Shipments; `sendLines`, `conclude` and `change` are for plugins that ship. */
  fulfillment: both(
    Fulfillments,
    Effect.map(Shipments, ({ change, conclude, sendLines }) => ({ sendLines, conclude, change }))
  ),
  inventory: Inventory,
  pricing: Prices,
  priceModifiers: PriceModifiers,
  promotions: Promotions,
  shippingZones: ShippingZones,
  shippingRates: ShippingRates,
  customers: Customers,
  /** Reports changed values of `searchDocuments`. */
  search: SearchUpdates,
  /** Users of the organization, and their vendor. */
  users: Users,
  /** Mails of plugins, by their `mailTemplates`. */
  mail: PluginMails,
  /** Limits guesses. */
  guesses: GuessLimits.make,
  /** Figures, in the scope of the actor. */
  analytics: Analytics
})

declare module "../domain/platform/modules/ServiceRegistry.ts" {
  interface CoreServices extends Effect.Success<typeof coreServices> {}
}

/** Hands all services to the hooks, and closes their lists: layers that add hooks are below this one. */
export const serviceRegistryLayer = Layer.effectDiscard(Effect.gen(function*() {
  const jobs = Option.getOrUndefined(yield* Effect.serviceOption(Jobs))
  yield* (yield* ServiceRegistry).fill({ services: yield* coreServices, jobs, database: yield* SqlClient.SqlClient })
  yield* (yield* Hooks).freeze
}))
