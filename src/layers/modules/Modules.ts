import { Effect, Layer, Struct } from "effect"
import { catalogueOf, PermissionCatalogue } from "../../domain/platform/access/Permission.ts"
import { broughtBy, BroughtModels } from "../../domain/platform/modules/AnalyticsModel.ts"
import { together } from "../../domain/platform/modules/Module.ts"
import { migrations as sharedByPlugins } from "../../plugins/kit/tables/migrations.ts"
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
import { returns } from "./returns.ts"
import { search } from "./search.ts"
import { shipping } from "./shipping.ts"
import { tax } from "./tax.ts"
import { tenancy } from "./tenancy.ts"
import { webhooks } from "./webhooks.ts"

/** In the order in which their tables refer to one another. */
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
  returns,
  webhooks,
  mail,
  analytics,
  importExport
] as const

/** In that order; tables that plugins share come last. */
export const migrationOwners = [
  ...modules.map(({ id, migrations }) => [id, migrations] as const),
  ["plugins", sharedByPlugins] as const
]

const brought = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => BroughtModels.layerOf(broughtBy(modules, deployment.plugins)))
)

const catalogue = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => PermissionCatalogue.layerOf(catalogueOf(modules, deployment.plugins)))
)

export const services = together(modules.map(Struct.get("layer"))).pipe(
  Layer.provide(brought),
  Layer.provideMerge(catalogue)
)

/** Every process that runs actors registers all of them. */
export const actors = together(modules.map(Struct.get("actors")))

export const routes = together(modules.map(Struct.get("routes")))
