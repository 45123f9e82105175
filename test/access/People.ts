import { Effect, Option, Redacted } from "effect"
import { createHash, randomBytes, randomUUID } from "node:crypto"
import { signToken, tokenDigest } from "../../src/domain/platform/access/SentCredential.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { theOrganization } from "../support/TestApp.ts"

const secret = Redacted.value(Option.getOrThrow(testSettings("postgres://nowhere/none").auth.secret))

/** A signed-in user, with each form of their credential as request headers. */
export interface SignedIn {
  readonly userId: string
  readonly sessionId: string
  readonly email: string
  readonly token: string
  readonly cookie: { readonly cookie: string }
  readonly bearer: { readonly authorization: string }
}

export interface SignIn {
  /** Member of the default organization with this role; of none without it. */
  readonly role?: string
  readonly organization?: string
  readonly active?: string
  readonly twoFactor?: boolean
  /** SQL of the start and the end of the session. */
  readonly began?: string
  readonly ends?: string
}

const letters = () => randomBytes(24).toString("base64url").replace(/[-_]/g, "x")

/** Text of a session cookie, as a browser sends it. */
export const cookieOf = (token: string) => ({
  cookie: `theme=dark; uc.session_token=${encodeURIComponent(signToken(token, secret))}`
})

/** The token with its signature, as `set-auth-token` shows it. */
export const signed = (token: string) => signToken(token, secret)

/** A user with a session, written into the tables as signing in writes them. */
export const signIn = Effect.fnUntraced(function*(how: SignIn = {}) {
  const [userId, sessionId, token] = [randomUUID(), randomUUID(), letters()]
  const email = `${userId}@example.com`
  const { active = null, began = "now()", ends = "now() + interval '7 days'" } = how
  const organization = how.organization ?? (yield* theOrganization)
  yield* onDatabase((sql) =>
    Effect.all([
      sql`insert into users (id, name, email, email_verified, two_factor_enabled)
        values (${userId}::uuid, 'Ada', ${email}, true, ${how.twoFactor ?? false})`,
      sql`insert into sessions (id, token, user_id, expires_at, created_at, active_organization_id)
        values (${sessionId}::uuid, ${tokenDigest(token)}, ${userId}::uuid, ${sql.literal(ends)}, ${
        sql.literal(began)
      }, ${active})`,
      how.role === undefined
        ? Effect.void
        : sql`insert into members (organization_id, user_id, role) values (${organization}, ${userId}::uuid, ${how.role})`
    ])
  )
  const made: SignedIn = {
    userId,
    sessionId,
    email,
    token,
    cookie: cookieOf(token),
    bearer: { authorization: `Bearer ${token}` }
  }
  return made
})

export interface NewKey {
  readonly role?: string
  readonly organization?: string
  /** Owning user; the organization without one. */
  readonly userId?: string
  readonly permissions?: object
  readonly enabled?: boolean
  readonly expires?: string
  readonly remaining?: number
}

/** A key of the organization of the tests, written into the table; gives its id and its text. */
export const aKey = Effect.fnUntraced(function*(how: NewKey = {}) {
  const [id, key] = [randomUUID(), `stoa_${randomBytes(32).toString("base64url")}`]
  const organization = how.organization ?? (how.userId === undefined ? yield* theOrganization : null)
  const permissions = how.permissions === undefined ? null : JSON.stringify(how.permissions)
  yield* onDatabase((sql) =>
    sql`insert into api_keys (id, name, key, reference_id, organization_id, role, permissions, enabled, expires_at,
        remaining)
      values (${id}::uuid, 'Test', ${createHash("sha256").update(key).digest("base64url")},
        ${how.userId ?? organization}, ${organization}, ${how.role ?? null}, ${permissions}, ${how.enabled ?? true},
        ${sql.literal(how.expires ?? "null")}, ${how.remaining ?? null})`
  )
  return { id, key, headers: { "x-api-key": key } }
})
