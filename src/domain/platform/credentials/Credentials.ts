import { Clock, Context, Effect, Layer, Redacted, type Scope } from "effect"
import { hash } from "node:crypto"
import type { Actor } from "../access/Actor.ts"
import { type KeyScopes, narrowed, scopeNamed } from "../access/ApiKey.ts"
import { CacheInvalidation, type Dependency } from "../access/CacheInvalidation.ts"
import type { Permission, Roles } from "../access/Permission.ts"
import { type SentCredential, tokenDigest, tokenForm, verifiedToken } from "../access/SentCredential.ts"
import { CredentialRepo, type KeyFacts, type KeyUse, type SessionFacts } from "./CredentialRepo.ts"

/** The roles of the deployment. */
export interface AccessPolicy {
  readonly roles: Roles
  readonly defaultOrganizationId: string
  /** Permissions of visitors and of signed-in shoppers without a membership. */
  readonly customerPermissions: ReadonlyArray<Permission>
  /** Permissions of keys without a role, scope or permissions. */
  readonly keyPermissions: ReadonlyArray<Permission>
  readonly keyScopes: KeyScopes
}

/** The actor without the fields that the request adds. */
export type BareActor = Omit<Actor, "cartSecret" | "requestId" | "ip" | "userAgent" | "source" | "executionId">

const permissionsOfRole = ({ roles }: AccessPolicy, role: string): ReadonlyArray<Permission> =>
  Object.hasOwn(roles, role) ? roles[role] ?? [] : []

/**
 * The default organization of a session (contract, platform §2): the one its user chose, else the deployment's default
 * one if they are a member there. Undefined where only the request can decide.
 */
export const organizationOfSession = (
  { activeOrganizationId, memberships }: SessionFacts,
  { defaultOrganizationId }: AccessPolicy
): string | undefined =>
  activeOrganizationId ?? (Object.hasOwn(memberships, defaultOrganizationId) ? defaultOrganizationId : undefined)

/** The user's role in an organization; undefined without a membership. */
export const membershipIn = (
  { memberships }: Pick<SessionFacts, "memberships">,
  organizationId: string
): string | undefined => Object.hasOwn(memberships, organizationId) ? memberships[organizationId] : undefined

/** Permissions of a member, or of a customer for a user without a role there. */
const permissionsOfMember = (
  memberships: Readonly<Record<string, string>>,
  organizationId: string,
  policy: AccessPolicy
): ReadonlyArray<Permission> => {
  const role = membershipIn({ memberships }, organizationId)
  return role === undefined ? policy.customerPermissions : permissionsOfRole(policy, role)
}

/** A signed-in user: a member has the permissions of their role, an unknown role none; other users are customers. */
export const actorOfSession = (session: SessionFacts, organizationId: string, policy: AccessPolicy): BareActor => {
  const role = membershipIn(session, organizationId)
  return {
    type: "user",
    userId: session.userId,
    email: session.email,
    name: session.name,
    vendorId: session.vendorId,
    vendorRole: session.vendorRole,
    organizationId,
    role: role ?? "customer",
    permissions: permissionsOfMember(session.memberships, organizationId, policy)
  }
}

/** Permissions of a key: those of its current role or scope, narrowed to its list; else its list or the default. */
const permissionsGiven = (key: KeyFacts, policy: AccessPolicy): ReadonlyArray<Permission> => {
  if (key.role !== null) return narrowed(permissionsOfRole(policy, key.role), key.permissions)
  if (key.scope !== null) return narrowed(scopeNamed(policy.keyScopes, key.scope)?.permissions ?? [], key.permissions)
  return key.permissions ?? policy.keyPermissions
}

/** An API key. A user's key never has more permissions than the user has in its organization (contract §4, §23.14). */
export const actorOfKey = (key: KeyFacts, organizationId: string, policy: AccessPolicy): BareActor => ({
  type: "api_key",
  userId: key.userId,
  email: null,
  name: key.name ?? "API key",
  vendorId: null,
  organizationId,
  role: key.role ?? "api_key",
  permissions: key.userId === null
    ? permissionsGiven(key, policy)
    : narrowed(permissionsOfMember(key.memberships, organizationId, policy), permissionsGiven(key, policy)),
  keyId: key.id
})

/** Delay before uses are written. */
const pause = "2 seconds"

/**
 * Counts the uses of keys in memory and writes them in batches, every few seconds and at shutdown: a request must not
 * cost a write. A killed process loses its unwritten counts.
 */
export const keyUses = Effect.fnUntraced(function*(
  record: CredentialRepo["Service"]["recordUses"]
): Effect.fn.Return<(id: string, now: number) => void, never, Scope.Scope> {
  let waiting = new Map<string, { count: number; at: number }>()

  const write = Effect.suspend(() => {
    if (waiting.size === 0) return Effect.void
    const uses = [...waiting].map(([id, { at, count }]): KeyUse => ({ id, count, at: new Date(at) }))
    waiting = new Map()
    return Effect.catchCause(record(uses), (cause) => Effect.logWarning("uses of API keys were not written", cause))
  })

  yield* Effect.addFinalizer(() => write)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(pause), write)))

  return (id, now) => {
    const use = waiting.get(id)
    if (use === undefined) waiting.set(id, { count: 1, at: now })
    else {
      use.count += 1
      use.at = now
    }
  }
})

/** Configuration of credential verification. */
export interface CredentialSettings {
  /** Signs session cookies and signed bearer tokens. */
  readonly secret: Redacted.Redacted<string>
  /** Lifetime of a session from its start or last renewal, in seconds (`auth.sessionDuration`). */
  readonly sessionSeconds: number
  /** Whether stored keys authenticate (`auth.apiKeys.enabled`). */
  readonly keysEnabled: boolean
}

/** The owner of a credential. */
export type Known =
  | { readonly _tag: "Session"; readonly session: SessionFacts }
  | { readonly _tag: "Key"; readonly key: KeyFacts }

/** The verified credential, and whether its session was just extended. */
export interface Verified {
  readonly known: Known
  readonly renewed: boolean
}

/** Maximum cached credentials, and their lifetime in the cache. */
export const CredentialCache = Context.Reference("stoa/domain/platform/credentials/CredentialCache", {
  defaultValue: () => ({ capacity: 10_000, lifeMs: 30_000 })
})

/**
 * Credentials that were valid recently. Guesses may be refused without a look-up; these are looked up even when others
 * at the same address send invalid ones.
 */
const provenLately = () => {
  const [capacity, lifeMs] = [50_000, 86_400_000]
  const seen = new Map<string, number>()
  return {
    /** Evicts the oldest when full. */
    note: (name: string, good: boolean, now: number): void => {
      seen.delete(name)
      if (good) seen.set(name, now)
      const [oldest] = seen.keys()
      if (seen.size > capacity && oldest !== undefined) seen.delete(oldest)
    },
    has: (name: string, now: number): boolean => now < (seen.get(name) ?? -lifeMs) + lifeMs
  }
}

/** A session is extended once this much of its lifetime has passed, so at most once in this time (contract §3). */
const renewalAgeMs = 86_400_000

/** A session without "remember me" lives for a day and is not renewed. The margin allows for clock skew. */
const unrememberedMs = renewalAgeMs + 60_000

/** A credential to look up: its name in the cache, and whether it was verified for an open stream before. */
interface Lookup {
  readonly name: string
  readonly now: number
  readonly isRepeat: boolean
}

const verifiedAs = (known: Known, renewed = false): Verified => ({ known, renewed })

const endOf = (known: Known): number =>
  (known._tag === "Session" ? known.session.expiresAt : known.key.expiresAt)?.getTime() ?? Number.POSITIVE_INFINITY

const sha256 = (text: string) => hash("sha256", text, "hex")

const dependenciesOf = (known: Known, own: Dependency): ReadonlyArray<Dependency> => {
  if (known._tag === "Session") return [own, `u${known.session.userId}`]
  const { organizationId, userId } = known.key
  return [own, ...(userId === null ? [] : [`u${userId}`]), ...(organizationId === null ? [] : [`o${organizationId}`])]
}

/** The renewal of a session that is due; usually there is none. */
const renewing = (repo: CredentialRepo["Service"], { sessionSeconds }: CredentialSettings) => {
  const endFrom = (now: number): number => now + sessionSeconds * 1_000
  const isDue = ({ createdAt, expiresAt }: SessionFacts, now: number): boolean =>
    expiresAt.getTime() - createdAt.getTime() > unrememberedMs && expiresAt.getTime() <= endFrom(now) - renewalAgeMs
  const renew = Effect.fnUntraced(function*(session: SessionFacts, now: number) {
    if (!isDue(session, now)) return undefined
    const [due, expiresAt] = [new Date(endFrom(now) - renewalAgeMs), new Date(endFrom(now))]
    return (yield* repo.renew(session.id, due, expiresAt)) ? { ...session, expiresAt } : undefined
  })
  return { isDue, renew }
}

/**
 * Verifies credentials against the tables of `domain/auth`, with a short-lived cache that the tables' triggers
 * invalidate (contract, platform §3).
 */
export class Credentials extends Context.Service<Credentials>()("stoa/domain/platform/credentials/Credentials", {
  make: Effect.fnUntraced(function*(settings: CredentialSettings) {
    const repo = yield* CredentialRepo
    const cache = (yield* CacheInvalidation).open<Known>(yield* CredentialCache)
    const used = yield* keyUses(repo.recordUses)
    const { isDue, renew } = renewing(repo, settings)
    const proofs = provenLately()
    const secret = Redacted.value(settings.secret)

    /** The cache keys are hashes, so that a memory dump exposes no credentials. */
    const cached = (name: string, now: number): Known | undefined => {
      const known = cache.find(name, now)
      return known !== undefined && endOf(known) > now ? known : undefined
    }

    const session = Effect.fnUntraced(function*(token: string, { isRepeat, name, now }: Lookup) {
      const since = cache.changes
      const found = yield* repo.session(token)
      if (found === undefined) return undefined
      // Only a request can send the renewed cookie: it must not find the session in the cache before.
      if (isRepeat && isDue(found, now)) return verifiedAs({ _tag: "Session", session: found })
      const later = yield* renew(found, now)
      const known: Known = { _tag: "Session", session: later ?? found }
      cache.keep(name, known, dependenciesOf(known, `s${tokenDigest(token)}`), now, since)
      return verifiedAs(known, later !== undefined)
    })

    const key = Effect.fnUntraced(function*(text: string, { isRepeat, name, now }: Lookup) {
      if (!settings.keysEnabled) return undefined
      const since = cache.changes
      const stored = hash("sha256", text, "base64url")
      const found = yield* repo.key(stored)
      if (found === undefined || (found.metered && !isRepeat && !(yield* repo.takeUse(found.id)))) return undefined
      const known: Known = { _tag: "Key", key: found }
      if (!found.metered) cache.keep(name, known, dependenciesOf(known, `k${stored}`), now, since)
      if (!isRepeat) used(found.id, now)
      return verifiedAs(known)
    })

    const bearer = (value: string, lookup: Lookup) => {
      if (value.includes(".")) {
        const token = verifiedToken(value, secret)
        if (token !== undefined) return session(token, lookup)
      }
      // Any other bearer token is an API key.
      if (!tokenForm.test(value)) return key(value, lookup)
      return Effect.flatMap(
        session(value, lookup),
        (found) => found === undefined ? key(value, lookup) : Effect.succeed(found)
      )
    }

    const read = (sent: Exclude<SentCredential, { readonly _tag: "Unknown" }>, lookup: Lookup) => {
      if (sent._tag === "Key") return key(sent.value, lookup)
      if (sent._tag === "Bearer") return bearer(sent.value, lookup)
      const token = verifiedToken(sent.value, secret)
      return token === undefined ? Effect.undefined : session(token, lookup)
    }

    /** Undefined for an unknown, forged, expired, revoked or used up credential. A repeat counts no use of it. */
    const verify = Effect.fnUntraced(function*(sent: SentCredential, isRepeat = false) {
      if (sent._tag === "Unknown") return undefined
      const now = yield* Clock.currentTimeMillis
      const name = `${sent._tag}${sha256(sent.value)}`
      const known = cached(name, now)
      if (known === undefined) {
        const found = yield* read(sent, { isRepeat, name, now })
        proofs.note(name, found !== undefined, now)
        return found
      }
      if (known._tag === "Key" && !isRepeat) used(known.key.id, now)
      return verifiedAs(known)
    })

    /**
     * Whether `verify` would query the database for a credential that may be a guess: it is neither cached nor signed.
     * A credential with a bad signature is never looked up.
     */
    const isGuess = Effect.fnUntraced(function*(sent: SentCredential) {
      if (sent._tag === "Unknown" || sent._tag === "Cookie") return false
      if (sent._tag === "Bearer" && verifiedToken(sent.value, secret) !== undefined) return false
      const [name, now] = [`${sent._tag}${sha256(sent.value)}`, yield* Clock.currentTimeMillis]
      return cached(name, now) === undefined && !proofs.has(name, now)
    })

    return { verify, isGuess }
  })
}) {}

/** `Credentials` over the database of the process. */
export const credentialsLayerOf = (settings: CredentialSettings) =>
  Layer.effect(Credentials, Credentials.make(settings))
