import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Users } from "../domain/access/Users.ts"
import { Analytics } from "../domain/analytics/Analytics.ts"
import { Carts } from "../domain/carts/Carts.ts"
import { Brands } from "../domain/catalog/brands/Brands.ts"
import { Catalog } from "../domain/catalog/Catalog.ts"
import { CatalogReads } from "../domain/catalog/CatalogReads.ts"
import { Categories } from "../domain/catalog/categories/Categories.ts"
import { Variants } from "../domain/catalog/variants/Variants.ts"
import { Customers } from "../domain/customers/Customers.ts"
import { Fulfillments } from "../domain/fulfillment/Fulfillments.ts"
import { Shipments } from "../domain/fulfillment/Shipments.ts"
import { Hooks } from "../domain/hooks/Hooks.ts"
import { Inventory } from "../domain/inventory/Inventory.ts"
import { Jobs } from "../domain/jobs/Jobs.ts"
import { Media } from "../domain/media/Media.ts"
import { type CoreServices, ServiceRegistry } from "../domain/modules/ServiceRegistry.ts"
import { Orders } from "../domain/orders/Orders.ts"
import { Refunds } from "../domain/payments/Refunds.ts"
import { PriceModifiers } from "../domain/pricing/PriceModifiers.ts"
import { Prices } from "../domain/pricing/Prices.ts"
import { Promotions } from "../domain/promotions/Promotions.ts"
import { ShippingRates } from "../domain/shipping/ShippingRate.ts"
import { ShippingZones } from "../domain/shipping/ShippingZone.ts"
import { Checkouts } from "../workflows/checkout/Checkouts.ts"
import { RefundRequests } from "../workflows/payments/RefundRequests.ts"
import { RefundSettlement } from "../workflows/payments/RefundSettlement.ts"
import { StatusChanges } from "../workflows/payments/StatusChanges.ts"

declare module "../domain/modules/ServiceRegistry.ts" {
  interface CoreServices {
    /** Changes of entities and their reads. */
    readonly catalog: Catalog["Service"] & CatalogReads["Service"]
    readonly categories: Categories["Service"]
    readonly brands: Brands["Service"]
    readonly variants: Variants["Service"]
    /** Files and what shows them. */
    readonly media: Media["Service"]
    /** Carts and changes of their lines. */
    readonly cart: Carts["Service"]
    readonly checkout: Checkouts["Service"]
    /** Reads of orders; `change` moves one to another status. */
    readonly orders: Pick<Orders["Service"], "get" | "list"> & Pick<StatusChanges["Service"], "change">
    /**
     * Money that is given back. `request` writes a refund, also in the caller's transaction, and `settle` has its money
     * moved once that has committed; `refund` does both, and belongs into no transaction.
     */
    readonly refunds: Refunds["Service"] & RefundRequests["Service"] & Pick<RefundSettlement["Service"], "settle">
    /** What has been handed over; `sendLines`, `conclude` and `change` are for plugins that ship. */
    readonly fulfillment: Fulfillments["Service"] & Pick<Shipments["Service"], "sendLines" | "conclude" | "change">
    readonly inventory: Inventory["Service"]
    readonly pricing: Prices["Service"]
    readonly priceModifiers: PriceModifiers["Service"]
    readonly promotions: Promotions["Service"]
    readonly shippingZones: ShippingZones["Service"]
    readonly shippingRates: ShippingRates["Service"]
    readonly customers: Customers["Service"]
    /** People whom the organization knows, and for whose vendor they act. */
    readonly users: Users["Service"]
    /** Figures, in the scope of the actor. */
    readonly analytics: Analytics["Service"]
  }
}

const coreServices = Effect.gen(function*() {
  const orders = yield* Orders
  const shipments = yield* Shipments
  const services: CoreServices = {
    catalog: { ...yield* Catalog, ...yield* CatalogReads },
    categories: yield* Categories,
    brands: yield* Brands,
    variants: yield* Variants,
    media: yield* Media,
    cart: yield* Carts,
    checkout: yield* Checkouts,
    orders: { get: orders.get, list: orders.list, change: (yield* StatusChanges).change },
    refunds: {
      ...yield* Refunds,
      ...yield* RefundRequests,
      settle: (yield* RefundSettlement).settle
    },
    fulfillment: { ...yield* Fulfillments, ...shipments },
    inventory: yield* Inventory,
    pricing: yield* Prices,
    priceModifiers: yield* PriceModifiers,
    promotions: yield* Promotions,
    shippingZones: yield* ShippingZones,
    shippingRates: yield* ShippingRates,
    customers: yield* Customers,
    users: yield* Users,
    analytics: yield* Analytics
  }
  return services
})

/**
 * Hands the services of all modules to their own hooks, and ends the time in which hooks are added: a layer that adds some
 * belongs to the layers below this one.
 */
export const serviceRegistryLayer = Layer.effectDiscard(Effect.gen(function*() {
  const jobs = Option.getOrUndefined(yield* Effect.serviceOption(Jobs))
  yield* (yield* ServiceRegistry).fill({ services: yield* coreServices, jobs, database: yield* SqlClient.SqlClient })
  yield* (yield* Hooks).freeze
}))
