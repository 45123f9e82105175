import { Layer } from "effect"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { rateLimiterLayer } from "../ratelimits/RateLimiter.ts"
import { migrations, RateLimitRepo } from "../ratelimits/RateLimitRepo.ts"

/** Request limits, shared by all processes (spec §8). */
export const ratelimits = defineModule({
  id: "ratelimits",
  migrations,
  services: Layer.provideMerge(rateLimiterLayer, RateLimitRepo.layer),
  routes: Layer.empty
})
