import { customersIn, declared, type Subject, subjectIn } from "./Personal.ts"
import type { Table } from "./Table.ts"

/** What a table declares, as the kit carries it out. */
export interface PersonalTable {
  readonly table: Table
  /** Absent: the customer of the parent. */
  readonly subject: Subject | undefined
  /** The columns to blank; absent: rows are deleted. */
  readonly blanked: ReadonlyArray<string> | undefined
  readonly keepDays: number | undefined
  readonly since: string
}

/** The columns whose values a redaction removes from the change log. */
export const redactedKeys = ({ blanked, subject, table }: PersonalTable): ReadonlyArray<string> =>
  blanked ?? Object.keys(table.columns).filter((name) => {
    const facts = table.columns[name]?.facts
    return name !== subject?.column && facts?.reference === undefined && facts?.among === undefined
  })

/** What the kit carries out for a table; undefined for one that is not personal. */
export const personalOf = (table: Table): PersonalTable | undefined => {
  const personal = declared(table)
  if (personal === undefined) {
    const goesAlong = table.parent !== undefined && table.options.personal === undefined &&
      declared(table.parent.table)?.onErase === "delete"
    return goesAlong
      ? { table, subject: undefined, blanked: undefined, keepDays: undefined, since: "createdAt" }
      : undefined
  }
  const { keepDays, onErase, since = "createdAt" } = personal
  const blanked = onErase === "delete" ? undefined : onErase
  return { table, subject: subjectIn(table), blanked, keepDays, since }
}

/** A table in the export of a customer's data: their rows, without these columns. */
export interface ExportedTable {
  readonly table: Table
  /** Absent: the customer of the parent. */
  readonly subject: Subject | undefined
  readonly withheld: ReadonlyArray<string>
}

/** Undefined for a table that is not about customers. A child goes along with a parent that is erased or exempt as a unit. */
export const exportOf = (table: Table): ExportedTable | undefined => {
  const { options: { personal }, parent } = table
  const isWhole = parent !== undefined && parent.table.options.personal !== undefined &&
    ("exempt" in parent.table.options.personal || personalOf(table) !== undefined)
  if (personal === undefined && !isWhole) return undefined
  return { table, subject: subjectIn(table), withheld: personal?.withholds ?? [] }
}

/** Columns that name customers of a table that does not say what their erasure does to it. */
export const undeclared = (table: Table): ReadonlyArray<string> =>
  table.options.personal === undefined ? customersIn(table) : []

/** Whether a customer can have any number of rows, and the table does not say why. */
export const isUnbounded = (table: Table): boolean => {
  const { columns, kind, options } = table
  const subject = personalOf(table)?.subject
  const owners = [...customersIn(table), ...(subject?.kind === "user" ? [subject.column] : [])]
  const isOne = (owner: string) =>
    columns[owner]?.facts.uniqueness !== undefined ||
    options.unique?.some(({ columns: all, where }) => all.length === 1 && all[0] === owner && where === undefined)
  return kind === "organization" && options.atMost === undefined && owners.some((owner) => isOne(owner) !== true)
}
