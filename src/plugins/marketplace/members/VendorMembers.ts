import { Effect, Schema } from "effect"
import { group, invalid, listOf, Mailbox, notFound, oneOf, type RowOf, table, text, Uuid, uuid } from "stoa/plugin"
import { Market, permission } from "../Market.ts"
import { owners, vendorRoles } from "../parties/VendorPortal.ts"
import { ofKnownOwnVendor, ofVendor } from "../parties/VendorRows.ts"
import { vendors } from "../vendors/Vendor.ts"

class OneWayToName extends invalid("OneWayToName", "userId", "Name a person by either userId or email.") {}
class PersonNotFound extends notFound("Person", "The store knows no such person.") {}

/** People who act for a vendor; a person acts for one. `VendorPortal.ts` says what a `role` may do. */
export const vendorMembers = table("marketplace_vendor_members", {
  vendorId: uuid.references(vendors),
  userId: text.unique().about("User who acts for the vendor."),
  role: oneOf(vendorRoles).default("staff").about("Rights of the user with the vendor.")
})

type Role = RowOf<typeof vendorMembers>["role"]

/** The person who is to act for a vendor, by id or by verified email address. */
const NewMember = Schema.Struct({
  userId: Schema.optional(Uuid),
  email: Schema.optional(Mailbox),
  role: Schema.optional(vendorMembers.columns.role.schema)
})

/** 404 for an unknown vendor or person, 409 for a person who acts for a vendor already. */
const addMember = Effect.fn("VendorMembers.add")(
  function*(vendorId: string, { email, role = "staff", userId }: typeof NewMember.Type) {
    const { db, host: { services: { users } } } = yield* Market
    if ((userId === undefined) === (email === undefined)) return yield* new OneWayToName()
    yield* db.table(vendors).get(vendorId)
    const person = yield* users.known({ userId, email })
    if (person === undefined) return yield* new PersonNotFound()
    const member = db.table(vendorMembers).insert({ vendorId, userId: person.id, role })
    return yield* users.actFor(person.id, vendorId, member, role)
  }
)

type OfVendor = Readonly<Record<"id" | "memberId", string>>

/** Changes a person's role; their sessions have it at once. 404. */
const changeMember = Effect.fn("VendorMembers.change")(
  function*({ id: vendorId, memberId }: OfVendor, role: Role) {
    const { db, host } = yield* Market
    const which = { id: memberId, vendorId }
    const { userId } = yield* db.table(vendorMembers).get(which)
    return yield* host.services.users.actAs(userId, { vendorId, role }, db.table(vendorMembers).update(which, { role }))
  }
)

/** Their sessions act for the vendor no more. 404. */
const removeMember = Effect.fn("VendorMembers.remove")(function*({ id: vendorId, memberId }: OfVendor) {
  const { db, host } = yield* Market
  const { userId } = yield* db.table(vendorMembers).get({ id: memberId, vendorId })
  return yield* host.services.users.endActing(userId, vendorId, db.table(vendorMembers).delete(memberId))
})

const g = group("Marketplace vendors", "/marketplace")
const admin = { permission, success: vendorMembers.Row }

export const memberRoutes = [
  listOf(g, "/vendors/:id/members", vendorMembers, {
    permission,
    summary: "List people who act for a vendor",
    visible: ofVendor
  }),
  g.post("/vendors/:id/members", {
    ...admin,
    summary: "Add a person to a vendor, by id or by confirmed address",
    input: NewMember
  }).handle(({ input, params }) => addMember(params.id, input)),
  g.patch("/vendors/:id/members/:memberId", {
    ...admin,
    summary: "Change the rights of a person with a vendor",
    input: Schema.Struct({ role: vendorMembers.columns.role.schema })
  }).handle(({ input, params }) => changeMember(params, input.role)),
  g.delete("/vendors/:id/members/:memberId", { ...admin, summary: "Remove a person from a vendor" })
    .handle(({ params }) => removeMember(params)),
  listOf(group("Marketplace vendor portal", "/marketplace"), "/vendor/me/members", vendorMembers, {
    ...owners,
    summary: "List people who act for the own vendor",
    visible: ofKnownOwnVendor
  })
]
