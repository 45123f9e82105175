import type { SqlClient, Statement } from "effect/sql"

/** A condition of a query by better-auth. */
export interface Condition {
  readonly field: string
  readonly operator?: string | undefined
  readonly connector?: "AND" | "OR" | undefined
  readonly mode?: "sensitive" | "insensitive" | undefined
  readonly value: unknown
}

/** A column's name in the database: `createdAt` is `created_at` there. */
export const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The form of an id. */
export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const lowered = (value: unknown): unknown => typeof value === "string" ? value.toLowerCase() : value

const comparisons: Readonly<Record<string, string>> = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" }

/** Functions in place of LIKE, whose wildcards would need escaping. */
const matching = (sql: SqlClient.SqlClient, operator: string, column: Statement.Fragment, text: string) => {
  switch (operator) {
    case "contains":
      return sql`strpos(${column}, ${text}) > 0`
    case "starts_with":
      return sql`starts_with(${column}, ${text})`
    case "ends_with":
      return sql`right(${column}, length(${text})) = ${text}`
    default:
      throw new Error(`The adapter does not implement better-auth's operator ${operator}.`)
  }
}

const single = (sql: SqlClient.SqlClient, condition: Condition, isUuid: boolean): Statement.Fragment => {
  const { operator = "eq" } = condition
  const insensitive = condition.mode === "insensitive"
  const name = sql`${sql(columnOf(condition.field))}`
  const column = insensitive ? sql`lower(${name})` : name
  const value = insensitive ? lowered(condition.value) : condition.value
  if (operator === "in" || operator === "not_in") {
    const all: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
    const usable = all.map(insensitive ? lowered : (one) => one).filter((one) => !isUuid || uuid.test(String(one)))
    if (usable.length === 0) return operator === "in" ? sql`false` : sql`true`
    const inside = sql`${column} in ${sql.in(usable)}`
    return operator === "in" ? inside : sql`not (${inside})`
  }
  if (value === null || value === undefined) return operator === "ne" ? sql`${name} is not null` : sql`${name} is null`
  // PostgreSQL refuses a text that is no UUID; to the caller the record does not exist.
  if (isUuid && !uuid.test(String(value))) return operator === "ne" ? sql`true` : sql`false`
  const comparison = comparisons[operator]
  return comparison === undefined
    ? matching(sql, operator, column, String(value))
    : sql`${column} ${sql.literal(comparison)} ${value}`
}

/** All conditions joined by AND, and at least one of those joined by OR, if any. */
export const conditionOf = (
  sql: SqlClient.SqlClient,
  where: ReadonlyArray<Condition>,
  isUuid: (field: string) => boolean
): Statement.Fragment => {
  const made = (isOr: boolean) =>
    where.filter(({ connector }) => (connector === "OR") === isOr).map((one) => single(sql, one, isUuid(one.field)))
  const alternatives = made(true)
  return sql.and([...made(false), ...alternatives.length > 0 ? [sql.or(alternatives)] : []])
}
