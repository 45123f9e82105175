import { Effect } from "effect"
import { Forbidden, ValidationFailed } from "../errors/ApiErrors.ts"
import type { Settings } from "../settings/StoreSettings.ts"
import { type Actor } from "./Actor.ts"
import { keyPrefix, type NewApiKey } from "./ApiKey.ts"
import { isRole, mayGive, mayGrant } from "./Granting.ts"
import { scopeNamed } from "./KeyScope.ts"
import { grants, type Permission } from "./Permission.ts"

/** The key that a request would create. */
export interface AskedKind {
  readonly role: string | null
  readonly scope: string | null
  readonly prefix: string
  readonly expiresAt: Date | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

const dayMs = 86_400_000

const allowed = (names: object): string => Object.keys(names).join(", ")

const named = (given: string | null | undefined): string | null => given ?? null

const ofRole = Effect.fnUntraced(function*(actor: Actor, { roles }: Settings, role: string, asked: NewApiKey) {
  if (!isRole(roles, role)) {
    return yield* ValidationFailed.of("role", `must be one of ${allowed(roles)}`, "unknown_role")
  }
  if (!mayGrant(actor, roles, role)) {
    return yield* Forbidden.of(`The role '${role}' may more than you: you cannot give it.`)
  }
  const kind: AskedKind = { role, scope: null, prefix: keyPrefix, expiresAt: asked.expiresAt ?? null, metadata: null }
  return { kind, permissions: roles[role] ?? [], metadata: false }
})

const ofScope = Effect.fnUntraced(
  function*(actor: Actor, { keyScopes }: Settings, name: string, asked: NewApiKey, now: Date) {
    const scope = scopeNamed(keyScopes, name)
    if (scope === undefined) {
      return yield* ValidationFailed.of("scope", `must be one of ${allowed(keyScopes)}`, "unknown_scope")
    }
    if (!mayGive(actor, scope.permissions)) {
      return yield* Forbidden.of(`The scope '${name}' may more than you: you cannot give it.`)
    }
    const { expiresAfterDays, metadata, permissions, prefix } = scope
    const byScope = expiresAfterDays === null ? null : new Date(now.getTime() + expiresAfterDays * dayMs)
    const kind: AskedKind = {
      role: null,
      scope: name,
      prefix,
      expiresAt: asked.expiresAt ?? byScope,
      metadata: asked.metadata ?? null
    }
    return { kind, permissions, metadata }
  }
)

/** A key's permissions must be within those of its role or scope. */
const refuseWider = (asked: ReadonlyArray<Permission>, within: ReadonlyArray<Permission>) => {
  const wider = asked.find((permission) => !grants(within, permission))
  return wider === undefined
    ? Effect.void
    : Effect.fail(ValidationFailed.of("permissions", `'${wider}' is not within its role or scope`, "not_granted"))
}

/**
 * Validates a requested key (contract, platform §4): 422 for an invalid one, 403 for one with more permissions than its
 * requester, and where keys are disabled.
 */
export const kindAskedFor = Effect.fnUntraced(
  function*(actor: Actor, settings: Settings, asked: NewApiKey, now: Date) {
    if (!settings.keysEnabled) {
      return yield* Forbidden.of("Stored keys open nothing: auth.apiKeys.enabled switches them on.")
    }
    if (asked.name.trim() === "") return yield* ValidationFailed.of("name", "must have 1 to 64 letters")
    const [role, scope] = [named(asked.role), named(asked.scope)]
    if ((role === null) === (scope === null)) {
      return yield* ValidationFailed.of(role === null ? "role" : "scope", "a key has either a role or a scope")
    }
    const { kind, metadata, permissions } = role === null
      ? yield* ofScope(actor, settings, scope ?? "", asked, now)
      : yield* ofRole(actor, settings, role, asked)
    if (asked.expiresAt && asked.expiresAt <= now) return yield* ValidationFailed.of("expiresAt", "must lie ahead")
    if (asked.metadata && !metadata) return yield* ValidationFailed.of("metadata", "its scope allows none")
    yield* refuseWider(asked.permissions ?? [], permissions)
    return kind
  }
)
