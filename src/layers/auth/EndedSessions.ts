import { Effect } from "effect"
import { CacheInvalidation } from "../../domain/access/CacheInvalidation.ts"
import { sentCredentials } from "../../domain/access/SentCredential.ts"
import { tokenDigest } from "../../domain/access/SessionToken.ts"

/** Routes whose success ends sessions beside the one that asked. */
const endsOthers =
  /^\/api\/auth\/(revoke-session|revoke-sessions|revoke-other-sessions|change-password|reset-password)$/

/** Tokens of sessions that a request shows, raw or before the signature of the signed form; they need not be anybody's. */
const tokensOf = (headers: Headers, cookieName: string): ReadonlyArray<string> =>
  sentCredentials(Object.fromEntries(headers), cookieName)
    .flatMap((sent) => sent._tag === "Bearer" || sent._tag === "Cookie" ? sent.value.split(".", 1) : [])

/**
 * Makes this process forget what an answer of better-auth has ended or changed, before the answer leaves. The others hear
 * of it by the triggers of the tables, a moment later; here nobody waits for that: after a sign-out has been answered its
 * token opens nothing.
 */
export const endedSessions = (cookieName: string) =>
  Effect.map(
    CacheInvalidation,
    ({ forget, forgetAll }) => ({ headers, method, url }: Request, { status }: Response) => {
      if (status < 400 && endsOthers.test(new URL(url).pathname)) return forgetAll
      if (method === "GET") return Effect.void
      return Effect.forEach(tokensOf(headers, cookieName), (token) => forget(`s${tokenDigest(token)}`), {
        discard: true
      })
    }
  )
