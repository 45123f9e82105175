import { Clock, Context, Effect, Layer } from "effect"
import { CacheInvalidation } from "../access/CacheInvalidation.ts"
import { OrganizationRepo } from "./OrganizationRepo.ts"

/** How many organizations a process remembers, and for how long (contract, platform §6: 60 s). */
const memory = { capacity: 1_000, lifeMs: 60_000 }

/** Longer than any organization id, to limit the look-up of an id from a request. */
const maxIdLength = 128

/** Which organizations there are. */
export class Organizations extends Context.Service<Organizations, {
  /** Cached for a minute, because every request a store resolver answers needs it. */
  readonly exists: (id: string) => Effect.Effect<boolean>
}>()("stoa/domain/tenancy/Organizations") {
  static readonly layer = Layer.effect(
    Organizations,
    Effect.gen(function*() {
      const repo = yield* OrganizationRepo
      const cache = (yield* CacheInvalidation).open<boolean>(memory)
      return {
        exists: Effect.fnUntraced(function*(id: string) {
          if (id === "" || id.length > maxIdLength || id.includes("\0")) return false
          const now = yield* Clock.currentTimeMillis
          const known = cache.find(id, now)
          if (known !== undefined) return known
          const since = cache.changes
          const found = yield* repo.exists(id)
          cache.keep(id, found, [`o${id}`], now, since)
          return found
        })
      }
    })
  )
}
