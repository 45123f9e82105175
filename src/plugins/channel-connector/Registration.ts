import { DateTime, Effect } from "effect"
import { defineTask, type PluginTaskCall } from "stoa/plugin"
import { ChannelRefused } from "./ChannelErrors.ts"
import { Channels, retries } from "./ChannelOptions.ts"
import { beginRun } from "./StoreRuns.ts"
import { type StoreSession, StoreSessions } from "./StoreSessions.ts"
import { store } from "./StoreTables.ts"

export const registerTask = "channel/register-webhooks"
export const importTask = "channel/import-catalog"

/** Jobs about one store follow one another. */
export const ofStore = (input: Readonly<Record<string, unknown>>): string => `store:${input["storeId"]}`

/** Where a store sends its webhooks. */
const webhookAddress = (publicUrl: string, storeId: string): string => `${publicUrl}/api/channels/webhooks/${storeId}`

/** Checks the credentials, and registers the topics that the store does not send, or no longer. */
export const registerWebhooks = Effect.fnUntraced(function*({ channel, store: { id } }: StoreSession) {
  yield* channel.verify
  if (channel.webhooks === undefined) return []
  const { settings: { publicUrl } } = yield* Channels
  if (publicUrl === undefined) {
    return yield* new ChannelRefused({ message: "Webhooks need the option publicUrl of the plugin." })
  }
  const address = webhookAddress(publicUrl, id)
  const known = (yield* channel.webhooks.list).filter((one) => one.address === address)
  const missing = channel.webhooks.topics.filter((topic) => !known.some((one) => one.topic === topic && one.isActive))
  for (const topic of missing) {
    yield* channel.webhooks.register(topic, address, known.find((one) => one.topic === topic))
  }
  return missing
})

const checkedStore = (session: StoreSession) =>
  Effect.map(
    registerWebhooks(session),
    (registered) => ({ registered, hasCatalog: session.channel.catalog !== undefined })
  )

/** Checks a store after it was connected or got other credentials, and begins its import (contract-tills-channels, amendment 42). */
export const registration = defineTask({
  slug: registerTask,
  retries,
  concurrency: { key: ofStore },
  handler: Effect.fnUntraced(function*(call: PluginTaskCall) {
    const storeId = String(call.input["storeId"])
    const { db, jobs } = call.ctx
    const { work } = yield* StoreSessions
    const { hasCatalog, registered } = yield* work(call, storeId, checkedStore, true)
    const done = { lastError: null, webhooksCheckedAt: yield* DateTime.nowAsDate }
    yield* db.transaction(Effect.gen(function*() {
      yield* db.use(store).move("recover", storeId, done)
      if (!hasCatalog) return
      // A run of before it was disconnected is not gone on with.
      yield* beginRun(db, storeId, "import", true)
      yield* jobs.enqueue(importTask, { storeId })
    })).pipe(
      // It may have been disconnected meanwhile.
      Effect.ignore
    )
    return { output: { registered } }
  })
})
