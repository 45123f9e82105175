import { Effect, Layer } from "effect"
import { Carts } from "../domain/carts/Carts.ts"
import { Catalog } from "../domain/catalog/Catalog.ts"
import { CatalogReads } from "../domain/catalog/CatalogReads.ts"
import { Customers } from "../domain/customers/Customers.ts"
import { Events } from "../domain/events/Events.ts"
import { EventTailer } from "../domain/events/EventTailer.ts"
import { Fulfillments } from "../domain/fulfillment/Fulfillments.ts"
import { Inventory } from "../domain/inventory/Inventory.ts"
import { FailedJobs } from "../domain/jobs/FailedJobs.ts"
import { Jobs } from "../domain/jobs/Jobs.ts"
import { Orders } from "../domain/orders/Orders.ts"
import { CartClient } from "../entities/CartClient.ts"
import { cartsCalls } from "../http/rpc/CartsCalls.ts"
import { catalogCalls } from "../http/rpc/CatalogCalls.ts"
import { customersCalls } from "../http/rpc/CustomersCalls.ts"
import { eventsCalls } from "../http/rpc/EventsCalls.ts"
import { inventoryCalls } from "../http/rpc/InventoryCalls.ts"
import { AskedTasks, jobsCalls } from "../http/rpc/JobsCalls.ts"
import { ordersCalls } from "../http/rpc/OrdersCalls.ts"
import { rpcGateLayer } from "../http/rpc/RpcGate.ts"
import { RpcKeys } from "../http/rpc/RpcKeys.ts"
import { rpcRoutes } from "../http/rpc/RpcRoutes.ts"
import { Checkouts } from "../workflows/checkout/Checkouts.ts"
import { StatusChanges } from "../workflows/payments/StatusChanges.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { seeing } from "./Sight.ts"

const askedTasks = Layer.effect(
  AskedTasks,
  Effect.map(AppConfig, ({ deployment }) => {
    const own = new Set([...(deployment.tasks ?? []), ...(deployment.jobs?.tasks ?? [])].map(({ slug }) => slug))
    return { has: (slug: string) => own.has(slug) }
  })
)

const calls = Layer.mergeAll(
  catalogCalls.pipe(seeing(Catalog, CatalogReads)),
  cartsCalls.pipe(seeing(Carts, CartClient, Checkouts)),
  ordersCalls.pipe(seeing(Orders, Fulfillments, StatusChanges)),
  inventoryCalls.pipe(seeing(Inventory)),
  customersCalls.pipe(seeing(Customers)),
  jobsCalls.pipe(seeing(FailedJobs, Jobs, AskedTasks)),
  eventsCalls.pipe(seeing(Events, EventTailer))
)

/** `/rpc` with everything that answers there, for a router whose gate finds out who calls. */
export const rpcLayer = Layer.unwrap(
  Effect.map(AppConfig, ({ tracing }) => rpcRoutes({ untraced: tracing === undefined }))
)
  .pipe(
    Layer.provide(Layer.provide(calls, askedTasks)),
    Layer.provide(Layer.provide(rpcGateLayer, RpcKeys.layer))
  )
