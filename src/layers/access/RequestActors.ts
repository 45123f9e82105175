import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue } from "effect"
import { Reactivity } from "effect/reactivity"
import { CacheInvalidation } from "../../domain/access/CacheInvalidation.ts"
import { CredentialRepo } from "../../domain/access/CredentialRepo.ts"
import { credentialsLayerOf } from "../../domain/access/Credentials.ts"
import { actorsLayer } from "../Actors.ts"
import { AuthSecret } from "../auth/AuthSecret.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { connectingTo } from "../config/DatabaseTls.ts"
import { Database, keepAlive } from "../Database.ts"
import { StoreResolution } from "./StoreResolution.ts"

/** Delay before a lost connection is opened again; nothing is cached meanwhile. */
const retryDelay = "1 second"

/**
 * Receives notifications of revoked sessions and keys, of changed users, memberships and organizations, and of changed tax
 * and shipping rules from all processes. One channel for all of them, since each channel holds a connection. The caches
 * are emptied when the connection ends, since notifications may be lost. Part of the routes, which every process has.
 */
export const accessNotifications = Layer.effectDiscard(
  Effect.gen(function*() {
    const caches = yield* CacheInvalidation
    const { url } = yield* Database
    const listen = Effect.gen(function*() {
      const client = yield* PgClient.make({
        ...connectingTo(url),
        keepAlive,
        maxConnections: 1,
        applicationName: "stoa-access"
      })
      const heard = yield* client.listen("auth_changed")
      yield* Effect.acquireRelease(caches.listen(true), () => caches.listen(false))
      return yield* Effect.forever(Effect.flatMap(Queue.take(heard), ({ payload }) => caches.forget(payload)))
    }).pipe(Effect.scoped)
    yield* listen.pipe(
      Effect.catchCause((cause) => Effect.logWarning("notifications of access are interrupted", cause)),
      Effect.andThen(Effect.sleep(retryDelay)),
      Effect.forever,
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(Reactivity.layer))

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
  Layer.provide(CredentialRepo.layer)
)
