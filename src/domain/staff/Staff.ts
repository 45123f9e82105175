import { Context, DateTime, Effect, Layer } from "effect"
import { type Actor, CurrentActor } from "../platform/access/Actor.ts"
import { CacheInvalidation } from "../platform/access/CacheInvalidation.ts"
import { mayGrant, requireGrantable, type Roles, TooPowerful } from "../platform/access/Permission.ts"
import { Users } from "../platform/credentials/Users.ts"
import { forbidden, invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { isUuid, newId } from "../platform/ids/Id.ts"
import { wholeList } from "../platform/paging/Paging.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import { emailKey } from "../platform/text/Email.ts"
import type { Invitation } from "./StaffMember.ts"
import { type MemberState, StaffRepo } from "./StaffRepo.ts"

export class MemberNotFound extends notFound("Member", "Member not found.") {}
export class UnknownPerson extends notFound("UnknownPerson", "The organization knows no such person. Invite them.") {}
export class AlreadyMember extends invalid("AlreadyMember", "userId", "is a member already.", "already_member") {}
export class LastOwner
  extends invalid("LastOwner", "role", "role of the last owner must stay: name another owner first.", "last_owner")
{}
export class InviterWithoutUser
  extends forbidden("InviterWithoutUser", "Only a signed-in user can invite: an invitation says whose it is.")
{}

/** 403 for a member above the actor; 422 for the last owner (contract, platform §6). */
const requireChangeable = Effect.fnUntraced(
  function*(actor: Actor, roles: Roles, { owners, role }: MemberState, to: string | null) {
    if (!mayGrant(actor, roles, role)) return yield* new TooPowerful("role", role, "take it away")
    if (role === "owner" && to !== "owner" && owners <= 1) return yield* new LastOwner()
    if (to !== null) yield* requireGrantable(actor, roles, to)
  }
)

/** Members of an organization and their roles (contract, platform §6, staff routes). */
export class Staff extends Context.Service<Staff>()("stoa/domain/staff/Staff", {
  make: Effect.gen(function*() {
    const repo = yield* StaffRepo
    const { roles } = yield* StoreSettings
    const caches = yield* CacheInvalidation
    const users = yield* Users

    /** A demoted member must not keep inviting others to their previous role. */
    const losesRank = (from: string, to: string | null): boolean =>
      to === null || !mayGrant({ role: to, permissions: roles[to] ?? [] }, roles, from)

    /**
     * 404 for a user without relation to the organization: the response shows a personal address. 422 for a member or
     * an unknown role, 403 for a role above the actor's.
     */
    const add = Effect.fn("Staff.add")(function*(userId: string, role: string) {
      yield* requireGrantable(yield* CurrentActor, roles, role)
      const person = yield* users.known({ userId })
      const added = person === undefined ? { _tag: "NoUser" } as const : yield* repo.add(newId(), userId, role)
      if (added._tag === "NoUser") return yield* new UnknownPerson()
      if (added._tag === "Member") return yield* new AlreadyMember()
      yield* caches.forget(`u${userId}`)
      return added.member
    })

    const change = Effect.fnUntraced(function*(id: string, to: string | null) {
      const actor = yield* CurrentActor
      const member = yield* repo.change(id, to, (state) => requireChangeable(actor, roles, state, to), losesRank)
      if (member === undefined) return yield* new MemberNotFound()
      // The trigger notifies the other processes; this process updates immediately.
      yield* caches.forget(`u${member.userId}`)
      return member
    })

    /**
     * Sends no mail. 422 for an unknown role; 403 for a role above the actor's, and for actors who are not signed-in
     * users.
     */
    const invite = Effect.fn("Staff.invite")(function*(email: string, role: string) {
      const actor = yield* CurrentActor
      yield* requireGrantable(actor, roles, role)
      if (actor.type !== "user" || actor.userId === null || !isUuid(actor.userId)) {
        return yield* new InviterWithoutUser()
      }
      const now = yield* DateTime.now
      const invitation: Invitation = {
        id: newId(),
        organizationId: actor.organizationId,
        email: emailKey(email),
        role,
        status: "pending",
        expiresAt: DateTime.toDateUtc(DateTime.add(now, { days: 7 })),
        createdAt: DateTime.toDateUtc(now),
        inviterId: actor.userId
      }
      yield* repo.invite(invitation)
      return invitation
    })

    return {
      list: repo.list,
      roles: wholeList(Object.entries(roles).map(([role, permissions]) => ({ role, permissions }))),
      add,
      /** 404; 422 for the last owner or an unknown role; 403 for a member or a role above the actor. */
      changeRole: change,
      /** 404; 422 for the last owner; 403 for a member above the actor. */
      remove: (id: string) => Effect.asVoid(change(id, null)),
      invitations: repo.invitations,
      invite
    }
  })
}) {
  static readonly layer = Layer.effect(Staff, Staff.make)
}
