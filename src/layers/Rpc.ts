import { Effect, Layer } from "effect"
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
import { AppConfig } from "./config/AppConfig.ts"

const askedTasks = Layer.effect(
  AskedTasks,
  Effect.map(AppConfig, ({ deployment }) => {
    const own = new Set([...(deployment.tasks ?? []), ...(deployment.jobs?.tasks ?? [])].map(({ slug }) => slug))
    return { has: (slug: string) => own.has(slug) }
  })
)

const calls = Layer.mergeAll(
  catalogCalls,
  cartsCalls,
  ordersCalls,
  inventoryCalls,
  customersCalls,
  jobsCalls,
  eventsCalls
)

/** `/rpc` with everything that answers there, for a router whose gate finds out who calls. */
export const rpcLayer = Layer.unwrap(
  Effect.map(AppConfig, ({ tracing }) => rpcRoutes({ untraced: tracing === undefined }))
)
  .pipe(
    Layer.provide(Layer.provide(calls, askedTasks)),
    Layer.provide(Layer.provide(rpcGateLayer, RpcKeys.layer))
  )
