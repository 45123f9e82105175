import { Context, DateTime, Effect, Layer } from "effect"
import { Forbidden, NotFound, ValidationFailed } from "../errors/ApiErrors.ts"
import { newId } from "../ids/Id.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { StoreSettings } from "../settings/StoreSettings.ts"
import { CurrentActor } from "./Actor.ts"
import { type ApiKey, type NewApiKey, newKeyText } from "./ApiKey.ts"
import { ApiKeyRepo } from "./ApiKeyRepo.ts"
import { isRole, mayGrant } from "./Granting.ts"
import { WatchedCaches } from "./WatchedCaches.ts"

/** A key that was just made, with its text: the only time that it is shown. */
export interface MadeApiKey {
  readonly apiKey: ApiKey
  readonly key: string
}

/** The keys of an organization (contract, platform §4). */
export class ApiKeys extends Context.Service<ApiKeys, {
  /** 422 for an unknown role, an empty name or an end that has passed, 403 for a role that may more than the actor. */
  readonly create: (input: NewApiKey) => Effect.Effect<MadeApiKey, ValidationFailed | Forbidden, CurrentActor>
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<ApiKey>, never, CurrentActor>
  /** The key opens nothing any more, in any process. 404 without it, 403 when its role may more than the actor. */
  readonly revoke: (id: string) => Effect.Effect<void, NotFound | Forbidden, CurrentActor>
}>()("stoa/domain/access/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function*() {
      const repo = yield* ApiKeyRepo
      const { roles } = yield* StoreSettings
      const caches = yield* WatchedCaches

      const create = Effect.fn("ApiKeys.create")(function*({ expiresAt, name, role }: NewApiKey) {
        const now = DateTime.toDateUtc(yield* DateTime.now)
        if (name.trim() === "" || name.length > 64) {
          return yield* ValidationFailed.of("name", "must have 1 to 64 letters")
        }
        if (!isRole(roles, role)) {
          return yield* ValidationFailed.of("role", `must be one of ${Object.keys(roles).join(", ")}`, "unknown_role")
        }
        if (expiresAt !== null && expiresAt <= now) return yield* ValidationFailed.of("expiresAt", "must lie ahead")
        if (!mayGrant(yield* CurrentActor, roles, role)) {
          return yield* Forbidden.of(`The role '${role}' may more than you: you cannot give it.`)
        }
        const { key, stored } = newKeyText()
        const apiKey: ApiKey = {
          id: newId(),
          name: name.trim(),
          start: stored.start,
          prefix: stored.prefix,
          role,
          permissions: null,
          enabled: true,
          expiresAt,
          lastRequest: null,
          requestCount: 0,
          createdAt: now
        }
        yield* repo.insert(apiKey, stored)
        return { apiKey, key }
      })

      const revoke = Effect.fn("ApiKeys.revoke")(function*(id: string) {
        const found = (yield* repo.find(id)) ?? (yield* NotFound.of("API key not found."))
        if (found.role !== null && !mayGrant(yield* CurrentActor, roles, found.role)) {
          return yield* Forbidden.of(`The role '${found.role}' may more than you: you cannot take it away.`)
        }
        if (!(yield* repo.remove(id))) return yield* NotFound.of("API key not found.")
        // The others hear of it by the trigger; here nobody waits for that.
        yield* caches.forgetAll
      })

      return { create, list: repo.list, revoke }
    })
  )
}
