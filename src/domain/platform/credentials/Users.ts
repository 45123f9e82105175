import { Context, Effect, Layer } from "effect"
import { CacheInvalidation } from "../access/CacheInvalidation.ts"
import { conflict, notFound } from "../errors/ErrorKinds.ts"
import { isUuid } from "../ids/Id.ts"
import { type ActingChange, type SoughtUser, UserRepo } from "./UserRepo.ts"

export class PersonNotFound extends notFound("Person", "The store knows no such person.") {}
export class ActsForVendor extends conflict("ActsForVendor", "This person acts for a vendor already.") {}

/**
 * Users for plugins (contract, plugins §1.9). An organization reaches its members and users with a profile there; all
 * others read as 404.
 */
export class Users extends Context.Service<Users>()("stoa/domain/platform/credentials/Users", {
  make: Effect.gen(function*() {
    const repo = yield* UserRepo
    const caches = yield* CacheInvalidation

    /** By id or verified address; undefined for a user outside the organization. */
    const known = (sought: SoughtUser) =>
      sought.userId !== undefined && !isUuid(sought.userId) ? Effect.succeed(undefined) : repo.known(sought)

    const acting = <A, E, R>(userId: string, change: ActingChange, work: Effect.Effect<A, E, R>) =>
      // After the commit: an earlier read would cache the old state.
      Effect.tap(
        repo.actFor(userId, change, work),
        ({ done }) => done ? caches.forget(`u${userId.toLowerCase()}`) : Effect.void
      )

    /**
     * Makes a user act for a vendor and runs the work in the same transaction. 404 for a user outside the organization,
     * 409 for one who acts for a vendor of any store.
     */
    const actFor = Effect.fn("Users.actFor")(
      function*<A, E, R>(userId: string, vendorId: string, work: Effect.Effect<A, E, R>, role: string | null = null) {
        if ((yield* known({ userId })) === undefined) return yield* new PersonNotFound()
        const changed = yield* acting(userId, { from: null, to: vendorId, role }, work)
        return changed.done ? changed.result : yield* new ActsForVendor()
      }
    )

    /** Changes their role at the vendor; 404 for a user who does not act for it. */
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

    /** Ends the assignment and runs the work in the same transaction. Users of other vendors stay unchanged. */
    const endActing = Effect.fn("Users.endActing")(
      function*<A, E, R>(userId: string, vendorId: string, work: Effect.Effect<A, E, R>) {
        if (!isUuid(userId)) return yield* work
        const changed = yield* acting(userId, { from: vendorId, to: null, role: null }, work)
        return changed.done ? changed.result : yield* work
      }
    )

    /** Whether a user belongs to the staff of the organization now. */
    const isMember = (userId: string) => isUuid(userId) ? repo.isMember(userId) : Effect.succeed(false)

    /** Members of the organization with one of these roles and a verified address, at most 100, to write to. */
    const withRoles = (roles: ReadonlyArray<string>) =>
      roles.length === 0 ? Effect.succeed([]) : repo.withRoles(roles, 100)

    return { isMember, known, withRoles, actFor, actAs, endActing }
  })
}) {
  static readonly layer = Layer.effect(Users, Users.make)
}
