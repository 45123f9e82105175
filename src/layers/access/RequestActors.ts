import { Effect, Layer } from "effect"
import { CacheInvalidation } from "../../domain/platform/access/CacheInvalidation.ts"
import { CredentialRepo } from "../../domain/platform/credentials/CredentialRepo.ts"
import { credentialsLayerOf } from "../../domain/platform/credentials/Credentials.ts"
import { actorsLayer } from "../Actors.ts"
import { AuthSecret } from "../auth/AuthSecret.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { Notifications } from "../Notifications.ts"
import { StoreResolution } from "./StoreResolution.ts"

/** Invalidates caches by notifications. Without notifications the caches stay empty: some may be lost. */
export const accessNotifications = Layer.effectDiscard(
  Effect.gen(function*() {
    const { forget, listen } = yield* CacheInvalidation
    yield* (yield* Notifications).listen("auth_changed", { heard: forget, listening: listen })
  })
)

const credentials = Layer.unwrap(Effect.gen(function*() {
  const { auth } = yield* AppConfig
  return credentialsLayerOf({
    secret: yield* AuthSecret,
    sessionSeconds: auth.sessionDuration,
    keysEnabled: auth.apiKeys.enabled
  })
}))

export const actors = actorsLayer.pipe(
  Layer.provide(Layer.mergeAll(credentials, StoreResolution.layer, accessNotifications)),
  Layer.provide(CredentialRepo.layer)
)
