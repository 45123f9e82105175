import { Context, Effect, Layer } from "effect"
import { CacheInvalidation } from "../access/CacheInvalidation.ts"
import { conflict, notFound } from "../errors/ErrorKinds.ts"
import { isUuid } from "../ids/Id.ts"
import { type ActingChange, type SoughtUser, UserRepo } from "./UserRepo.ts"

export class PersonNotFound extends notFound("Person", "The store knows no such person.") {}
export class ActsForVendor extends conflict("ActsForVendor", "This person acts for a vendor already.") {}

/**
 * Users for plugins (contract, plugins §1.9). An organization reaches only its members and users with a profile there.
 * All others read as 404, so that it cannot look up who has signed up elsewhere.
 */
export class Users extends Context.Service<Users>()("stoa/domain/platform/credentials/Users", {
  make: Effect.gen(function*() {
    const repo = yield* UserRepo
    const caches = yield* CacheInvalidation

    /** By id, or by a verified address. Undefined for a user who does not belong to the organization. */
    const known = (sought: SoughtUser) =>
      sought.userId !== undefined && !isUuid(sought.userId) ? Effect.succeed(undefined) : repo.known(sought)

    const acting = <A, E, R>(userId: string, change: ActingChange, work: Effect.Effect<A, E, R>) =>
      // After the commit: an earlier read would cache the old state. The trigger notifies other processes.
      Effect.tap(
        repo.actFor(userId, change, work),
        ({ done }) => done ? caches.forget(`u${userId.toLowerCase()}`) : Effect.void
      )

    /**
     * Makes a user act for a vendor (`actor.vendorId`, `actor.vendorRole`) and runs the work in the same transaction.
     * Their sessions change at once in all processes. 404 for a user outside the organization, 409 for one who acts for
     * a vendor of any store: a user acts for one only.
     */
    const actFor = Effect.fn("Users.actFor")(
      function*<A, E, R>(userId: string, vendorId: string, work: Effect.Effect<A, E, R>, role: string | null = null) {
        if ((yield* known({ userId })) === undefined) return yield* new PersonNotFound()
        const changed = yield* acting(userId, { from: null, to: vendorId, role }, work)
        return changed.done ? changed.result : yield* new ActsForVendor()
      }
    )

    /** Changes their role there in the same way; 404 for a user who does not act for this vendor. */
    const actAs = Effect.fn("Users.actAs")(
      function*<A, E, R>(
        userId: string,
        { role, vendorId }: { readonly vendorId: string; readonly role: string },
        work: Effect.Effect<A, E, R>
      ) {
        if (!isUuid(userId)) return yield* new PersonNotFound()
        const changed = yield* acting(userId, { from: vendorId, to: vendorId, role }, work)
        return changed.done ? changed.result : yield* new PersonNotFound()
      }
    )

    /**
     * Ends the assignment and runs the work in the same transaction. A user who acts for another vendor, or is gone,
     * stays unchanged.
     */
    const endActing = Effect.fn("Users.endActing")(
      function*<A, E, R>(userId: string, vendorId: string, work: Effect.Effect<A, E, R>) {
        if (!isUuid(userId)) return yield* work
        const changed = yield* acting(userId, { from: vendorId, to: null, role: null }, work)
        return changed.done ? changed.result : yield* work
      }
    )

    return { known, actFor, actAs, endActing }
  })
}) {
  static readonly layer = Layer.effect(Users, Users.make)
}
