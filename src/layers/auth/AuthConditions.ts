import type { BetterAuthPlugin } from "better-auth"
import { createAuthMiddleware } from "better-auth/api"
import type { SqlClient, Statement } from "effect/sql"
import { tokenDigest } from "../../domain/platform/access/SentCredential.ts"
import type { AuthScope } from "./AuthScope.ts"

export interface Condition {
  readonly field: string
  readonly operator?: string | undefined
  readonly connector?: "AND" | "OR" | undefined
  readonly mode?: "sensitive" | "insensitive" | undefined
  readonly value: unknown
}

export const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const lowered = (value: unknown): unknown => typeof value === "string" ? value.toLowerCase() : value

const comparisons: Readonly<Record<string, string>> = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" }

/** Functions instead of LIKE, whose wildcards need escaping. */
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
  if (isUuid && !uuid.test(String(value))) return operator === "ne" ? sql`true` : sql`false`
  const comparison = comparisons[operator]
  return comparison === undefined
    ? matching(sql, operator, column, String(value))
    : sql`${column} ${sql.literal(comparison)} ${value}`
}

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

type Row = Record<string, unknown>

const table = "sessions"

/**
 * Stores digests in place of session tokens; better-auth still gets the tokens it looks up. Other sessions show their
 * id as token; their identified user may end them by it.
 */
export const sessionTokens = (scope: AuthScope) => {
  const stored = ({ connector, value }: Condition): ReadonlyArray<Condition> => {
    const known = scope.tokens()
    if (typeof value === "string" && uuid.test(value) && known.owner !== undefined) {
      return [{ field: "id", value }, { field: "userId", value: known.owner }]
    }
    const tokens = [value].flat().map(String)
    for (const token of tokens) known.tokenOf.set(tokenDigest(token), token)
    return [{ field: "token", operator: "in", connector, value: tokens.map(tokenDigest) }]
  }

  const shown = (row: Row): Row => {
    const known = scope.tokens()
    const { id, token, userId } = row
    const real = typeof token === "string" ? known.tokenOf.get(token) : undefined
    if (real !== undefined && typeof userId === "string") known.owner = userId
    return "token" in row ? { ...row, token: real ?? id } : row
  }

  return {
    conditions: (model: string, where: ReadonlyArray<Condition>): ReadonlyArray<Condition> =>
      model === table ? where.flatMap((one) => one.field === "token" ? stored(one) : [one]) : where,
    shown: (model: string, row: Row): Row => model === table ? shown(row) : row,
    written: (model: string, row: Row, where: ReadonlyArray<Condition> = []): Row => {
      const token = row["token"] ?? where.find(({ field }) => field === "token")?.value
      if (model !== table || typeof token !== "string" || uuid.test(token)) return row
      const digest = tokenDigest(token)
      scope.tokens().tokenOf.set(digest, token)
      return { ...row, token: digest }
    }
  }
}

const withoutToken = (session: unknown): unknown =>
  typeof session === "object" && session !== null && "id" in session ? { ...session, token: session.id } : session

export const hiddenTokens = {
  id: "stoa-session-tokens",
  hooks: {
    after: [{
      matcher: ({ path }) => path === "/list-sessions",
      handler: createAuthMiddleware(async ({ context: { returned } }) =>
        Array.isArray(returned) ? returned.map(withoutToken) : undefined
      )
    }]
  }
} satisfies BetterAuthPlugin
