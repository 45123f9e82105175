import { Context, Effect, Layer } from "effect"
import { invalid, notFound, type PageRequest, PluginDatabase, PluginHost, RowNotFound, type RowOf } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"
import { vendorMembers } from "./MemberTables.ts"

class OneWayToName extends invalid("OneWayToName", "userId", "name a person by either userId or email") {}
class PersonNotFound extends notFound("Person", "The store knows no such person.") {}

type Member = RowOf<typeof vendorMembers>

/** The person who is to act for a vendor, by id or by verified email address. */
export interface NewMember {
  readonly userId?: string | undefined
  readonly email?: string | undefined
  readonly role?: Member["role"] | undefined
}

/** People who act for vendors (contract, plugins §1.9): their sessions carry the vendor's id, `actor.vendorId`, and their role. */
export class VendorMembers extends Context.Service<VendorMembers>()("stoa/plugins/marketplace/members/VendorMembers", {
  make: Effect.suspend(() => make)
}) {
  static readonly layer = Layer.effect(VendorMembers, VendorMembers.make)
}

const make = Effect.gen(function*() {
  const db = yield* PluginDatabase
  const host = yield* PluginHost

  const list = (vendorId: string, page: PageRequest) =>
    Effect.andThen(db.table(vendors).get(vendorId), db.table(vendorMembers).page({ vendorId }, page))

  /** 404 for an unknown vendor or person, 409 for a person who acts for a vendor already. */
  const add = Effect.fn("VendorMembers.add")(function*(vendorId: string, { email, role = "staff", userId }: NewMember) {
    if ((userId === undefined) === (email === undefined)) {
      return yield* new OneWayToName()
    }
    yield* db.table(vendors).get(vendorId)
    const { users } = host.services
    const person = yield* users.known({ userId, email })
    if (person === undefined) return yield* new PersonNotFound()
    return yield* users.actFor(
      person.id,
      vendorId,
      db.table(vendorMembers).insert({ vendorId, userId: person.id, role }),
      role
    )
  })

  /** Changes a person's role; their sessions have it at once. 404. */
  const change = Effect.fn("VendorMembers.change")(function*(vendorId: string, memberId: string, role: Member["role"]) {
    const member = yield* db.table(vendorMembers).first({ id: memberId, vendorId })
    if (member === undefined) return yield* new RowNotFound()
    const changed = db.table(vendorMembers).update({ id: memberId, vendorId }, { role })
    return yield* host.services.users.actAs(member.userId, { vendorId, role }, changed)
  })

  const remove = Effect.fn("VendorMembers.remove")(function*(vendorId: string, memberId: string) {
    const member = yield* db.table(vendorMembers).first({ id: memberId, vendorId })
    if (member === undefined) return yield* new RowNotFound()
    return yield* host.services.users.endActing(member.userId, vendorId, db.table(vendorMembers).delete(memberId))
  })

  return { list, add, change, remove }
})
