import { Effect } from "effect"
import { defineTask, type PluginTaskCall } from "stoa/plugin"
import { ofStore } from "./Registration.ts"
import { nothingLeft } from "./Stores.ts"
import { StoreFailed, StoreSessions } from "./StoreSessions.ts"
import { stores } from "./StoreTables.ts"

export const unregisterTask = "channel/unregister-webhooks"

/** Ends the webhooks of a store that was disconnected, if it lets us, and deletes its credentials in any case. */
export const unregistration = defineTask({
  slug: unregisterTask,
  retries: { attempts: 3, backoff: { type: "exponential", delay: 5_000 } },
  concurrency: { key: ofStore },
  handler: Effect.fnUntraced(function*({ ctx: { db }, input, job }: PluginTaskCall) {
    const storeId = String(input["storeId"])
    const row = yield* db.table(stores).find({ id: storeId, status: "disconnected" })
    // It was connected again.
    if (row === undefined) return
    const { channelOf } = yield* StoreSessions
    const ended = yield* Effect.result(Effect.gen(function*() {
      const { webhooks } = yield* channelOf(db, row)
      const all = webhooks === undefined ? [] : yield* webhooks.list
      const ours = all.filter(({ address }) => address.endsWith(`/webhooks/${storeId}`))
      yield* Effect.forEach(ours, ({ externalId }) => webhooks?.unregister(externalId) ?? Effect.void)
    }))
    const isLater = ended._tag === "Failure" && ended.failure._tag === "ChannelUnavailable"
    // Messages of adapters may have secrets in them.
    if (isLater && job.attemptNumber < job.maxAttempts) return yield* new StoreFailed({ message: "The store is away." })
    yield* Effect.ignore(db.table(stores).update(storeId, nothingLeft, { status: "disconnected" }))
  })
})
