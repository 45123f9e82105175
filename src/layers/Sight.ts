import { Context, Effect, Layer } from "effect"
import { AccessControl } from "../http/middleware/Access.ts"
import { Errors } from "../http/middleware/Errors.ts"
import { Idempotency } from "../http/middleware/Idempotency.ts"

/** What the runtime itself looks up: scopes, loggers, log levels, tracers. */
const ambient = /^effect\/(References|Logger|Layer|Scope|Tracer)/

/**
 * Builds a layer in sight of the services it names and of no others. Whatever runs for every request or message keeps
 * the services it was built among, and Effect copies them whenever it merges two sets of services: among all services
 * of the application that copying was a tenth of the work of a request, and a large part of its garbage. A service that
 * the layer needs and the list lacks is a type error.
 */
export const seeing =
  <Services extends ReadonlyArray<{ readonly key: string; readonly Identifier: unknown }>>(...services: Services) =>
  <A, E>(
    layer: Layer.Layer<A, E, Services[number]["Identifier"]>
  ): Layer.Layer<A, E, Services[number]["Identifier"]> => {
    const seen = new Set(services.map(({ key }) => key))
    const only = (all: Context.Context<Services[number]["Identifier"]>) =>
      Context.makeUnsafe<Services[number]["Identifier"]>(
        new Map([...all.mapUnsafe].filter(([key]) => seen.has(key) || ambient.test(key)))
      )
    return Layer.fromBuild((memoMap, scope) =>
      Effect.updateContext(Layer.buildWithMemoMap(layer, memoMap, scope), only)
    )
  }

/** What the routes of every group stand behind. */
export const ofRoutes = [AccessControl, Errors, Idempotency] as const
