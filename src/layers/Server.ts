import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { createServer } from "node:http"
import { EventTailer } from "../domain/events/EventTailer.ts"
import { Api, OperatorApi } from "../http/Api.ts"
import { docsRoutes, endpoints, endpointsOf } from "../http/docs/Docs.ts"
import { accessLayer } from "../http/middleware/Access.ts"
import { errorsLayer } from "../http/middleware/Errors.ts"
import { idempotencyLayer } from "../http/middleware/Idempotency.ts"
import { originTest } from "../http/server/Cors.ts"
import { edge } from "../http/server/Edge.ts"
import { routeTable } from "../http/server/RouteTable.ts"
import { actors } from "./access/RequestActors.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { routes } from "./modules/Modules.ts"
import { tenancy } from "./modules/tenancy.ts"
import { seeing } from "./Sight.ts"
import { version } from "./Version.ts"

/** What every group's middleware needs. */
const middleware = Layer.mergeAll(errorsLayer, Layer.provide(accessLayer, actors), idempotencyLayer)

const application = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(routes), Layer.provide(middleware)),
  docsRoutes(version)
)

const operatorApplication = HttpApiBuilder.layer(OperatorApi).pipe(
  Layer.provide(tenancy.routes),
  Layer.provide(middleware)
)

const docs = [{ method: "GET", path: "/api/doc" }, { method: "GET", path: "/api/reference" }]

/** A router's routes behind the edge, on the configured port. Requests that are being answered end before the process does. */
const served = (router: typeof application, methodsOf: ReturnType<typeof routeTable>) =>
  Layer.unwrap(
    Effect.gen(function*() {
      const { auth, environment, host, port, trustedProxy } = yield* AppConfig
      const production = environment === "production"
      const app = yield* HttpRouter.toHttpEffect(router)
      const options = {
        production,
        allowedOrigin: originTest(auth.trustedOrigins, production),
        trustedProxy: Option.getOrUndefined(trustedProxy),
        methodsOf
      }
      return HttpServer.serve(edge(app, options)).pipe(
        seeing(HttpServer.HttpServer),
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port, host, gracefulShutdownTimeout: "10 seconds" }))
      )
    })
  ).pipe(Layer.provide(NodeHttpServer.layerHttpServices))

/** A stream of events never ends of itself: it is told before the server waits for what is being answered. */
const endStreams = Layer.effectDiscard(Effect.flatMap(EventTailer, ({ end }) => Effect.addFinalizer(() => end)))

/** Every route of the API. */
export const serverLayer = endStreams.pipe(
  Layer.provideMerge(served(application, routeTable([...endpoints(), ...docs])))
)

/** What operators ask a process that runs actors: health, readiness and metrics. */
export const operatorServerLayer = served(operatorApplication, routeTable(endpointsOf(OperatorApi)))
