import { Context, Effect, Layer } from "effect"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import { isUuid } from "../ids/Id.ts"
import type { CurrentActor } from "./Actor.ts"
import { CacheInvalidation } from "./CacheInvalidation.ts"
import { type KnownUser, type SoughtUser, UserRepo } from "./UserRepo.ts"

/**
 * People as plugins see them (contract, plugins §1.9). An organization reaches those only whom it knows: its members, and
 * whoever has a profile there. Everybody else reads as 404, so that nobody can look up who has signed up elsewhere.
 */
export class Users extends Context.Service<Users, {
  /** By id, or by an address that he has confirmed. Undefined for whoever the organization does not know. */
  readonly known: (sought: SoughtUser) => Effect.Effect<KnownUser | undefined, never, CurrentActor>
  /**
   * Makes a user act for a vendor (`actor.vendorId`, `actor.vendorRole`) and does the work in the same transaction. His sessions know it at
   * once, in all processes. 404 for whoever the organization does not know, 409 for whoever acts for a vendor already, of
   * whichever store: a person acts for one.
   */
  readonly actFor: <A, E, R>(
    userId: string,
    vendorId: string,
    work: Effect.Effect<A, E, R>,
    role?: string
  ) => Effect.Effect<A, E | NotFound | Conflict, R | CurrentActor>
  /** Makes him something else there, in the same way; 404 for whoever does not act for this vendor. */
  readonly actAs: <A, E, R>(
    userId: string,
    acting: { readonly vendorId: string; readonly role: string },
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | NotFound, R | CurrentActor>
  /** Ends that and does the work in the same transaction; whoever acts for another vendor, or is gone, stays as he is. */
  readonly endActing: <A, E, R>(
    userId: string,
    vendorId: string,
    work: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E, R | CurrentActor>
}>()("stoa/domain/access/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function*() {
      const repo = yield* UserRepo
      const caches = yield* CacheInvalidation
      // After the commit: what is read anew before it is the old state. Other processes hear of it by the trigger.
      const forget = (userId: string) => caches.forget(`u${userId.toLowerCase()}`)

      const known = (sought: SoughtUser) =>
        sought.userId !== undefined && !isUuid(sought.userId) ? Effect.succeed(undefined) : repo.known(sought)

      const actFor = Effect.fn("Users.actFor")(
        function*<A, E, R>(userId: string, vendorId: string, work: Effect.Effect<A, E, R>, role: string | null = null) {
          if ((yield* known({ userId })) === undefined) return yield* unknown
          const changed = yield* repo.actFor(userId, { from: null, to: vendorId, role }, work)
          if (!changed.done) return yield* Conflict.of("This person acts for a vendor already.")
          yield* forget(userId)
          return changed.result
        }
      )

      const actAs = Effect.fn("Users.actAs")(
        function*<A, E, R>(
          userId: string,
          { role, vendorId }: { readonly vendorId: string; readonly role: string },
          work: Effect.Effect<A, E, R>
        ) {
          if (!isUuid(userId)) return yield* unknown
          const changed = yield* repo.actFor(userId, { from: vendorId, to: vendorId, role }, work)
          if (!changed.done) return yield* unknown
          yield* forget(userId)
          return changed.result
        }
      )

      const endActing = Effect.fn("Users.endActing")(
        function*<A, E, R>(userId: string, vendorId: string, work: Effect.Effect<A, E, R>) {
          if (!isUuid(userId)) return yield* work
          const changed = yield* repo.actFor(userId, { from: vendorId, to: null, role: null }, work)
          if (!changed.done) return yield* work
          yield* forget(userId)
          return changed.result
        }
      )

      return { known, actFor, actAs, endActing }
    })
  )
}

const unknown = NotFound.of("The store knows no such person.")
