import { conflict, invalid } from "../../../domain/platform/errors/ErrorKinds.ts"
import { refusedBy, sqlStates } from "../../../domain/platform/records/Constraints.ts"
import { either, type Flaw } from "../../../domain/platform/text/CheckTexts.ts"
import type { CoreRecord } from "./Column.ts"
import { existingOf, knownConstraint } from "./KnownRecordsRepo.ts"
import { columnName, type Table } from "./Table.ts"
import { checksOf, exclusionsOf, referencesOf, uniquesOf } from "./TableSql.ts"

/** `number, item and price`. */
const all = (names: ReadonlyArray<string>): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`

export class RowTaken extends conflict(
  "RowTaken",
  (columns: ReadonlyArray<string>) =>
    columns.length === 0
      ? "This record exists already."
      : `Another record has the same ${all(columns)}. Change ${columns.length === 1 ? "it" : "one of them"}.`
) {}
class RowOverlaps extends conflict(
  "RowOverlaps",
  (from: string, to: string) => `The range from ${from} to ${to} overlaps that of another record. Choose another one.`
) {}
export class TooManyRows extends conflict("TooManyRows", (refusal: string) => refusal) {}
export class RowReferred
  extends conflict("RowReferred", "Other records refer to this one: delete or change them first.")
{}
class BrokenReference extends invalid(
  "BrokenReference",
  (column: string) => column,
  (column) =>
    column === ""
      ? "Other records refer to what this change takes away: delete or change them first."
      : `${column} names no record of this organization.`,
  "not_found"
) {}
class UnknownRecord extends invalid(
  "UnknownRecord",
  (column: string, _: CoreRecord) => column,
  (column, record) => `${column} names no ${record} of this organization.`,
  "not_found"
) {}
class ConditionNotMet extends invalid(
  "ConditionNotMet",
  (flaw: Flaw & { readonly path: string }) => flaw.path,
  ({ message }) => message,
  ({ code }) => code
) {}
export class ParentNotFound extends invalid(
  "ParentNotFound",
  (column: string) => column,
  (column) => `${column} names no record of this organization.`,
  "not_found"
) {}

const tooLarge = { path: "", message: "A number is too large.", code: "too_large" }

/** Columns that a condition in SQL names. */
const namedIn = ({ columns }: Table, condition: string): ReadonlyArray<string> =>
  Object.keys(columns).filter((name) => new RegExp(`\\b${columnName(name)}\\b`).test(condition))

const comparisons: Readonly<Record<string, readonly [words: string, code: string]>> = {
  "<": ["below", "too_large"],
  "<=": ["at most", "too_large"],
  ">": ["above", "too_small"],
  ">=": ["at least", "too_small"],
  "<>": ["other than", "invalid"],
  "=": ["equal to", "invalid"]
}

/** `min_select <= max_select` and `price >= 0`. */
const comparison = /^(\w+) (<=|<>|<|>=|>|=) (\w+)$/

/** A condition of a column or a comparison in words; another one names its columns. */
const conditionFlaw = (table: Table, condition: string): Flaw & { readonly path: string } => {
  const columns = namedIn(table, condition)
  const [path = ""] = columns
  const [, , sign = "", right = ""] = comparison.exec(condition) ?? []
  const [words, code] = comparisons[sign] ?? []
  if (words !== undefined && code !== undefined) {
    const other = columns.find((name) => columnName(name) === right) ?? right
    const subject = columns.find((name) => condition.startsWith(`${columnName(name)} `)) ?? path
    return { path: subject, message: `${subject} must be ${words} ${other}.`, code }
  }
  const { among, bounds } = table.columns[path]?.facts ?? {}
  if (columns.length === 1 && among !== undefined) {
    return {
      path,
      message: `${path} must be ${either(among.map((word) => JSON.stringify(word)))}.`,
      code: "unknown_value"
    }
  }
  if (columns.length === 1 && bounds !== undefined) {
    return { path, message: `${path} must be between ${bounds.join(" and ")}.`, code: "too_large" }
  }
  return columns.length === 1
    ? { path, message: `${path} must have another value.`, code: "invalid" }
    : { path: "", message: `The values of ${all(columns)} do not fit together. Change one of them.`, code: "invalid" }
}

/** Turns a refusal of the database into the error the client receives, which names the fields. */
export const refusalOf = (table: Table) => {
  const entries: ReadonlyArray<
    readonly [string, () => BrokenReference | ConditionNotMet | RowOverlaps | RowTaken | UnknownRecord]
  > = [
    ...existingOf(table).map(({ existing, name }) =>
      [knownConstraint(name), () => new UnknownRecord(name, existing)] as const
    ),
    ...uniquesOf(table).map(({ columns, name }) => [name, () => new RowTaken(columns)] as const),
    ...exclusionsOf(table).map(({ name, range }) => [name, () => new RowOverlaps(...range)] as const),
    ...referencesOf(table).map(({ column, name }) => [name, () => new BrokenReference(column)] as const),
    ...checksOf(table).map(({ condition, name }) =>
      [name, () => new ConditionNotMet(conditionFlaw(table, condition))] as const
    )
  ]
  return refusedBy({
    ...Object.fromEntries(entries),
    [sqlStates.unique]: () => new RowTaken([]),
    [sqlStates.exclusion]: () => new RowOverlaps("its beginning", "its end"),
    [sqlStates.foreignKey]: () => new BrokenReference(""),
    [sqlStates.check]: () =>
      new ConditionNotMet({
        path: "",
        message: "The values do not fit together. Change one of them.",
        code: "invalid"
      }),
    [sqlStates.outOfRange]: () => new ConditionNotMet(tooLarge)
  })
}
