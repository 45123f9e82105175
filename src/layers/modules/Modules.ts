import { Effect, Layer } from "effect"
import { catalogueOf, PermissionCatalogue } from "../../domain/access/PermissionCatalogue.ts"
import { broughtBy, BroughtModels } from "../../domain/analytics/AnalyticsModels.ts"
import type { Migrations } from "../../domain/modules/Migrations.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { access } from "./access.ts"
import { adminOrders } from "./admin-orders.ts"
import { analytics } from "./analytics.ts"
import { auth } from "./auth.ts"
import { carts } from "./carts.ts"
import { catalog } from "./catalog.ts"
import { checkout } from "./checkout.ts"
import { customers } from "./customers.ts"
import { events } from "./events.ts"
import { fulfillment } from "./fulfillment.ts"
import { importExport } from "./import-export.ts"
import { inventory } from "./inventory.ts"
import { invoices } from "./invoices.ts"
import { jobs } from "./jobs.ts"
import { mail } from "./mail.ts"
import { media } from "./media.ts"
import { orders } from "./orders.ts"
import { payments } from "./payments.ts"
import { pricing } from "./pricing.ts"
import { promotions } from "./promotions.ts"
import { ratelimits } from "./ratelimits.ts"
import { search } from "./search.ts"
import { shipping } from "./shipping.ts"
import { tax } from "./tax.ts"
import { tenancy } from "./tenancy.ts"
import { webhooks } from "./webhooks.ts"

/** The modules of the core in the order in which they use one another: a module comes after those it requires. */
export const modules = [
  tenancy,
  ratelimits,
  events,
  jobs,
  auth,
  access,
  catalog,
  media,
  search,
  pricing,
  inventory,
  customers,
  carts,
  orders,
  promotions,
  shipping,
  tax,
  fulfillment,
  payments,
  invoices,
  checkout,
  adminOrders,
  webhooks,
  mail,
  analytics,
  importExport
] as const

/** Owners of migrations in the order in which their tables refer to one another. */
export const migrationOwners: ReadonlyArray<readonly [owner: string, migrations: Migrations]> = modules.map((
  { id, migrations }
) => [id, migrations])

/** Those that come after payments: one pipe has only so many arguments. */
const afterPayments = adminOrders.services.pipe(
  Layer.provideMerge(checkout.services),
  Layer.provideMerge(invoices.services)
)

/** What modules and plugins let be asked of their tables. */
const brought = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => BroughtModels.layerOf(broughtBy(modules, deployment.plugins)))
)

/** The permissions of modules and plugins. */
const catalogue = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => PermissionCatalogue.layerOf(catalogueOf(modules, deployment.plugins)))
)

/** Services of all modules, in every process. Each may use those of the modules before it. */
export const services = Layer.mergeAll(
  mail.services,
  search.services,
  importExport.services,
  catalogue,
  Layer.provide(analytics.services, brought)
).pipe(
  Layer.provideMerge(webhooks.services),
  Layer.provideMerge(afterPayments),
  Layer.provideMerge(payments.services),
  Layer.provideMerge(fulfillment.services),
  Layer.provideMerge(tax.services),
  Layer.provideMerge(shipping.services),
  Layer.provideMerge(promotions.services),
  Layer.provideMerge(orders.services),
  Layer.provideMerge(carts.services),
  Layer.provideMerge(customers.services),
  Layer.provideMerge(inventory.services),
  Layer.provideMerge(pricing.services),
  Layer.provideMerge(media.services),
  Layer.provideMerge(catalog.services),
  Layer.provideMerge(access.services),
  Layer.provideMerge(auth.services),
  Layer.provideMerge(jobs.services),
  Layer.provideMerge(events.services),
  Layer.provideMerge(ratelimits.services),
  Layer.provideMerge(tenancy.services)
)

/** Behaviour of all entities and workflows: every process that runs actors registers every one of them. */
export const actors = Layer.mergeAll(
  events.actors,
  jobs.actors,
  inventory.actors,
  carts.actors,
  orders.actors,
  payments.actors,
  checkout.actors
)

/** Handlers of all route groups. */
export const routes = Layer.mergeAll(
  tenancy.routes,
  auth.routes,
  events.routes,
  jobs.routes,
  access.routes,
  catalog.routes,
  media.routes,
  search.routes,
  importExport.routes,
  pricing.routes,
  promotions.routes,
  shipping.routes,
  tax.routes,
  inventory.routes,
  customers.routes,
  carts.routes,
  orders.routes,
  fulfillment.routes,
  payments.routes,
  invoices.routes,
  checkout.routes,
  adminOrders.routes,
  webhooks.routes,
  analytics.routes
)
