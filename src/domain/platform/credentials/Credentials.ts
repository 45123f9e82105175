import { Clock, Context, Effect, Layer, Redacted, type Scope } from "effect"
import { hash } from "node:crypto"
import type { Actor } from "../access/Actor.ts"
import { type KeyScopes, narrowed, scopeNamed } from "../access/ApiKey.ts"
import { CacheInvalidation, type Dependency } from "../access/CacheInvalidation.ts"
import type { Permission, Roles } from "../access/Permission.ts"
import { type SentCredential, tokenDigest, tokenForm, verifiedToken } from "../access/SentCredential.ts"
import { CredentialRepo, type KeyFacts, type KeyUse, type SessionFacts } from "./CredentialRepo.ts"

export interface AccessPolicy {
  readonly roles: Roles
  readonly defaultOrganizationId: string
  readonly customerPermissions: ReadonlyArray<Permission>
  readonly keyPermissions: ReadonlyArray<Permission>
  readonly keyScopes: KeyScopes
}

export type BareActor = Omit<Actor, "cartSecret" | "requestId" | "ip" | "userAgent" | "source" | "executionId">

const permissionsOfRole = ({ roles }: AccessPolicy, role: string): ReadonlyArray<Permission> =>
  Object.hasOwn(roles, role) ? roles[role] ?? [] : []

/**
 * The organization that the user chose, else the default one if they are a member (contract, platform §2); undefined
 * where only the request can decide.
 */
export const organizationOfSession = (
  { activeOrganizationId, memberships }: SessionFacts,
  { defaultOrganizationId }: AccessPolicy
): string | undefined =>
  activeOrganizationId ?? (Object.hasOwn(memberships, defaultOrganizationId) ? defaultOrganizationId : undefined)

export const membershipIn = (
  { memberships }: Pick<SessionFacts, "memberships">,
  organizationId: string
): string | undefined => Object.hasOwn(memberships, organizationId) ? memberships[organizationId] : undefined

const permissionsOfMember = (
  memberships: Readonly<Record<string, string>>,
  organizationId: string,
  policy: AccessPolicy
): ReadonlyArray<Permission> => {
  const role = membershipIn({ memberships }, organizationId)
  return role === undefined ? policy.customerPermissions : permissionsOfRole(policy, role)
}

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

/** Those of the role or scope, narrowed to the key's list; else the list or the default. */
const permissionsGiven = (key: KeyFacts, policy: AccessPolicy): ReadonlyArray<Permission> => {
  if (key.role !== null) return narrowed(permissionsOfRole(policy, key.role), key.permissions)
  if (key.scope !== null) return narrowed(scopeNamed(policy.keyScopes, key.scope)?.permissions ?? [], key.permissions)
  return key.permissions ?? policy.keyPermissions
}

/** Never has more permissions than its user (contract §4, §23.14). */
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

const pause = "2 seconds"

/**
 * Counts uses in memory and writes them every few seconds: a request must not cost a write. A killed process loses
 * counts.
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

export interface CredentialSettings {
  readonly secret: Redacted.Redacted<string>
  /** Seconds from the start or the last renewal. */
  readonly sessionSeconds: number
  readonly keysEnabled: boolean
}

export type Known =
  | { readonly _tag: "Session"; readonly session: SessionFacts }
  | { readonly _tag: "Key"; readonly key: KeyFacts }

export interface Verified {
  readonly known: Known
  readonly renewed: boolean
}

export const CredentialCache = Context.Reference("stoa/domain/platform/credentials/CredentialCache", {
  defaultValue: () => ({ capacity: 10_000, lifeMs: 30_000 })
})

/** Recently valid credentials: looked up even when others at the same address send guesses. */
const provenLately = () => {
  const [capacity, lifeMs] = [50_000, 86_400_000]
  const seen = new Map<string, number>()
  return {
    note: (name: string, good: boolean, now: number): void => {
      seen.delete(name)
      if (good) seen.set(name, now)
      const [oldest] = seen.keys()
      if (seen.size > capacity && oldest !== undefined) seen.delete(oldest)
    },
    has: (name: string, now: number): boolean => now < (seen.get(name) ?? -lifeMs) + lifeMs
  }
}

/** At most one renewal of a session in this time (contract §3). */
const renewalAgeMs = 86_400_000

/** Without "remember me" a session lives for a day. The margin allows for clock skew. */
const unrememberedMs = renewalAgeMs + 60_000

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

/** Verifies credentials; triggers of the tables invalidate its short-lived cache (contract, platform §3). */
export class Credentials extends Context.Service<Credentials>()("stoa/domain/platform/credentials/Credentials", {
  make: Effect.fnUntraced(function*(settings: CredentialSettings) {
    const repo = yield* CredentialRepo
    const cache = (yield* CacheInvalidation).open<Known>(yield* CredentialCache)
    const used = yield* keyUses(repo.recordUses)
    const { isDue, renew } = renewing(repo, settings)
    const proofs = provenLately()
    const secret = Redacted.value(settings.secret)

    /** Keys are hashes: a memory dump exposes no credentials. */
    const cached = (name: string, now: number): Known | undefined => {
      const known = cache.find(name, now)
      return known !== undefined && endOf(known) > now ? known : undefined
    }

    const session = Effect.fnUntraced(function*(token: string, { isRepeat, name, now }: Lookup) {
      const since = cache.changes
      const found = yield* repo.session(token)
      if (found === undefined) return undefined
      // Only a request can send the renewed cookie, so it must not find the session in the cache.
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

    /** Undefined for an invalid credential. A repeat counts no use. */
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

    const isGuess = Effect.fnUntraced(function*(sent: SentCredential) {
      if (sent._tag === "Unknown" || sent._tag === "Cookie") return false
      if (sent._tag === "Bearer" && verifiedToken(sent.value, secret) !== undefined) return false
      const [name, now] = [`${sent._tag}${sha256(sent.value)}`, yield* Clock.currentTimeMillis]
      return cached(name, now) === undefined && !proofs.has(name, now)
    })

    return { verify, isGuess }
  })
}) {}

export const credentialsLayerOf = (settings: CredentialSettings) =>
  Layer.effect(Credentials, Credentials.make(settings))
