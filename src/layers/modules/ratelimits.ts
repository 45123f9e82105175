import { Effect, Layer } from "effect"
import { defineModule } from "../../domain/modules/Module.ts"
import { migrations } from "../../domain/ratelimits/migrations.ts"
import { rateLimitRepoLayer } from "../../domain/ratelimits/RateLimitRepo.ts"
import { RateLimits } from "../../domain/ratelimits/RateLimits.ts"
import { RateLimitSettings } from "../../domain/ratelimits/RateLimitSettings.ts"
import { AppConfig } from "../config/AppConfig.ts"

const settings = Layer.unwrap(Effect.map(AppConfig, ({ rateLimits }) => RateLimitSettings.layerOf(rateLimits)))

/** Limits of requests, shared by all processes (spec §8). The edge and the access middleware ask them. */
export const ratelimits = defineModule({
  id: "ratelimits",
  version: "1.0.0",
  requires: [],
  permissions: [],
  migrations,
  services: Layer.merge(Layer.provideMerge(RateLimits.layer, rateLimitRepoLayer), settings),
  routes: Layer.empty
})
