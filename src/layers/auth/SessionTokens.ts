import type { BetterAuthPlugin } from "better-auth"
import { createAuthMiddleware } from "better-auth/api"
import { tokenDigest } from "../../domain/access/SessionToken.ts"
import { type Condition, uuid } from "./AuthConditions.ts"
import type { AuthScope } from "./AuthScope.ts"

type Row = Record<string, unknown>

const table = "sessions"

/**
 * Stores digests of session tokens in place of the tokens. better-auth still looks sessions up by token and gets those
 * tokens back. Other sessions show their id as token; their user may end them by it in a call that has identified the user
 * by a real token.
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
    /** The stored form of a row, which is new or selected by its token. */
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

/** A list of sessions shows no token, not even that of the current session. */
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
