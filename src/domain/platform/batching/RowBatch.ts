import { Effect } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import type { Issue } from "../errors/ApiErrors.ts"
import type { Change } from "../events/Event.ts"
import { Table } from "../records/Table.ts"

export interface RowRules {
  readonly key: string
  /** May be null, and is part of the key. */
  readonly nullable?: string
  /** Assignments to an existing row `t`; absent: all columns but the key and `created_at`. */
  readonly updates?: string
  readonly expressions?: Readonly<Record<string, string>>
}

export class RowTable<A extends object> extends Table<A> {
  readonly rules: RowRules

  constructor(name: string, schema: Table<A>["schema"], rules: RowRules) {
    super(name, schema)
    this.rules = rules
  }
}

export const linkTable = <A extends object>(name: string, key: string, schema: Table<A>["schema"]) =>
  new RowTable(name, schema, { key, updates: "" })

export class RowBatch {
  readonly puts = new Map<Table<object>, Array<object>>()
  readonly removals = new Map<Table<object>, Array<object>>()
  readonly changes: Array<Change> = []
  readonly issues: Array<Issue> = []
  /** Of what is written nevertheless. */
  readonly warnings: Array<Issue> = []
  readonly #hooks: Array<Effect.Effect<unknown, never, CurrentActor>> = []
  #later: RowBatch | undefined

  /** Rows for a second statement: their triggers change rows of the first. */
  get later(): RowBatch {
    return this.#later ??= new RowBatch()
  }

  get hasLater(): boolean {
    return this.#later !== undefined
  }

  get afterCommit(): Effect.Effect<void, never, CurrentActor> {
    return Effect.all(this.#hooks, { discard: true })
  }

  put<A extends object>(table: Table<A>, ...rows: ReadonlyArray<NoInfer<A>>): void {
    append(this.puts, table, rows)
  }

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
    this.warnings.push(...other.warnings)
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
