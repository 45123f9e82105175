import { PgConnection } from "@effect/sql-pg"
import { Context, Effect, Layer, Queue, RcRef, type Scope } from "effect"
import { connectingTo } from "./config/DatabaseTls.ts"
import { Database, keepAlive } from "./Database.ts"

const again = "1 second"

export interface Listener {
  readonly heard: (payload: string) => Effect.Effect<void>
  readonly listening: (on: boolean) => Effect.Effect<void>
}

/**
 * Notifications of the database (`LISTEN`), all channels on one connection, which is reopened after a loss. They are
 * hints: work is found without them, later.
 */
export class Notifications extends Context.Service<Notifications>()("stoa/layers/Notifications", {
  make: Effect.gen(function*() {
    const { url } = yield* Database
    const connect = PgConnection.make({
      ...connectingTo(url),
      keepAlive,
      applicationName: "stoa-notifications"
    })
    const session = yield* RcRef.make({ acquire: Effect.flatMap(connect, ({ pin }) => pin) })

    const listen = (channel: string, { heard, listening }: Listener): Effect.Effect<void, never, Scope.Scope> =>
      Effect.gen(function*() {
        const queue = yield* (yield* RcRef.get(session)).listen(channel)
        yield* Effect.acquireRelease(listening(true), () => listening(false))
        return yield* Effect.forever(Effect.flatMap(Queue.take(queue), ({ payload }) => heard(payload)))
      }).pipe(
        Effect.scoped,
        Effect.catchCause((cause) => Effect.logWarning(`notifications of ${channel} are interrupted`, cause)),
        Effect.andThen(Effect.sleep(again)),
        Effect.forever,
        Effect.forkScoped,
        Effect.asVoid
      )
    return { listen }
  })
}) {
  static readonly layer = Layer.effect(Notifications, Notifications.make)
}
