import { Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Issue } from "../errors/ApiErrors.ts"
import type { Change } from "../events/Event.ts"
import { Table } from "../records/Table.ts"

/** How rows of a batch are written; all are text of SQL. */
export interface RowRules {
  /** Columns of the unique index that finds an existing row. */
  readonly key: string
  /** A column of the key that may be null. */
  readonly nullable?: string
  /** What an existing row `t` takes from the batch; absent: all columns but the key and `created_at`. */
  readonly updates?: string
  /** Columns over the row `x` of the batch. */
  readonly expressions?: Readonly<Record<string, string>>
}

/** A table that batches read and write, with a key other than `id` or other rules. */
export class RowTable<A extends object> extends Table<A> {
  readonly rules: RowRules

  constructor(name: string, schema: Table<A>["schema"], rules: RowRules) {
    super(name, schema)
    this.rules = rules
  }
}

/** A table whose rows are there or not: a batch changes no columns of an existing row. */
export const linkTable = <A extends object>(name: string, key: string, schema: Table<A>["schema"]) =>
  new RowTable(name, schema, { key, updates: "" })

/** Rows of some tables, the change log of them and the hooks that run once they are committed. */
export class RowBatch {
  readonly puts = new Map<Table<object>, Array<object>>()
  readonly removals = new Map<Table<object>, Array<object>>()
  readonly changes: Array<Change> = []
  /** Why a record counts as refused although its rows are written. */
  readonly issues: Array<Issue> = []
  readonly #hooks: Array<Effect.Effect<unknown, never, CurrentActor>> = []
  #later: RowBatch | undefined

  /** Rows for a second statement, because their triggers change rows of the first one. */
  get later(): RowBatch {
    return this.#later ??= new RowBatch()
  }

  get hasLater(): boolean {
    return this.#later !== undefined
  }

  get afterCommit(): Effect.Effect<void, never, CurrentActor> {
    return Effect.all(this.#hooks, { discard: true })
  }

  /** Inserts rows, or updates those of the same key. */
  put<A extends object>(table: Table<A>, ...rows: ReadonlyArray<NoInfer<A>>): void {
    append(this.puts, table, rows)
  }

  /** Deletes rows by their keys. */
  remove<A extends object>(table: Table<A>, ...rows: ReadonlyArray<Partial<NoInfer<A>>>): void {
    append(this.removals, table, rows)
  }

  change(...changes: ReadonlyArray<Change>): void {
    this.changes.push(...changes)
  }

  after(...hooks: ReadonlyArray<Effect.Effect<unknown, never, CurrentActor>>): void {
    this.#hooks.push(...hooks)
  }

  add(other: RowBatch): void {
    for (const [table, rows] of other.puts) append(this.puts, table, rows)
    for (const [table, rows] of other.removals) append(this.removals, table, rows)
    this.changes.push(...other.changes)
    this.#hooks.push(...other.#hooks)
    if (other.#later !== undefined) this.later.add(other.#later)
  }
}

const append = (to: Map<Table<object>, Array<object>>, table: Table<object>, rows: ReadonlyArray<object>): void => {
  if (rows.length === 0) return
  const there = to.get(table)
  if (there === undefined) to.set(table, [...rows])
  else there.push(...rows)
}
