import { Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Issue } from "../errors/ApiErrors.ts"
import type { Change } from "../events/Event.ts"

/** A table that imports write. A column has the field's name in snake case, unless the type gives another. */
export interface ImportTable {
  readonly name: string
  /** SQL types by field: `"int"`, or `"int on_hand"` for another name of the column. */
  readonly columns: Readonly<Record<string, string>>
  /** Columns of the unique index that finds an existing row. */
  readonly key: string
  /**
   * Columns an existing row `t` takes from the import, or assignments. Absent: all but the key and `created_at`; none:
   * the row stays unchanged.
   */
  readonly updates?: ReadonlyArray<string>
}

/** Result of one record of a batch. */
export type ImportResult =
  | { readonly _tag: "created" | "updated" | "unchanged" }
  | { readonly _tag: "refused"; readonly issues: ReadonlyArray<Issue> }

/** Results of a batch, in the order of its records. */
export interface BatchResult {
  readonly results: ReadonlyArray<ImportResult>
  /** Runs the after-hooks; only for a batch that was committed. */
  readonly afterCommit: Effect.Effect<void, never, CurrentActor>
}

/** A record that is refused for one reason. */
export const refusedFor = (path: string, message: string, code = "invalid"): ImportResult => ({
  _tag: "refused",
  issues: [{ path, message, code }]
})

/** Rows of some tables, the change log of them and the hooks that run once they are committed. */
export class ImportBatch {
  readonly puts = new Map<ImportTable, Array<object>>()
  readonly removals = new Map<ImportTable, Array<object>>()
  readonly changes: Array<Change> = []
  readonly #hooks: Array<Effect.Effect<void, never, CurrentActor>> = []
  #later: ImportBatch | undefined

  /** Rows for a second statement, because their triggers change rows of the first one. */
  get later(): ImportBatch {
    return this.#later ??= new ImportBatch()
  }

  get hasLater(): boolean {
    return this.#later !== undefined
  }

  /** Inserts rows, or updates those of the same key. */
  put(table: ImportTable, ...rows: ReadonlyArray<object>): void {
    append(this.puts, table, rows)
  }

  /** Deletes rows by their keys. */
  remove(table: ImportTable, ...rows: ReadonlyArray<object>): void {
    append(this.removals, table, rows)
  }

  change(...changes: ReadonlyArray<Change>): void {
    this.changes.push(...changes)
  }

  after(hook: Effect.Effect<void, never, CurrentActor>): void {
    this.#hooks.push(hook)
  }

  get afterCommit(): Effect.Effect<void, never, CurrentActor> {
    return Effect.all(this.#hooks, { discard: true })
  }

  add(other: ImportBatch): void {
    for (const [table, rows] of other.puts) append(this.puts, table, rows)
    for (const [table, rows] of other.removals) append(this.removals, table, rows)
    this.changes.push(...other.changes)
    this.#hooks.push(...other.#hooks)
    if (other.#later !== undefined) this.later.add(other.#later)
  }
}

const append = (to: Map<ImportTable, Array<object>>, table: ImportTable, rows: ReadonlyArray<object>): void => {
  const there = to.get(table)
  if (there === undefined) to.set(table, [...rows])
  else there.push(...rows)
}
