import { String } from "effect"

/** The fields of a record's schema; each of them is stored in the column of that name in snake case. */
type Fields = Readonly<Record<string, unknown>>

/** SQL for fields that need more than their column, for example a bigint read as a number. */
type Expressions = Readonly<Record<string, string>>

/** The column of a field, of `row` if it is named. */
export const columnOf = (row: string | undefined, field: string) =>
  `${row === undefined ? "" : `${row}.`}${String.camelToSnake(field)}`

/** The select list that reads a record: columns of `row`, named like the fields. */
export const columnsOf = (fields: Fields, row?: string, expressions: Expressions = {}): string =>
  Object.keys(fields).map((field) => `${expressions[field] ?? columnOf(row, field)} as "${field}"`).join(", ")

const pairsOf = (fields: Fields, row: string, expressions: Expressions): string =>
  Object.keys(fields).map((field) => `'${field}', ${expressions[field] ?? columnOf(row, field)}`).join(", ")

/** The record of a row as JSON, as the API shows it. */
export const jsonOf = (fields: Fields, row: string, expressions: Expressions = {}): string =>
  `jsonb_build_object(${pairsOf(fields, row, expressions)})`

/** The same with its keys in the order of the fields, for files: `jsonb` sorts them. */
export const orderedJsonOf = (fields: Fields, row: string, expressions: Expressions = {}): string =>
  `json_build_object(${pairsOf(fields, row, expressions)})`
