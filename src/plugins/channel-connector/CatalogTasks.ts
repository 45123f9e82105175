import { Effect } from "effect"
import { createHash } from "node:crypto"
import { defineTask, GiveUp, type PluginDatabase, type PluginTaskCall } from "stoa/plugin"
import { Channels, retries } from "./ChannelOptions.ts"
import { pushCatalogTask } from "./PushCatalog.ts"
import { reconciledOf } from "./Reconciled.ts"
import { importTask, ofStore } from "./Registration.ts"
import { type Page, steps } from "./StorePages.ts"
import { abandonRun, advanceRun, beginRun, type Run, runs, type RunTask } from "./StoreRuns.ts"
import { StoreSessions } from "./StoreSessions.ts"
import { stores } from "./StoreTables.ts"

export const backfillTask = "channel/backfill-catalog"
export const reconcileTask = "channel/reconcile"

/** Does one page of a run and enqueues the next one in its transaction. A job begins a run only if none is under way. */
const page = (slug: string, task: RunTask) =>
  Effect.fn(slug)(function*(call: PluginTaskCall) {
    const { ctx, input } = call
    const { db, jobs } = ctx
    const storeId = String(input["storeId"])
    if ((yield* db.table(stores).find(storeId)) === undefined) {
      return yield* Effect.fail(new GiveUp("The store is gone."))
    }
    const run = input["continues"] === true
      ? yield* db.table(runs).first({ storeId, task })
      : yield* beginRun(db, storeId, task, input["restart"] === true)
    const [phase] = run?.phases ?? []
    if (run === undefined || phase === undefined) return
    const { work } = yield* StoreSessions
    let after = run
    const next: Page["next"] = (cursor, done = {}) =>
      db.transaction(Effect.gen(function*() {
        after = yield* advanceRun(db, run, cursor, done)
        if (after.phases.length > 0) yield* Effect.catch(jobs.enqueue(slug, { storeId, continues: true }), Effect.die)
      }))
    yield* work(call, storeId, (session) =>
      steps[phase]({ call: ctx, session, run, next }).pipe(
        // It was begun again meanwhile: the job of that does the work.
        Effect.catchIf((error) => error._tag === "InvalidTransition", () => Effect.void),
        Effect.tapError((error) => error._tag === "ChannelRefused" ? abandonRun(db, run, error.message) : Effect.void)
      ))
    const isOver = after.phases.length === 0
    const output = { phase, cursor: after.cursor, complete: isOver }
    return { output: isOver ? { ...output, ...yield* resultOf(db, after) } : output }
  })

/** Gives the report of a run that is over; the log warns of many differences. */
const resultOf = Effect.fnUntraced(function*(db: PluginDatabase, { report, storeId, task }: Run) {
  if (task === "sync") return { ...report, synced: report.inventoryUpdated }
  if (task === "import") return report
  const { driftAlert, report: found } = yield* reconciledOf(db, storeId)
  if (driftAlert) {
    yield* Effect.logWarning(
      `Reconciling the store ${storeId} found many differences: look at whether its webhooks arrive.`
    )
  }
  return found ?? report
})

const pages = (slug: string, task: RunTask) =>
  defineTask({
    slug,
    retries,
    concurrency: { key: ofStore, supersedes: true },
    handler: page(slug, task)
  })

/** A moment within the window that is always the same for a store. */
const delayOf = (storeId: string, windowMs: number): number =>
  createHash("sha256").update(storeId).digest().readUInt32BE(0) % windowMs

const reconcileAll = "channel/reconcile-sweep"

/** Reconciles all stores of an organization, spread over a while. */
const reconciliation = defineTask({
  slug: reconcileAll,
  schedule: "11 */6 * * *",
  everyOrganization: true,
  concurrency: { key: () => reconcileAll },
  handler: Effect.fn("Channels.reconcileAll")(function*({ ctx: { db, jobs } }: PluginTaskCall) {
    const { adapterOf, settings: { reconcileJitterWindowMs } } = yield* Channels
    const all = yield* db.table(stores).list({ status: { not: "disconnected" } })
    const capable = yield* Effect.filter(all, ({ provider }) =>
      adapterOf(provider).pipe(
        Effect.map(({ capabilities }) => capabilities.some((one) => one !== "listings")),
        Effect.orElseSucceed(() => false)
      ))
    const begun = yield* db.table(runs).list({ task: "reconcile" })
    const underWay = new Set(begun.flatMap(({ phases, storeId }) => phases.length > 0 ? storeId : []))
    yield* Effect.forEach(capable, ({ id }) =>
      jobs.enqueue(reconcileTask, { storeId: id }, {
        // It replaces the job of the next page.
        delayMs: underWay.has(id) ? 0 : delayOf(id, reconcileJitterWindowMs)
      }))
    // Changes whose job was lost, or whose store was away.
    const pushed = capable.filter(({ catalogWriteEnabled }) => catalogWriteEnabled)
    yield* Effect.forEach(pushed, ({ id }) => jobs.enqueue(pushCatalogTask, { storeId: id }))
    return { output: { enqueued: capable.length } }
  })
})

/** Imports, stock and reconciliation of stores (contract, plugins §13.4; contract-tills-channels, amendments 43 to 45). */
export const catalogTasks = [
  pages(importTask, "import"),
  pages(backfillTask, "import"),
  pages("channel/sync-inventory", "sync"),
  pages(reconcileTask, "reconcile"),
  reconciliation
]
