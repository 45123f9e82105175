import { DateTime, Effect } from "effect"
import { defineTask, type PluginTaskCall } from "stoa/plugin"
import { ChannelRefused } from "./ChannelErrors.ts"
import { Channels } from "./ChannelOptions.ts"
import { type StoreSession, StoreSessions } from "./StoreSessions.ts"
import { store } from "./StoreTables.ts"

export const registerTask = "channel/register-webhooks"

/** Jobs about one store follow one another. */
export const ofStore = (input: Readonly<Record<string, unknown>>): string => `store:${input["storeId"]}`

/** Where a store sends its webhooks. */
export const webhookAddress = (publicUrl: string, storeId: string): string =>
  `${publicUrl}/api/channels/webhooks/${storeId}`

/** Checks the credentials, and registers the topics that the store does not send, or no longer. */
const register = Effect.fnUntraced(function*({ channel, store: { id } }: StoreSession) {
  yield* channel.verify
  if (channel.webhooks === undefined) return { registered: [] }
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
  return { registered: missing }
})

/** Checks a store after it was connected or got other credentials (contract-tills-channels, amendment 42). */
export const registration = defineTask({
  slug: registerTask,
  retries: { attempts: 8, backoff: { type: "exponential", delay: 5_000, jitter: 0.2, ceiling: 600_000 } },
  concurrency: { key: ofStore },
  handler: Effect.fnUntraced(function*(call: PluginTaskCall) {
    const storeId = String(call.input["storeId"])
    const { work } = yield* StoreSessions
    const output = yield* work(call, storeId, register, true)
    const done = { lastError: null, webhooksCheckedAt: yield* DateTime.nowAsDate }
    // It may have been disconnected meanwhile.
    yield* Effect.ignore(call.ctx.db.use(store).move("recover", storeId, done))
    return { output }
  })
})
