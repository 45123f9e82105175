import { Context, Effect, Layer, Schema } from "effect"
import {
  type CurrentActor,
  GiveUp,
  NotFound,
  type PluginCall,
  type PluginDatabase,
  type PluginTaskCall,
  RetryIn
} from "stoa/plugin"
import type { Channel } from "./ChannelAdapter.ts"
import type { ChannelError } from "./ChannelErrors.ts"
import { Channels } from "./ChannelOptions.ts"
import { failStore, openStore, withoutSecrets } from "./OpenedStore.ts"
import { renewedStore } from "./Renewal.ts"
import type { Store } from "./StoreTables.ts"

/** A store that can be called. */
export interface StoreSession {
  readonly store: Store
  readonly channel: Channel
}

/** What a task fails with. */
export class StoreFailed extends Schema.TaggedError<StoreFailed>()("StoreFailed", { message: Schema.String }) {}

type TaskOf = Pick<PluginTaskCall, "job"> & { readonly ctx: Pick<PluginCall, "db"> }

/** Calls stores with credentials that hold. */
export class StoreSessions extends Context.Service<StoreSessions, {
  /** The channel of a store as it is, for signatures. */
  readonly channelOf: (db: PluginDatabase, row: Store) => Effect.Effect<Channel, ChannelError | NotFound, CurrentActor>
  /** Runs work on a store, whose credentials are renewed before where they end soon; errors show no secrets. */
  readonly use: <A, R>(
    db: PluginDatabase,
    storeId: string,
    work: (session: StoreSession) => Effect.Effect<A, ChannelError, R>
  ) => Effect.Effect<A, ChannelError | NotFound, R | CurrentActor>
  /**
   * The same for a task: waits as long as a store asks without counting the try. A store that refuses the credentials becomes
   * `error`; with `isCheck`, so does one that refuses anything else, or cannot be reached at the last try.
   */
  readonly work: <A, R>(
    call: TaskOf,
    storeId: string,
    work: (session: StoreSession) => Effect.Effect<A, ChannelError, R>,
    isCheck?: boolean
  ) => Effect.Effect<A, GiveUp | RetryIn | StoreFailed, R | CurrentActor>
}>()("stoa/plugins/channel-connector/StoreSessions") {
  static readonly layer = Layer.effect(
    StoreSessions,
    Effect.map(Channels, (channels) => {
      const use: StoreSessions["Service"]["use"] = Effect.fn("StoreSessions.use")(function*(db, storeId, work) {
        const row = yield* renewedStore(channels, db, storeId)
        const { channel, secrets } = yield* openStore(channels, db, row)
        return yield* Effect.mapError(work({ store: row, channel }), (error) => withoutSecrets(error, secrets))
      })
      return {
        channelOf: (db, row) => Effect.map(openStore(channels, db, row), ({ channel }) => channel),
        use,
        work: (call, storeId, work, isCheck = false) =>
          Effect.catch(use(call.ctx.db, storeId, work), (error) => failed(call, storeId, error, isCheck))
      }
    })
  )
}

/** How a job ends that could not do its work. */
const failed = Effect.fnUntraced(
  function*({ ctx: { db }, job }: TaskOf, storeId: string, error: ChannelError | NotFound, isCheck: boolean) {
    if (error instanceof NotFound) return yield* Effect.fail(new GiveUp("The store is gone."))
    const { message } = error
    if (error._tag === "ChannelUnavailable") {
      if (error.retryAfterMs !== undefined) return yield* Effect.fail(new RetryIn(error.retryAfterMs, message))
      if (isCheck && job.attemptNumber >= job.maxAttempts) yield* failStore(db, storeId, message)
      return yield* new StoreFailed({ message })
    }
    if (isCheck || error._tag === "CredentialsRefused") yield* failStore(db, storeId, message)
    return yield* Effect.fail(new GiveUp(message))
  }
)
