import { Context, Effect, Layer } from "effect"
import { cachedOr, CacheInvalidation } from "../access/CacheInvalidation.ts"
import { OrganizationRepo } from "./OrganizationRepo.ts"

/** Maximum cached organizations, and their lifetime in the cache (contract, platform §6: 60 s). */
const limits = { capacity: 1_000, lifeMs: 60_000 }

/** Longer than any organization id, to limit the look-up of an id from a request. */
const maxIdLength = 128

/** Which organizations there are. */
export class Organizations extends Context.Service<Organizations>()("stoa/domain/tenancy/Organizations", {
  make: Effect.gen(function*() {
    const repo = yield* OrganizationRepo
    const cache = (yield* CacheInvalidation).open<boolean>(limits)
    return {
      /** Cached for a minute, because every request a store resolver answers needs it. */
      exists: Effect.fnUntraced(function*(id: string) {
        if (id === "" || id.length > maxIdLength || id.includes("\0")) return false
        return yield* cachedOr(cache, id, `o${id}`, repo.exists(id))
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Organizations, Organizations.make)
}
