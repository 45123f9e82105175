import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, Logger, Option, References, Scope, Tracer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { createServer } from "node:http"
import { EventTailer } from "../domain/platform/events/Events.ts"
import { Api, OperatorApi } from "../http/Api.ts"
import { authCallerLayer } from "../http/auth/AuthHttp.ts"
import { docsEndpoints, docsRoutes, endpoints, endpointsOf, rootPage } from "../http/docs/Docs.ts"
import { formBytes } from "../http/media/MediaApi.ts"
import { accessLayer } from "../http/middleware/AccessLayer.ts"
import { errorsLayer } from "../http/middleware/Errors.ts"
import { FingerprintSecret, idempotencyLayer, IdempotentExecution } from "../http/middleware/IdempotentExecution.ts"
import { rpcAccessLayer } from "../http/rpc/RpcAccessLayer.ts"
import { maxMessageBytes, rpcEndpoints, rpcRoutes } from "../http/rpc/RpcRoutes.ts"
import { RpcSockets } from "../http/rpc/RpcSockets.ts"
import { EnqueueableTasks, rpcHandlers } from "../http/rpc/StoaRpcHandlers.ts"
import { followConnections } from "../http/server/Connections.ts"
import { edge, routeTable } from "../http/server/Edge.ts"
import { answerBrokenRequest } from "../http/server/Failure.ts"
import { hostTest, originTest, proxyTest, TrustedOrigins } from "../http/server/Origins.ts"
import { RateLimiting } from "../http/server/RateLimiting.ts"
import { type RefusalShape, refusalShapes } from "../http/server/Refusals.ts"
import { Draining, type Farewell } from "../http/server/RequestId.ts"
import { InstalledPlugins } from "../plugins/kit/install/InstalledPlugins.ts"
import type { BuiltRoute } from "../plugins/kit/routes/PluginRoute.ts"
import { actors } from "./access/RequestActors.ts"
import { AuthSecret } from "./auth/AuthSecret.ts"
import { AppConfig, importExportLimits } from "./config/AppConfig.ts"
import type { Deployment } from "./config/DeploymentConfig.ts"
import { routes } from "./modules/Modules.ts"
import { tenancy } from "./modules/tenancy.ts"
import { version } from "./Version.ts"

const enqueueableTasks = Layer.effect(
  EnqueueableTasks,
  Effect.map(AppConfig, ({ deployment }) => {
    const own = new Set([...deployment.tasks, ...deployment.jobs.tasks].map(({ slug }) => slug))
    return { has: (slug: string) => own.has(slug) }
  })
)

const rpcLayer = Layer.unwrap(
  Effect.zipWith(
    AppConfig,
    InstalledPlugins,
    ({ tracing }, { rpc: { groups, handlers } }) =>
      Layer.provide(rpcRoutes({ untraced: tracing === undefined, groups }), handlers)
  )
).pipe(
  Layer.provide(Layer.provide(rpcHandlers, enqueueableTasks)),
  Layer.provide(rpcAccessLayer)
)

const idempotentExecution = Layer.provide(IdempotentExecution.layer, Layer.effect(FingerprintSecret, AuthSecret))

const middleware = Layer.mergeAll(
  errorsLayer,
  Layer.provide(Layer.merge(accessLayer, authCallerLayer), actors),
  Layer.provide(idempotencyLayer, idempotentExecution)
)

const rpc = rpcLayer.pipe(Layer.provide(Layer.merge(actors, idempotentExecution)))

const coreApplication = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(routes), Layer.provide(middleware)),
  rpc,
  docsRoutes(Api, version),
  rootPage(version)
)

const applicationWith = (first: BuiltRoute, others: ReadonlyArray<BuiltRoute>) => {
  const api = others.reduce((grown, { group }) => grown.add(group), Api.add(first.group))
  const ofPlugins = others.reduce((all, { layer }) => Layer.merge(all, layer), first.layer)
  return Layer.mergeAll(
    HttpApiBuilder.layer(api).pipe(Layer.provide(Layer.merge(routes, ofPlugins)), Layer.provide(middleware)),
    rpc,
    docsRoutes(api, version),
    rootPage(version)
  )
}

const operatorApplication = HttpApiBuilder.layer(OperatorApi).pipe(
  Layer.provide(tenancy.routes),
  Layer.provide(middleware)
)

/** Spec §5. */
const trustedOrigins = Layer.effect(
  TrustedOrigins,
  Effect.map(AppConfig, ({ auth, environment }) => {
    const production = environment === "production"
    const publicUrl = Option.getOrUndefined(auth.publicUrl)
    return { isTrusted: originTest(auth.trustedOrigins, production), production, publicUrl }
  })
)

const gate = Layer.merge(RateLimiting.layer, trustedOrigins)

/** Checks once a second for requests whose headers or body take too long: a slow client must not hold a connection. */
const nodeServer = ({ headersMs, requestMs }: Deployment["server"]["requestTimes"], farewell: Farewell) => () =>
  followConnections(
    createServer({
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      // Longer than proxies keep theirs (60 s, 75 s): the side that may send the next request must close the
      // connection.
      keepAliveTimeout: 90_000,
      connectionsCheckingInterval: Math.min(1_000, headersMs)
    }).on("clientError", answerBrokenRequest),
    farewell
  )

const rpcSockets = Layer.unwrap(
  Effect.map(AppConfig, ({ deployment }) => RpcSockets.layerOf(deployment.server.rpc))
)

interface Address {
  readonly method: string
  readonly path: string
  readonly failed?: RefusalShape | undefined
}

const addressesWith = (brought: ReadonlyArray<BuiltRoute>): ReadonlyArray<Address> => [
  ...endpoints(),
  ...brought.map(({ described }) => described),
  ...rpcEndpoints,
  ...docsEndpoints
]

/**
 * Initial services of each request. Routes bring theirs, and Effect copies both sets to merge them: all services of the
 * process would be copied twice per request.
 */
const requestServices = (all: Context.Context<HttpServer.HttpServer | Scope.Scope>) =>
  all.pipe(
    Context.pick(HttpServer.HttpServer, Scope.Scope, Tracer.Tracer, Logger.CurrentLoggers, References.MinimumLogLevel)
  )

const served = (
  router: typeof coreApplication,
  addresses: ReadonlyArray<Address>,
  brought: ReadonlyArray<BuiltRoute> = []
) =>
  Layer.unwrap(
    Effect.gen(function*() {
      const { auth, deployment, host, media, port, trustedProxy } = yield* AppConfig
      const { isTrusted, production } = yield* TrustedOrigins
      const app = yield* HttpRouter.toHttpEffect(router)
      const farewell = yield* Draining
      const options = {
        production,
        allowedOrigin: isTrusted,
        farewell,
        isProxy: Option.getOrUndefined(Option.map(trustedProxy, proxyTest)),
        limiting: yield* RateLimiting,
        isOwnHost: hostTest(Option.getOrUndefined(auth.publicUrl), production),
        methodsOf: routeTable(addresses),
        refusalShapeOf: refusalShapes(addresses),
        requestHeaders: brought.flatMap(({ described }) => Object.keys(described.headers ?? {})),
        bodyLimits: new Map([
          ["POST /api/media/upload", media.settings.maxUploadSize + formBytes],
          ["POST /api/imports", importExportLimits(deployment).maxFileBytes]
        ])
      }
      const serve: Effect.Effect<void, never, HttpServer.HttpServer | Scope.Scope> = HttpServer.serveEffect(
        edge(app, options)
      )
      return Layer.effectDiscard(Effect.updateContext(serve, requestServices)).pipe(
        Layer.provideMerge(
          NodeHttpServer.layer(nodeServer(deployment.server.requestTimes, farewell), {
            port,
            host,
            gracefulShutdownTimeout: "6 seconds",
            websocket: { maxPayload: maxMessageBytes }
          })
        )
      )
    })
  ).pipe(
    Layer.provide(Layer.merge(NodeHttpServer.layerHttpServices, gate)),
    Layer.provideMerge(rpcSockets)
  )

/** Streams and sockets never end by themselves: end them before waiting for requests. */
const endStreams = Layer.effectDiscard(Effect.gen(function*() {
  const tailer = yield* EventTailer
  const sockets = yield* RpcSockets
  yield* Effect.addFinalizer(() => Effect.andThen(tailer.end, sockets.end))
}))

export const serverLayer = endStreams.pipe(
  Layer.provideMerge(Layer.unwrap(Effect.map(InstalledPlugins, ({ routes: brought }) => {
    const [first, ...others] = brought
    return served(
      first === undefined ? coreApplication : applicationWith(first, others),
      addressesWith(brought),
      brought
    )
  })))
)

export const operatorServerLayer = served(operatorApplication, endpointsOf(OperatorApi))
