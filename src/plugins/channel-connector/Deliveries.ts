import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Conflict, type CurrentActor, defineTask, listOf, type PluginCall, type PluginTaskCall } from "stoa/plugin"
import type { Delivery } from "./ChannelAdapter.ts"
import type { ChannelError } from "./ChannelErrors.ts"
import { read, routes } from "./ChannelOptions.ts"
import type { Hint } from "./ChannelRecords.ts"
import { ofStore } from "./Registration.ts"
import { nothingLeft } from "./Stores.ts"
import { type StoreSession, StoreSessions } from "./StoreSessions.ts"
import { deliveries, store } from "./StoreTables.ts"

const handleTask = "channel/handle-deliveries"
const pageSize = 100

/** A delivery as it is claimed: one that is handled needs no job. */
type Claimed = Partial<Delivery> & { readonly status: "received" | "handled" | "unreadable" }

/** Claims a delivery, with the job that handles it; false when it was claimed before. */
export const claimDelivery = (
  { db, jobs }: Pick<PluginCall, "db" | "jobs">,
  storeId: string,
  { deliveryId = "", hints = [], status, topic = "" }: Claimed
) =>
  db.transaction(Effect.gen(function*() {
    yield* db.table(deliveries).insert({
      storeId,
      // Without an id of the store it is a delivery that no other one repeats.
      deliveryId: deliveryId.slice(0, 255) || randomUUID(),
      topic: topic.slice(0, 255) || "unknown",
      hints,
      status
    })
    if (status === "received") yield* jobs.enqueue(handleTask, { storeId })
    return true
  })).pipe(Effect.catchIf((error) => error instanceof Conflict, () => Effect.succeed(false)))

/** The store has removed our app, unless it accepts the credentials: then the delivery is an old one. */
const uninstalled = ({ db }: Pick<PluginCall, "db">, { channel, store: { id } }: StoreSession) =>
  channel.verify.pipe(
    Effect.as(false),
    Effect.catchTag("CredentialsRefused", () => Effect.as(disconnect(db, id), true))
  )

/** Disconnects a store that is no longer ours; one that is disconnected stays so. */
export const disconnect = (db: PluginCall["db"], storeId: string) =>
  Effect.ignore(db.use(store).move("disconnect", storeId, nothingLeft))

/** What is done about hints, by their kinds; false: nothing. */
const handlers: {
  readonly [K in Hint["kind"]]?: (
    call: Pick<PluginCall, "db">,
    session: StoreSession
  ) => Effect.Effect<boolean, ChannelError, CurrentActor>
} = { uninstalled }

/** Handles what a store sent, in the order in which it came; hints that repeat each other are one. */
export const deliveryHandling = defineTask({
  slug: handleTask,
  retries: { attempts: 8, backoff: { type: "exponential", delay: 5_000, jitter: 0.2, ceiling: 600_000 } },
  concurrency: { key: ofStore, supersedes: true },
  handler: Effect.fnUntraced(function*(call: PluginTaskCall) {
    const storeId = String(call.input["storeId"])
    const { db } = call.ctx
    const { work } = yield* StoreSessions
    for (;;) {
      const page = yield* db.table(deliveries).list(
        { storeId, status: "received" },
        { order: ["createdAt", "id"], limit: pageSize }
      )
      const kinds = new Set(page.flatMap(({ hints }) => hints.map(({ kind }) => kind)))
      const done = new Set<Hint["kind"]>()
      for (const kind of kinds) {
        const handler = handlers[kind]
        if (handler === undefined) continue
        if (yield* work(call, storeId, (session) => handler({ db }, session))) done.add(kind)
      }
      for (const status of ["handled", "ignored"] as const) {
        const ids = page.filter(({ hints }) => hints.some(({ kind }) => done.has(kind)) === (status === "handled"))
        yield* db.table(deliveries).updateMany({ id: { in: ids.map(({ id }) => id) } }, { status })
      }
      if (page.length < pageSize) return
    }
  })
})

/** The webhooks that arrived, for staff. */
export const deliveryRoutes = [
  listOf(routes, "/deliveries", deliveries, {
    summary: "List received webhooks",
    permission: read,
    filters: ["storeId", "status"]
  })
]
