import { type Actor, holds } from "../../../domain/platform/access/Actor.ts"
import type { AnyColumn } from "./Column.ts"

/** How many rows can have one value in a column, such as the open bookings of a customer; one more is 409. */
export interface RowBound<Name extends string = string> {
  readonly per: Name
  readonly rows: number
  /** An SQL condition on the table's own columns: only rows that meet it count. A new row always does. */
  readonly where?: string
  /** A permission whose holders are not bound; jobs are not either. */
  readonly except?: string
  /** The sentence of the refusal. */
  readonly refusal: string
}

/** Why rows of one customer need no bound. */
export interface Unbounded {
  readonly unbounded: string
}

export type RowBounds<Name extends string = string> = ReadonlyArray<RowBound<Name>> | Unbounded

interface Bounded {
  readonly name: string
  readonly kind: "organization" | "child"
  readonly columns: Readonly<Record<string, AnyColumn>>
  readonly options: { readonly atMost?: RowBounds }
}

export const boundsOf = ({ options: { atMost = [] } }: Pick<Bounded, "options">): ReadonlyArray<RowBound> =>
  "unbounded" in atMost ? [] : atMost

/** The bounds that an actor meets. Jobs do what requests, which were bound, have asked for. */
export const boundsFor = (table: Pick<Bounded, "options">, actor: Actor): ReadonlyArray<RowBound> =>
  actor.source === "job"
    ? []
    : boundsOf(table).filter(({ except }) => except === undefined || !holds(actor, except))

/** Refuses bounds that cannot be kept, where the table is written. */
export const checkBounds = <T extends Bounded>(table: T): T => {
  const { columns, kind, name } = table
  for (const { per, refusal, rows } of boundsOf(table)) {
    const what = kind === "child"
      ? "a child table has no bounds: give them to its parent."
      : columns[per]?.facts.isList !== false
      ? `"${per}" is no column that rows can be counted by.`
      : !Number.isInteger(rows) || rows < 1
      ? "`rows` must be a whole number above 0."
      : refusal.trim() === ""
      ? "`refusal` is the sentence that a caller reads."
      : undefined
    if (what !== undefined) throw new Error(`Table "${name}": ${what}`)
  }
  return table
}
