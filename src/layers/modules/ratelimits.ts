import { Effect, Layer } from "effect"
import { defineModule } from "../../domain/modules/Module.ts"
import { RateLimitSettings } from "../../domain/ratelimits/RateLimitSettings.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { rateLimiterLayer } from "../ratelimits/RateLimiter.ts"
import { migrations, rateLimitRepoLayer } from "../ratelimits/RateLimitRepo.ts"

const settings = Layer.unwrap(Effect.map(AppConfig, ({ rateLimits }) => RateLimitSettings.layerOf(rateLimits)))

/** Request limits, shared by all processes (spec §8), for the HTTP server and the access middleware. */
export const ratelimits = defineModule({
  id: "ratelimits",
  version: "1.0.0",
  requires: [],
  permissions: [],
  migrations,
  services: Layer.merge(Layer.provideMerge(rateLimiterLayer, rateLimitRepoLayer), settings),
  routes: Layer.empty
})
