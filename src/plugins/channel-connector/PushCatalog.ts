import { DateTime, Effect } from "effect"
import {
  type ChangeOf,
  defineTask,
  EntityId,
  type EventCall,
  type NotFound,
  type PluginCall,
  type PluginTaskCall,
  rowIn
} from "stoa/plugin"
import type { ChannelError } from "./ChannelErrors.ts"
import { Channels, retries } from "./ChannelOptions.ts"
import { failStore } from "./OpenedStore.ts"
import { type PushEnd, writeFields } from "./PushBatch.ts"
import { claimChanged, type Claimed, markChanged, nextChange, releaseClaims } from "./PushRepo.ts"
import { catalogPush, type catalogPushes } from "./PushTables.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { entityMap, stores } from "./StoreTables.ts"

export const pushCatalogTask = "channel/push-catalog"

const leaseMs = 10 * 60_000
const mostAttempts = 8
const backoffMs = (attempts: number) => Math.min(3_600_000, 60_000 * 2 ** (attempts - 1))

/** Marks products as changed, with the job that writes them; without ids all of the store. Call it in a transaction. */
export const enqueueProducts = Effect.fn("PushCatalog.enqueue")(
  function*({ db, jobs }: Pick<PluginCall, "db" | "jobs">, storeId: string, entityIds?: ReadonlyArray<string>) {
    yield* db.use(markChanged)(storeId, entityIds ?? null, yield* DateTime.nowAsDate)
    yield* Effect.catch(
      jobs.enqueue(pushCatalogTask, { storeId, ...(entityIds !== undefined && { entityIds }) }),
      Effect.die
    )
  }
)

/** A change by a store itself does not go back to it (contract-tills-channels, amendment 46). */
const noticeChange = Effect.fn("PushCatalog.notice")(function*({ db, event, jobs }: EventCall) {
  const rows = yield* db.table(entityMap).list(
    { entityId: EntityId.make(event.entityId), kind: "entity", isPushed: true, goneAt: null }
  )
  for (const storeId of new Set(rows.map((row) => row.storeId))) {
    if (event.actorId !== `channel:${storeId}`) {
      yield* db.transaction(enqueueProducts({ db, jobs }, storeId, [event.entityId]))
    }
  }
})

export const catalogEvents = {
  "catalog.update": {
    handler: noticeChange,
    only: { rowsIn: [rowIn(entityMap, { column: "entityId", where: { isPushed: true } })] }
  }
} as const

/** What becomes of a push, and when it is looked at again; without a move it waits. */
interface Outcome extends Partial<PushEnd> {
  readonly next: Date | null
}

/** What becomes of a push whose store did not answer. */
const outcomeOf = (error: ChannelError | NotFound, attempts: number, now: number): Outcome => {
  const isTransient = error._tag === "ChannelUnavailable" || error._tag === "CredentialsRefused"
  if (error._tag === "ChannelUnavailable" && error.retryAfterMs !== undefined) {
    return { next: new Date(now + error.retryAfterMs) }
  }
  const isLast = isTransient && attempts >= mostAttempts
  return {
    move: isLast ? "abandon" : "fail",
    change: { lastError: error.message.slice(0, 2_000), failureKind: isTransient ? "transient" : "definitive" },
    next: isTransient && !isLast ? new Date(now + backoffMs(attempts)) : null
  }
}

/** Writes what was claimed, and gives it back with when each is due again. A push is `exported` while its store is asked. */
const pushClaimed = Effect.fnUntraced(
  function*({ ctx }: PluginTaskCall, storeId: string, claimed: ReadonlyArray<Claimed>) {
    const { db } = ctx
    const { use } = yield* StoreSessions
    const moved = (move: "send" | PushEnd["move"], id: string, change: ChangeOf<typeof catalogPushes>) =>
      Effect.catch(db.use(catalogPush).move(move, id, change), Effect.die)
    const rows = yield* Effect.forEach(claimed, (row) => {
      if (row.state === "exported") return Effect.succeed(row)
      const attempts = row.attempts + 1
      return Effect.as(moved("send", row.id, { attempts, failureKind: null, lastError: null }), { ...row, attempts })
    })
    const ids = rows.map(({ entityId }) => entityId)
    const done = yield* Effect.result(use(db, storeId, (session) => writeFields(ctx, session, ids)))
    const now = (yield* DateTime.nowAsDate).getTime()
    if (done._tag === "Failure" && done.failure._tag === "CredentialsRefused") {
      yield* failStore(db, storeId, done.failure.message)
    }
    yield* db.transaction(Effect.gen(function*() {
      const released = yield* Effect.forEach(rows, (row) => {
        const { change = {}, move, next }: Outcome = done._tag === "Failure"
          ? outcomeOf(done.failure, row.attempts, now)
          : { ...done.success.get(row.entityId), next: null }
        const one = { id: row.id, dueAt: row.dueAt, next }
        return move === undefined ? Effect.succeed(one) : Effect.as(moved(move, row.id, change), one)
      })
      const changed = yield* db.use(releaseClaims)(released)
      if (changed.length > 0) yield* db.use(markChanged)(storeId, changed, new Date(now))
    }))
  }
)

/** Writes fields of our products to a store (contract, plugins §13.4): a batch, then the next one. Rows say what is left. */
export const catalogPushing = defineTask({
  slug: pushCatalogTask,
  retries,
  concurrency: {
    key: ({ entityIds, storeId }) =>
      Array.isArray(entityIds) && entityIds.length === 1
        ? `push:${entityIds[0]}:${storeId}`
        : `push-catalog:${storeId}`,
    supersedes: true
  },
  handler: Effect.fn("PushCatalog.run")(function*(call: PluginTaskCall) {
    const { ctx: { db, jobs }, input: { entityIds, storeId: id } } = call
    const storeId = String(id)
    const store = yield* db.table(stores).find(storeId)
    if (store?.catalogWriteEnabled !== true || store.status === "disconnected") return
    const { adapterOf } = yield* Channels
    const { pushes } = yield* adapterOf(store.provider)
    const now = yield* DateTime.nowAsDate
    const claimed = yield* db.use(claimChanged)({
      storeId,
      entityId: Array.isArray(entityIds) && entityIds.length === 1 ? String(entityIds[0]) : null,
      limit: pushes?.batch ?? 1,
      now,
      until: new Date(now.getTime() + leaseMs)
    })
    if (claimed.length > 0) yield* pushClaimed(call, storeId, claimed)
    const next = yield* db.use(nextChange)(storeId)
    if (next !== null) yield* jobs.enqueue(pushCatalogTask, { storeId }, { delayMs: Math.max(0, next - now.getTime()) })
    return { output: { pushed: claimed.length } }
  })
})
