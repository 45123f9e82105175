import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue } from "effect"
import { Reactivity } from "effect/reactivity"
import { CacheInvalidation } from "../../domain/access/CacheInvalidation.ts"
import { connectingTo } from "../config/DatabaseTls.ts"
import { Database, keepAlive } from "../Database.ts"

/** How long a listener that lost its connection waits before it tries again; nothing is remembered meanwhile. */
const again = "1 second"

/**
 * Hears of revoked sessions and keys, of changed users, memberships and organizations, and of changed rules of tax and
 * shipping, whichever process changed them, on a connection of its own: one channel for all of them, since each channel
 * would hold one. What this process remembers is emptied when the connection ends: whoever listens anew may have missed
 * something. It belongs to the routes, which every process has: a runner those that its operator asks.
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
      Effect.catchCause((cause) => Effect.logWarning("notifications of access are away", cause)),
      Effect.andThen(Effect.sleep(again)),
      Effect.forever,
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(Reactivity.layer))
