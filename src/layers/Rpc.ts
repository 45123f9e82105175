import { Effect, Layer } from "effect"
import { rpcAccessLayer } from "../http/rpc/RpcAccessLayer.ts"
import { rpcRoutes } from "../http/rpc/RpcRoutes.ts"
import { EnqueueableTasks, rpcHandlers } from "../http/rpc/StoaRpcHandlers.ts"
import { AppConfig } from "./config/AppConfig.ts"

const enqueueableTasks = Layer.effect(
  EnqueueableTasks,
  Effect.map(AppConfig, ({ deployment }) => {
    const own = new Set([...deployment.tasks, ...deployment.jobs.tasks].map(({ slug }) => slug))
    return { has: (slug: string) => own.has(slug) }
  })
)

/** `/rpc` with its handlers and the middleware before them. */
export const rpcLayer = Layer.unwrap(
  Effect.map(AppConfig, ({ tracing }) => rpcRoutes({ untraced: tracing === undefined }))
)
  .pipe(
    Layer.provide(Layer.provide(rpcHandlers, enqueueableTasks)),
    Layer.provide(rpcAccessLayer)
  )
