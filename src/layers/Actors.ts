import { Effect, Layer, Option, Redacted } from "effect"
import type { Headers } from "effect/http"
import { hash, timingSafeEqual } from "node:crypto"
import { anonymousActor } from "../domain/platform/access/Actor.ts"
import { scopeNamed } from "../domain/platform/access/ApiKey.ts"
import { type SentCredential, sentCredentials } from "../domain/platform/access/SentCredential.ts"
import type { KeyFacts, SessionFacts } from "../domain/platform/credentials/CredentialRepo.ts"
import {
  type AccessPolicy,
  actorOfKey,
  actorOfSession,
  Credentials,
  membershipIn,
  organizationOfSession
} from "../domain/platform/credentials/Credentials.ts"
import { TooManyRequests, TwoFactorRequired, Unauthorized } from "../domain/platform/errors/ApiErrors.ts"
import { Actors, type Asked, type Caller } from "../http/access/Actors.ts"
import { RequestId } from "../http/server/RequestId.ts"
import { StoreResolution } from "./access/StoreResolution.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { type AuthSettings, guardedRoles } from "./config/AuthConfig.ts"
import { testActor } from "./TestActors.ts"

const digest = (text: string): Buffer => hash("sha256", text, "buffer")

type Found = Omit<Caller, "cartSecret" | "requestId">

const configuredKeys = Effect.gen(function*() {
  const { access, developmentKey, metricsKey } = yield* AppConfig
  const holder = (keyId: string, name: string, role: string, permissions: ReadonlyArray<string>): Found => ({
    credential: "key",
    keyId,
    type: "api_key",
    userId: null,
    email: null,
    name,
    vendorId: null,
    organizationId: access.defaultOrganizationId,
    role,
    permissions
  })
  const known = [
    [developmentKey, holder("development", "Development key", "admin", access.roles["admin"] ?? [])],
    [metricsKey, holder("metrics", "Metrics key", "metrics", ["metrics:read"])]
  ] as const
  const keys = known.flatMap(([key, actor]) =>
    Option.isSome(key) ? [{ right: digest(Redacted.value(key.value)), actor }] : []
  )
  return (sent: SentCredential) => {
    if (keys.length === 0 || (sent._tag !== "Key" && sent._tag !== "Bearer")) return undefined
    const shown = digest(sent.value)
    // In constant time: the duration tells nothing about the key.
    return keys.find(({ right }) => timingSafeEqual(shown, right))?.actor
  }
})

/** The extended session's cookie: a browser would forget it at the old end. */
const renewedCookie = ({ secureCookies, sessionCookie, sessionDuration }: AuthSettings, value: string) =>
  `${sessionCookie}=${value}; Max-Age=${sessionDuration}; Path=/; HttpOnly; SameSite=Lax` +
  (secureCookies ? "; Secure" : "")

const identifying = Effect.gen(function*() {
  const { access, auth } = yield* AppConfig
  const { isGuess, verify } = yield* Credentials
  const { organizationOf } = yield* StoreResolution
  const configured = yield* configuredKeys
  const policy: AccessPolicy = access
  const guarded = guardedRoles(auth)

  const lacksFactor = (known: Pick<SessionFacts, "memberships" | "twoFactor">, organization: string): boolean => {
    const role = membershipIn(known, organization)
    return role !== undefined && guarded.has(role) && !known.twoFactor
  }

  const holderOf = Effect.fnUntraced(function*(key: KeyFacts, headers: Headers.Headers, asked: Asked | undefined) {
    const organization = key.organizationId ??
      (key.role === null ? yield* organizationOf(headers, asked) : policy.defaultOrganizationId)
    if (lacksFactor(key, organization)) return yield* TwoFactorRequired.of()
    const rateLimit = key.rateLimit ??
      (key.scope === null ? undefined : scopeNamed(policy.keyScopes, key.scope)?.rateLimit)
    const kept = { ...(rateLimit && { rateLimit }), ...(key.metered && { metered: true } as const) }
    return { ...actorOfKey(key, organization, policy), credential: "key", ...kept } as const
  })

  const userOf = (session: SessionFacts, sent: SentCredential, renewed: boolean, organization: string) => {
    const actor = actorOfSession(session, organization, policy)
    if (sent._tag !== "Cookie") return { ...actor, credential: "bearer" } as const
    const cookie = renewed && { renewedCookie: renewedCookie(auth, sent.value) }
    return { ...actor, credential: "cookie", ...cookie } as const
  }

  const guardedUser = Effect.fnUntraced(function*(
    session: SessionFacts,
    sent: SentCredential,
    renewed: boolean,
    headers: Headers.Headers,
    asked: Asked | undefined
  ) {
    const organization = organizationOfSession(session, policy) ?? (yield* organizationOf(headers, asked))
    if (lacksFactor(session, organization)) return yield* TwoFactorRequired.of()
    return userOf(session, sent, renewed, organization)
  })

  return {
    identify: Effect.fnUntraced(function*(sent: SentCredential, headers: Headers.Headers, asked: Asked | undefined) {
      const own = configured(sent)
      if (own !== undefined) return own
      const mayGuess = asked?.mayGuess
      if (mayGuess !== undefined && (yield* isGuess(sent)) && !(yield* mayGuess)) return yield* TooManyRequests.of()
      const verified = yield* verify(sent, asked?.isRepeat)
      if (verified === undefined) return undefined
      return verified.known._tag === "Key"
        ? yield* holderOf(verified.known.key, headers, asked)
        : yield* guardedUser(verified.known.session, sent, verified.renewed, headers, asked)
    }),
    /** Also without a second factor; undefined for other credentials. */
    userOfSession: Effect.fnUntraced(function*(sent: SentCredential) {
      if (sent._tag === "Key") return undefined
      const verified = yield* verify(sent)
      if (verified?.known._tag !== "Session") return undefined
      const { session } = verified.known
      const organization = organizationOfSession(session, policy) ?? policy.defaultOrganizationId
      return userOf(session, sent, verified.renewed, organization)
    })
  }
})

/**
 * Resolves a request's actor (contract, platform §2): an injected one under test, the user of a session, the holder of
 * a key, else an anonymous shopper. Invalid credentials are 401, never anonymous.
 */
export const actorsLayer = Layer.effect(
  Actors,
  Effect.gen(function*() {
    const { access, auth } = yield* AppConfig
    const { organizationOf } = yield* StoreResolution
    const { identify, userOfSession } = yield* identifying

    const found = Effect.fnUntraced(function*(headers: Headers.Headers, asked: Asked | undefined) {
      const injected = access.allowTestActor ? testActor(headers["x-test-actor"]) : Option.none()
      if (Option.isSome(injected)) return { ...injected.value, credential: "test" } as const
      const all = sentCredentials(headers, auth.sessionCookie)
      for (const sent of all) {
        const one: Found | undefined = yield* identify(sent, headers, asked)
        if (one !== undefined) return one
      }
      if (all.length > 0) return yield* Unauthorized.of("The credentials are not valid.")
      const anonymous = anonymousActor(yield* organizationOf(headers, asked), access.customerPermissions)
      return { ...anonymous, credential: "none" } as const
    })

    const asCaller = Effect.fnUntraced(function*(headers: Headers.Headers, one: Found) {
      return { ...one, cartSecret: headers["x-cart-secret"] ?? null, requestId: yield* RequestId }
    })

    const signedIn = Effect.fnUntraced(function*(headers: Headers.Headers) {
      const all = [headers, { cookie: headers["cookie"] }].flatMap((sent) => sentCredentials(sent, auth.sessionCookie))
      for (const sent of all) {
        const user: Found | undefined = yield* userOfSession(sent)
        if (user !== undefined) return user
      }
      return {
        ...anonymousActor(access.defaultOrganizationId, access.customerPermissions),
        credential: "none"
      } as const
    })

    return Actors.of({
      fromHeaders: (headers, asked) => Effect.flatMap(found(headers, asked), (one) => asCaller(headers, one)),
      fromSession: (headers) => Effect.flatMap(signedIn(headers), (one) => asCaller(headers, one))
    })
  })
)
