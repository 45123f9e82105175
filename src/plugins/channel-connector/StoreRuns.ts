import { DateTime, Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import {
  about,
  InvalidTransition,
  jsonOf,
  longText,
  oneOf,
  type PluginDatabase,
  type RowOf,
  table,
  timestamp,
  uuid
} from "stoa/plugin"
import { stores } from "./StoreTables.ts"

/** Something that was left out, and why. */
export const Skipped = Schema.Struct({ externalId: Schema.String, message: Schema.String })
export type Skipped = typeof Skipped.Type

/** What a run did. */
export const RunReport = Schema.Struct({
  imported: Schema.Int.pipe(about("New products.")),
  converged: Schema.Int.pipe(about("Products that differed and were changed.")),
  linked: Schema.Int.pipe(about("Products that were linked to one of the catalog by their SKUs.")),
  archived: Schema.Int.pipe(about("Products that the store no longer has, or that its rule no longer admits.")),
  inventoryUpdated: Schema.Int.pipe(about("Levels that were set.")),
  openConflicts: Schema.Int.pipe(about("Fields that both sides changed and that wait for a decision.")),
  webhooksRegistered: Schema.Int.pipe(about("Webhooks that were missing or turned off.")),
  skipped: Schema.Array(Skipped).pipe(about("Products that were refused, and why; at most a hundred.")),
  warnings: Schema.Array(Skipped).pipe(
    about("Products that were written otherwise than the store shows them; at most a hundred.")
  )
})
export type RunReport = typeof RunReport.Type

const nothing: RunReport = {
  imported: 0,
  converged: 0,
  linked: 0,
  archived: 0,
  inventoryUpdated: 0,
  openConflicts: 0,
  webhooksRegistered: 0,
  skipped: [],
  warnings: []
}

const mostNotes = 100
const cut = (notes: ReadonlyArray<Skipped>) =>
  notes.slice(0, mostNotes).map(({ externalId, message }) => ({ externalId, message: message.slice(0, 500) }))

const addReports = (one: RunReport, other: Partial<RunReport>): RunReport => ({
  imported: one.imported + (other.imported ?? 0),
  converged: one.converged + (other.converged ?? 0),
  linked: one.linked + (other.linked ?? 0),
  archived: one.archived + (other.archived ?? 0),
  inventoryUpdated: one.inventoryUpdated + (other.inventoryUpdated ?? 0),
  openConflicts: 0,
  webhooksRegistered: one.webhooksRegistered + (other.webhooksRegistered ?? 0),
  skipped: cut([...one.skipped, ...other.skipped ?? []]),
  warnings: cut([...one.warnings, ...other.warnings ?? []])
})

const Phase = Schema.Literals(["webhooks", "catalog", "gone", "stock", "linked", "orders", "changed"])
export type Phase = typeof Phase.Type

/** What a run goes through. */
const phasesOf = {
  import: ["catalog", "gone", "linked"],
  sync: ["stock", "linked"],
  reconcile: ["webhooks", "catalog", "gone", "orders", "changed", "stock", "linked"]
} as const satisfies Readonly<Record<string, ReadonlyArray<Phase>>>
export type RunTask = keyof typeof phasesOf

/**
 * How far a store's imports, stock and reconciliation have come: a row for each, in which the cursor survives jobs that replace
 * each other. It is no part of the store's row, whose changes are audited.
 */
export const runs = table("channel_runs", {
  storeId: uuid.references(stores),
  task: oneOf(["import", "sync", "reconcile"]).about("Task: `sync` sets stock, `reconcile` compares all."),
  phases: jsonOf(Schema.Array(Phase), 500).about("Phases to come, the present one first; empty when it is over."),
  cursor: longText.nullable.about("Place in the present phase."),
  /** Another one after each page and each restart: a page that has seen another one is not written. */
  token: uuid,
  startedAt: timestamp,
  seenUntil: timestamp.nullable.about("Start of the last run that ended: it saw what the store had changed before."),
  report: jsonOf(RunReport, 250_000).about("Report so far."),
  finishedAt: timestamp.nullable,
  lastReport: jsonOf(RunReport, 250_000).nullable.about("Report of the last run that ended.")
}, { changeLog: false, counted: false, unique: [{ columns: ["storeId", "task"] }] })
export type Run = RowOf<typeof runs>

/** Begins a run, or joins the one that is under way; `restart` begins at the first page in any case. */
export const beginRun = Effect.fn("StoreRuns.begin")(
  function*(db: PluginDatabase, storeId: string, task: RunTask, restart = false) {
    const found = yield* db.table(runs).first({ storeId, task })
    if (found !== undefined && found.phases.length > 0 && !restart) return found
    const fresh = { phases: phasesOf[task], cursor: null, token: randomUUID(), report: nothing }
    const startedAt = yield* DateTime.nowAsDate
    return (yield* db.table(runs).upsert({ storeId, task, startedAt, ...fresh }, ["storeId", "task"])).row
  }
)

/** Writes how far a run has come; fails when it was restarted meanwhile. */
export const advanceRun = Effect.fn("StoreRuns.advance")(
  function*(db: PluginDatabase, run: Run, cursor: string | null, done: Partial<RunReport>) {
    const phases = cursor === null ? run.phases.slice(1) : run.phases
    const report = addReports(run.report, done)
    const { id, startedAt: seenUntil, token } = run
    const ended = phases.length === 0 ? { finishedAt: yield* DateTime.nowAsDate, lastReport: report, seenUntil } : {}
    return yield* db.table(runs).update(id, { phases, cursor, report, token: randomUUID(), ...ended }, { token }).pipe(
      Effect.catchIf((error) => !(error instanceof InvalidTransition), Effect.die)
    )
  }
)

/** Ends a run whose page the store refused: the next one begins at the first page, because a cursor may no longer be good. */
export const abandonRun = Effect.fn("StoreRuns.abandon")((
  db: PluginDatabase,
  { id, report, token }: Run,
  message: string
) =>
  Effect.ignore(
    db.table(runs).update(id, {
      phases: [],
      cursor: null,
      token: randomUUID(),
      report: addReports(report, { warnings: [{ externalId: "", message }] })
    }, { token })
  )
)
