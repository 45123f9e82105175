import { Context, DateTime, Effect, Layer } from "effect"
import { Forbidden, NotFound } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import { StoreSettings } from "../settings/StoreSettings.ts"
import { type Actor, CurrentActor } from "./Actor.ts"
import { type ApiKey, type NewApiKey, newKeyText } from "./ApiKey.ts"
import { ApiKeyRepo } from "./ApiKeyRepo.ts"
import { CacheInvalidation } from "./CacheInvalidation.ts"
import { mayGive, mayGrant } from "./Granting.ts"
import { kindAskedFor } from "./KeyRequest.ts"
import { scopeNamed } from "./KeyScope.ts"

/** The keys of an organization (contract, platform §4). */
export class ApiKeys extends Context.Service<ApiKeys>()("stoa/domain/access/ApiKeys", {
  make: Effect.gen(function*() {
    const repo = yield* ApiKeyRepo
    const settings = yield* StoreSettings
    const caches = yield* CacheInvalidation

    /**
     * Returns the key with its text, which is shown only now. 422 for an unknown role or scope, an empty name, an end
     * in the past or permissions beyond the role or scope; 403 for a role or scope with more permissions than the
     * actor, and where keys are disabled.
     */
    const create = Effect.fn("ApiKeys.create")(function*(asked: NewApiKey) {
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const { prefix: wanted, ...kind } = yield* kindAskedFor(yield* CurrentActor, settings, asked, now)
      const { key, stored } = newKeyText(wanted)
      const apiKey: ApiKey = {
        ...kind,
        id: newId(),
        name: asked.name.trim(),
        start: stored.start,
        prefix: stored.prefix,
        permissions: asked.permissions ?? null,
        enabled: true,
        lastRequest: null,
        requestCount: 0,
        createdAt: now
      }
      yield* repo.insert(apiKey, stored)
      return { apiKey, key }
    })

    /** Whether the actor could have created the key. A key whose scope was removed has no permissions. */
    const mayTake = (actor: Actor, { role, scope }: ApiKey): boolean =>
      role === null
        ? scope === null || mayGive(actor, scopeNamed(settings.keyScopes, scope)?.permissions ?? [])
        : mayGrant(actor, settings.roles, role)

    /**
     * Invalidates the key in all processes. 404 for an unknown key, 403 when its role or scope has more permissions
     * than the actor.
     */
    const revoke = Effect.fn("ApiKeys.revoke")(function*(id: string) {
      const found = (yield* repo.find(id)) ?? (yield* NotFound.of("API key not found."))
      if (!mayTake(yield* CurrentActor, found)) {
        const kind = found.role === null ? `scope '${found.scope}'` : `role '${found.role}'`
        return yield* Forbidden.of(`The ${kind} may more than you: you cannot take it away.`)
      }
      if (!(yield* repo.remove(id))) return yield* NotFound.of("API key not found.")
      // The trigger notifies other processes; this process must not wait for the notification.
      yield* caches.forgetAll
    })

    return { create, list: repo.list, revoke }
  })
}) {
  static readonly layer = Layer.effect(ApiKeys, ApiKeys.make)
}
