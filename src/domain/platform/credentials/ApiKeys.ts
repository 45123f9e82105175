import { Context, DateTime, Effect, Layer } from "effect"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import {
  type ApiKey,
  keyPrefix,
  type KeyScope,
  type KeyScopes,
  type NewApiKey,
  newKeyText,
  scopeNamed
} from "../access/ApiKey.ts"
import { CacheInvalidation } from "../access/CacheInvalidation.ts"
import { grants, mayGive, mayGrant, requireGrantable, TooPowerful } from "../access/Permission.ts"
import { forbidden, invalid, notFound } from "../errors/ErrorKinds.ts"
import { type ApiKeyId, newId } from "../ids/Id.ts"
import { StoreSettings } from "../settings/StoreSettings.ts"
import { ApiKeyRepo } from "./ApiKeyRepo.ts"

export class ApiKeyNotFound extends notFound("ApiKey", "API key not found.") {}
export class KeysDisabled
  extends forbidden("KeysDisabled", "Stored keys open nothing: auth.apiKeys.enabled switches them on.")
{}
export class NamelessKey extends invalid("KeyName", "name", "must have 1 to 64 characters.") {}
export class RoleOrScope
  extends invalid("RoleOrScope", (field: "role" | "scope") => field, () => "role or scope is required, and not both.")
{}
export class UnknownScope extends invalid(
  "UnknownScope",
  "scope",
  (scopes: KeyScopes) => `must be one of ${Object.keys(scopes).join(", ")}.`,
  "unknown_scope"
) {}
export class ExpiredKey extends invalid("ExpiredKey", "expiresAt", "must lie in the future.", "past") {}
export class UnknownOwner extends invalid("UnknownOwner", "owner", "owner must be a member of this organization.") {}
export class NoKeyMetadata extends invalid("NoKeyMetadata", "metadata", "must be empty for a key of this scope.") {}
export class NotGranted extends invalid(
  "NotGranted",
  "permissions",
  (permission: string) => `permissions must be within the role or scope of the key: '${permission}' is not.`,
  "not_granted"
) {}

const expiryOf = ({ expiresAfterDays }: KeyScope, now: Date): Date | null =>
  expiresAfterDays === null ? null : new Date(now.getTime() + expiresAfterDays * 86_400_000)

export class ApiKeys extends Context.Service<ApiKeys>()("stoa/domain/platform/credentials/ApiKeys", {
  make: Effect.gen(function*() {
    const repo = yield* ApiKeyRepo
    const { keysEnabled, keyScopes, roles } = yield* StoreSettings
    const caches = yield* CacheInvalidation

    const scopeAskedFor = Effect.fnUntraced(function*(actor: Actor, { role = null, scope = null }: NewApiKey) {
      if (role !== null && scope !== null) return yield* new RoleOrScope("scope")
      if (role !== null) {
        yield* requireGrantable(actor, roles, role)
        return undefined
      }
      if (scope === null) return yield* new RoleOrScope("role")
      const found = scopeNamed(keyScopes, scope) ?? (yield* new UnknownScope(keyScopes))
      return mayGive(actor, found.permissions) ? found : yield* new TooPowerful("scope", scope, "give it")
    })

    /**
     * Returns the key with its text, the only time. The key of an `owner` acts as that user, with no more than their
     * permissions, and opens nothing once they are no member any more. 422 for an unknown role, scope or owner, an empty
     * name, a past end, or permissions beyond the role or scope; 403 beyond the actor's permissions or where keys are
     * disabled.
     */
    const create = Effect.fn("ApiKeys.create")(function*(asked: NewApiKey, owner: string | null = null) {
      const now = DateTime.toDateUtc(yield* DateTime.now)
      if (!keysEnabled) return yield* new KeysDisabled()
      const { metadata, permissions, role = null } = asked
      const name = asked.name.trim()
      if (name === "") return yield* new NamelessKey()
      const scope = yield* scopeAskedFor(yield* CurrentActor, asked)
      if (asked.expiresAt && asked.expiresAt <= now) return yield* new ExpiredKey()
      if (owner !== null && !(yield* repo.isMember(owner))) return yield* new UnknownOwner()
      if (metadata && scope?.metadata !== true) return yield* new NoKeyMetadata()
      const within = scope?.permissions ?? roles[role ?? ""] ?? []
      const wider = permissions?.find((permission) => !grants(within, permission))
      if (wider !== undefined) return yield* new NotGranted(wider)
      const { key, stored } = newKeyText(scope?.prefix ?? keyPrefix)
      const apiKey: ApiKey = {
        id: newId(),
        name,
        start: stored.start,
        prefix: stored.prefix,
        role,
        scope: asked.scope ?? null,
        permissions: permissions ?? null,
        userId: owner,
        enabled: true,
        expiresAt: asked.expiresAt ?? (scope === undefined ? null : expiryOf(scope, now)),
        lastRequest: null,
        requestCount: 0,
        metadata: metadata ?? null,
        createdAt: now
      }
      yield* repo.insert(apiKey, stored.hash)
      return { apiKey, key }
    })

    /** A key whose scope was removed has no permissions. */
    const mayTake = (actor: Actor, { role, scope }: ApiKey): boolean =>
      role === null
        ? scope === null || mayGive(actor, scopeNamed(keyScopes, scope)?.permissions ?? [])
        : mayGrant(actor, roles, role)

    /** 404 for an unknown key, 403 when its role or scope has more permissions than the actor. */
    const revoke = Effect.fn("ApiKeys.revoke")(function*(id: ApiKeyId) {
      const found = (yield* repo.find(id)) ?? (yield* new ApiKeyNotFound())
      if (!mayTake(yield* CurrentActor, found)) {
        return yield* found.role === null
          ? new TooPowerful("scope", String(found.scope), "take it away")
          : new TooPowerful("role", found.role, "take it away")
      }
      if (!(yield* repo.remove(id))) return yield* new ApiKeyNotFound()
      // This process must not wait for the trigger's notification.
      yield* caches.forgetAll
    })

    return { create, list: repo.list, revoke }
  })
}) {
  static readonly layer = Layer.effect(ApiKeys, ApiKeys.make)
}
