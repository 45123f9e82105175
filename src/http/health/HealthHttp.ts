import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Health } from "../../domain/health/Health.ts"
import { Readiness } from "../../domain/health/Readiness.ts"
import { HealthGroup } from "./HealthApi.ts"

/** Handlers of the routes that `HealthApi.ts` declares. */
export const healthHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(HealthGroup),
  "health",
  Effect.fnUntraced(function*(handlers) {
    const health = yield* Health
    const readiness = yield* Readiness
    return handlers.handleAll({
      health: () => health.check,
      live: () => Effect.succeed(health.alive),
      ready: () => readiness.check,
      rootReady: () => readiness.check
    })
  })
)
