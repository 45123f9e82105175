import { Effect, Schema } from "effect"
import { about, fieldsOf, type PluginDatabase } from "stoa/plugin"
import { Channels } from "./ChannelOptions.ts"
import { catalogConflicts } from "./PushTables.ts"
import { RunReport, runs } from "./StoreRuns.ts"

const DriftAlert = Schema.Boolean.pipe(about("True when there were more differences than `driftAlertThreshold`."))

export const ReconcileStatus = Schema.Struct({
  lastReconcileAt: fieldsOf(runs).finishedAt,
  report: Schema.NullOr(Schema.Struct({ ...RunReport.fields, driftAlert: DriftAlert })).pipe(
    about("Report of the last reconciliation.")
  ),
  driftAlert: DriftAlert
})

/** Gives the last report of a store. Many differences are an alert: its webhooks do not arrive. */
export const reconciledOf = Effect.fn("Reconciled.of")(function*(db: PluginDatabase, storeId: string) {
  const { settings: { driftAlertThreshold } } = yield* Channels
  const run = yield* db.table(runs).first({ storeId, task: "reconcile" })
  const last = run?.lastReport ?? null
  const lastReconcileAt = run?.finishedAt ?? null
  if (last === null) return { lastReconcileAt, report: null, driftAlert: false }
  const openConflicts = yield* db.table(catalogConflicts).count({ storeId, state: "open" })
  const driftAlert = last.imported + last.converged + last.archived + last.inventoryUpdated > driftAlertThreshold
  return { lastReconcileAt, report: { ...last, openConflicts, driftAlert }, driftAlert }
})
