import { conflict, invalid } from "../../../domain/platform/errors/ErrorKinds.ts"
import { refusedBy, sqlStates } from "../../../domain/platform/records/Constraints.ts"
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
    columns.length === 0 ? "This record exists already." : `Another record has the same ${all(columns)}.`
) {}
class RowOverlaps extends conflict(
  "RowOverlaps",
  (from: string, to: string) => `The range from ${from} to ${to} overlaps that of another record.`
) {}
export class TooManyRows extends conflict("TooManyRows", (refusal: string) => refusal) {}
export class RowReferred
  extends conflict("RowReferred", "Other records refer to this one: delete or change them first.")
{}
class BrokenReference extends invalid(
  "BrokenReference",
  (column: string) => column,
  (column) => column === "" ? "Other records refer to what this change takes away." : `${column} names no record.`
) {}
class UnknownRecord extends invalid(
  "UnknownRecord",
  (column: string, _: CoreRecord) => column,
  (column, record) => `${column} names no ${record} of this organization.`,
  "not_found"
) {}
class ConditionNotMet extends invalid(
  "ConditionNotMet",
  (columns: ReadonlyArray<string>) => columns.length === 1 ? columns.join("") : "",
  (columns) =>
    columns.length === 1
      ? `${all(columns)} is not a value that is allowed.`
      : columns.length === 0
      ? "A number is too large."
      : `The values of ${all(columns)} do not fit together.`
) {}
export class ParentNotFound
  extends invalid("ParentNotFound", (column: string) => column, (column) => `${column} names no record.`)
{}

/** Columns that a condition in SQL names. */
const namedIn = ({ columns }: Table, condition: string): ReadonlyArray<string> =>
  Object.keys(columns).filter((name) => new RegExp(`\\b${columnName(name)}\\b`).test(condition))

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
      [name, () => new ConditionNotMet(namedIn(table, condition))] as const
    )
  ]
  return refusedBy({
    ...Object.fromEntries(entries),
    [sqlStates.unique]: () => new RowTaken([]),
    [sqlStates.exclusion]: () => new RowOverlaps("its beginning", "its end"),
    [sqlStates.foreignKey]: () => new BrokenReference(""),
    [sqlStates.check]: () => new ConditionNotMet([]),
    [sqlStates.outOfRange]: () => new ConditionNotMet([])
  })
}
