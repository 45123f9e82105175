import { Effect } from "effect"
import { invalid, notFound, oneOf, type PageRequest, type RowOf, table, text, uuid } from "stoa/plugin"
import { Market } from "../Market.ts"
import { vendorRoles } from "../parties/VendorPortal.ts"
import { vendors } from "../vendors/Vendor.ts"

class OneWayToName extends invalid("OneWayToName", "userId", "name a person by either userId or email") {}
class PersonNotFound extends notFound("Person", "The store knows no such person.") {}

/** People who act for a vendor; a person acts for one. `VendorPortal.ts` says what a `role` may do. */
export const vendorMembers = table("marketplace_vendor_members", {
  vendorId: uuid.references(vendors),
  userId: text.unique(),
  role: oneOf(vendorRoles).default("staff")
})

type Role = RowOf<typeof vendorMembers>["role"]

/** The person who is to act for a vendor, by id or by verified email address. */
export interface NewMember {
  readonly userId?: string | undefined
  readonly email?: string | undefined
  readonly role?: Role | undefined
}

export const listMembers = (vendorId: string, page: PageRequest) =>
  Market.use(({ db }) =>
    Effect.andThen(db.table(vendors).get(vendorId), db.table(vendorMembers).page({ vendorId }, page))
  )

/** 404 for an unknown vendor or person, 409 for a person who acts for a vendor already. */
export const addMember = Effect.fn("VendorMembers.add")(
  function*(vendorId: string, { email, role = "staff", userId }: NewMember) {
    const { db, host: { services: { users } } } = yield* Market
    if ((userId === undefined) === (email === undefined)) return yield* new OneWayToName()
    yield* db.table(vendors).get(vendorId)
    const person = yield* users.known({ userId, email })
    if (person === undefined) return yield* new PersonNotFound()
    const member = db.table(vendorMembers).insert({ vendorId, userId: person.id, role })
    return yield* users.actFor(person.id, vendorId, member, role)
  }
)

/** A member of a vendor, as a path names it. */
interface OfVendor {
  readonly id: string
  readonly memberId: string
}

/** Changes a person's role; their sessions have it at once. 404. */
export const changeMember = Effect.fn("VendorMembers.change")(
  function*({ id: vendorId, memberId }: OfVendor, role: Role) {
    const { db, host } = yield* Market
    const which = { id: memberId, vendorId }
    const { userId } = yield* db.table(vendorMembers).get(which)
    return yield* host.services.users.actAs(userId, { vendorId, role }, db.table(vendorMembers).update(which, { role }))
  }
)

/** Their sessions act for the vendor no more. 404. */
export const removeMember = Effect.fn("VendorMembers.remove")(function*({ id: vendorId, memberId }: OfVendor) {
  const { db, host } = yield* Market
  const { userId } = yield* db.table(vendorMembers).get({ id: memberId, vendorId })
  return yield* host.services.users.endActing(userId, vendorId, db.table(vendorMembers).delete(memberId))
})
