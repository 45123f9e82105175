import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Conflict, defineTask, listOf, type PluginCall, type PluginTaskCall } from "stoa/plugin"
import type { Delivery } from "./ChannelAdapter.ts"
import { read, retries, routes } from "./ChannelOptions.ts"
import type { Hint } from "./ChannelRecords.ts"
import { type HintHandler, orderHints, type Outcome, productHints, stockHints } from "./Hints.ts"
import { ofStore } from "./Registration.ts"
import { nothingLeft } from "./Stores.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { deliveries, store } from "./StoreTables.ts"

const handleTask = "channel/handle-deliveries"
/** Outcomes are noted after each page, so that a slow store does not bring a job to begin again. */
const pageSize = 20

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
const uninstalled: HintHandler = ({ db }, { channel, store: { id } }) =>
  channel.verify.pipe(
    Effect.as<Outcome>("ignored"),
    Effect.catchTag("CredentialsRefused", () => Effect.as(disconnect(db, id), "handled" as const)),
    Effect.map((outcome) => new Map([["", outcome]]))
  )

/** Disconnects a store that is no longer ours; one that is disconnected stays so. */
export const disconnect = (db: PluginCall["db"], storeId: string) =>
  Effect.ignore(db.use(store).move("disconnect", storeId, nothingLeft))

/** What is done about hints, by their kinds; others are ignored. */
const handlers: { readonly [K in Hint["kind"]]?: HintHandler } = {
  product: productHints,
  stock: stockHints,
  order: orderHints,
  uninstalled
}

const keyOf = (hint: Hint): string => "externalId" in hint ? hint.externalId : ""

/** What became of hints, by kind and id. A kind that is refused stops no other one. */
const outcomesOf = Effect.fnUntraced(function*(call: PluginTaskCall, storeId: string, hints: ReadonlyArray<Hint>) {
  const { work } = yield* StoreSessions
  const outcomes = new Map<string, Outcome>()
  for (const [kind, some] of Map.groupBy(hints, (hint) => hint.kind)) {
    const handler = handlers[kind]
    if (handler === undefined) continue
    const ids = [...new Set(some.map(keyOf))]
    const found = yield* work(
      call,
      storeId,
      (session) =>
        Effect.catchTag(
          handler(call.ctx, session, ids),
          "ChannelRefused",
          ({ message }) => Effect.succeed(new Map(ids.map((id): [string, Outcome] => [id, { failed: message }])))
        )
    )
    for (const [id, outcome] of found) outcomes.set(`${kind} ${id}`, outcome)
  }
  return outcomes
})

/** A delivery has failed if one of its hints has, and is handled if one of them is. */
const endOf = (hints: ReadonlyArray<Hint>, outcomes: ReadonlyMap<string, Outcome>) => {
  const all = hints.map((hint) => outcomes.get(`${hint.kind} ${keyOf(hint)}`) ?? "ignored")
  const failed = all.find((outcome) => typeof outcome === "object")
  if (failed !== undefined) return { status: "failed" as const, error: failed.failed.slice(0, 2_000) }
  return { status: all.includes("handled") ? "handled" as const : "ignored" as const, error: null }
}

/** Handles what a store sent, in the order in which it came; hints that repeat each other are one. */
export const deliveryHandling = defineTask({
  slug: handleTask,
  retries,
  concurrency: { key: ofStore, supersedes: true },
  handler: Effect.fnUntraced(function*(call: PluginTaskCall) {
    const storeId = String(call.input["storeId"])
    const { db } = call.ctx
    for (;;) {
      const page = yield* db.table(deliveries).list(
        { storeId, status: "received" },
        { order: ["createdAt", "id"], limit: pageSize }
      )
      const outcomes = yield* outcomesOf(call, storeId, page.flatMap(({ hints }) => hints))
      if (page.length > 0) {
        yield* db.table(deliveries).updateEach(page.map(({ hints, id }) => ({ id, ...endOf(hints, outcomes) })))
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
