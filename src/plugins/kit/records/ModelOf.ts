import type { AnalyticsModel, DimensionType, Measure } from "../../../domain/platform/modules/AnalyticsModel.ts"
import type { Facts } from "../tables/Column.ts"
import { columnName, type RowOf, type Table } from "../tables/Table.ts"
import { columnFacts } from "../tables/TableRowsRepo.ts"

type Name<T> = keyof RowOf<T> & string

/** What can be counted of a table, and by what it is grouped. */
export interface ModelOptions<T> {
  /** `Tickets`: the part before the dot in queries. */
  readonly name: string
  /** Columns of numbers that are added up: each is a measure of its name. */
  readonly sums?: ReadonlyArray<Name<T>>
  /** Columns that rows are grouped and filtered by. */
  readonly dims?: ReadonlyArray<Name<T>>
  /** Customers, or vendors, see the rows whose column has their id; without it only those see the model who see all. */
  readonly scope?: { readonly customer?: Name<T>; readonly vendor?: Name<T> }
}

const dimensionTypes: Readonly<Partial<Record<Facts["kind"], DimensionType>>> = {
  bool: "boolean",
  date: "time",
  int4: "number",
  int8: "number",
  numeric: "number",
  text: "string",
  timestamptz: "time",
  uuid: "string"
}

const expressionOf = (kind: Facts["kind"], sql: string): string => kind === "uuid" ? `${sql}::text` : sql

const isNumber = ({ isList, kind }: Facts) => !isList && dimensionTypes[kind] === "number"

/** Rows of a child table are those of their parents' organization. */
const parentOf = ({ parent }: Table): Pick<AnalyticsModel, "parent"> =>
  parent === undefined ? {} : { parent: { table: parent.table.name, column: columnName(parent.column) } }

/**
 * An analytics model of the columns of a table: `count`, a sum for each of `sums`, and the dimensions `dims`. What is more
 * than columns is laid over it: `{ ...modelOf(…), segments: { … } }`.
 */
export const modelOf = <T extends Table>(
  table: T,
  { dims = [], name, scope = {}, sums = [] }: ModelOptions<T>
): AnalyticsModel => {
  const sqlOf = (column: string) => `${table.name}.${columnName(column)}`
  const sum = (column: string): readonly [string, Measure] => {
    if (!isNumber(columnFacts(table, column))) throw new Error(`Model "${name}" cannot add up "${column}".`)
    return [column, { type: "sum", sql: sqlOf(column) }]
  }
  const dimension = (column: string) => {
    const { isList, isSecret, kind } = columnFacts(table, column)
    const type = isList || isSecret ? undefined : dimensionTypes[kind]
    if (type === undefined) throw new Error(`Model "${name}" cannot be grouped by "${column}".`)
    const sql = expressionOf(kind, sqlOf(column))
    return [column, kind === "date" ? { sql, type, isLocal: true } : { sql, type }] as const
  }
  const rules = (["customer", "vendor"] as const).flatMap((role) => {
    const column = scope[role]
    if (column === undefined) return []
    const cast = columnFacts(table, column).kind === "uuid" ? "::uuid" : ""
    return [{ role, filter: `${sqlOf(column)} = :${role}Id${cast}` }]
  })
  return {
    name,
    table: table.name,
    ...parentOf(table),
    measures: { count: { type: "count" }, ...Object.fromEntries(sums.map(sum)) },
    dimensions: Object.fromEntries(dims.map(dimension)),
    ...(rules.length === 0 ? {} : { scopeRules: rules })
  }
}
