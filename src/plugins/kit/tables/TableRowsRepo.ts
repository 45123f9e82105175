import type { SqlClient, Statement } from "effect/sql"
import { isoTime } from "../../../domain/platform/events/ChangeLogRepo.ts"
import { type Facts, plain, sqlType } from "./Column.ts"
import { columnName, type Table } from "./Table.ts"

const [id, organizationId, time] = [plain("uuid"), plain("text"), plain("timestamptz")]

/** What is known of any column of a table, the added ones too; undefined for a name that it does not have. */
const factsOf = (table: Table, name: string): Facts | undefined => {
  if (Object.hasOwn(table.columns, name)) return table.columns[name]?.facts
  if (name === "id") return id
  if (name === "createdAt") return time
  if (table.kind === "child") return undefined
  return name === "organizationId" ? organizationId : name === "updatedAt" ? time : undefined
}

/** The same; a name that the table does not have is a mistake of the plugin's. */
export const columnFacts = (table: Table, name: string): Facts => {
  const facts = factsOf(table, name)
  if (facts === undefined) throw new Error(`Table "${table.name}" has no column "${name}".`)
  return facts
}

/** A column as SQL. */
export const columnOf = (table: Table, name: string): string => {
  columnFacts(table, name)
  return columnName(name)
}

/** All columns of a table that records show, in their order. */
const namesOf = (table: Table): ReadonlyArray<string> => {
  const own = Object.keys(table.columns).filter((name) => table.columns[name]?.facts.isSecret !== true)
  return table.kind === "organization"
    ? ["id", "organizationId", ...own, "createdAt", "updatedAt"]
    : ["id", ...own, "createdAt"]
}

/** A value of a column as a parameter. */
export const valueSql = (
  sql: SqlClient.SqlClient,
  table: Table,
  name: string,
  value: unknown
): Statement.Fragment => {
  const facts = columnFacts(table, name)
  const type = sql.literal(sqlType(facts))
  if (value === null || value === undefined) return sql`${null}::${type}`
  if (facts.isList && Array.isArray(value)) return sql`${value.map(String)}::text[]::${type}`
  const sent = facts.kind === "jsonb"
    ? JSON.stringify(value)
    : value instanceof Date || typeof value === "boolean"
    ? value
    : String(value)
  return sql`${sent}::${type}`
}

/** An SQL text: the value of a column from the JSON object `o`, as `JSON.stringify` has it. */
export const valueFromJson = (table: Table, name: string): string => {
  const facts = columnFacts(table, name)
  const type = sqlType(facts)
  if (facts.isList) {
    return `case jsonb_typeof(o->'${name}') when 'array'
      then array(select jsonb_array_elements_text(o->'${name}'))::${type} end`
  }
  return facts.kind === "jsonb" ? `nullif(o->'${name}', 'null')` : `(o->>'${name}')::${type}`
}

/** Reads rows of the database as code sees them: names in camel case, amounts as numbers, no secrets. */
export const rowReader = (table: Table): (row: Readonly<Record<string, unknown>>) => unknown => {
  const columns = namesOf(table).map((name) => [name, columnName(name)] as const)
  return (row) =>
    Object.fromEntries(columns.map(([name, column]) => {
      const value = row[column]
      return [name, typeof value === "bigint" ? Number(value) : value]
    }))
}

/** A column in the form in which the API shows it: the JSON of PostgreSQL has other times, and decimals as numbers. */
const shown = (table: Table, name: string, alias: string): string => {
  const column = `${alias}.${columnName(name)}`
  const { kind } = columnFacts(table, name)
  return kind === "timestamptz" ? isoTime(column) : kind === "numeric" ? `${column}::text` : column
}

/** An SQL text: the row `alias` as JSON, in the form in which the API shows it, without these columns. */
export const rowJson = (table: Table, alias: string, without: ReadonlyArray<string> = []): string => {
  const parts = namesOf(table).filter((name) => !without.includes(name))
    .map((name) => `'${name}', ${shown(table, name, alias)}`)
  // A function takes at most 100 arguments.
  const chunks = Array.from({ length: Math.ceil(parts.length / 50) }, (_, n) => parts.slice(n * 50, n * 50 + 50))
  return chunks.map((chunk) => `jsonb_build_object(${chunk.join(", ")})`).join(" || ")
}
