import { Effect, Layer } from "effect"
import { credentialRepoLayer } from "../../domain/access/CredentialRepo.ts"
import { credentialsLayerOf } from "../../domain/access/Credentials.ts"
import { actorsLayer } from "../Actors.ts"
import { AuthSecret } from "../auth/AuthSecret.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { accessNotifications } from "./AccessNotifications.ts"
import { StoreResolution } from "./StoreResolution.ts"

const credentials = Layer.unwrap(Effect.gen(function*() {
  const { auth } = yield* AppConfig
  return credentialsLayerOf({
    secret: yield* AuthSecret,
    sessionSeconds: auth.sessionDuration,
    keysEnabled: auth.apiKeys.enabled
  })
}))

/** `Actors` over the database, with caches that notifications invalidate. */
export const actors = actorsLayer.pipe(
  Layer.provide(Layer.mergeAll(credentials, StoreResolution.layer, accessNotifications)),
  Layer.provide(credentialRepoLayer)
)
