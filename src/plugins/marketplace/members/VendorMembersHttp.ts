import { Effect } from "effect"
import { ownVendor } from "../parties/VendorPortal.ts"
import { VendorMembers } from "./VendorMembers.ts"
import { addMember, changeMember, listMembers, listOwnMembers, removeMember } from "./VendorMembersApi.ts"

/** Answers to the routes of `VendorMembersApi.ts`. */
export const memberRoutes = [
  listMembers.handle(({ page, params }) => Effect.flatMap(VendorMembers, (members) => members.list(params.id, page))),
  addMember.handle(({ input, params }) => Effect.flatMap(VendorMembers, (members) => members.add(params.id, input))),
  changeMember.handle(({ input, params }) =>
    Effect.flatMap(VendorMembers, (members) => members.change(params.id, params.memberId, input.role))
  ),
  listOwnMembers.handle(({ actor, page }) =>
    Effect.flatMap(VendorMembers, (members) => members.list(ownVendor(actor), page))
  ),
  removeMember.handle(({ params }) =>
    Effect.flatMap(VendorMembers, (members) => members.remove(params.id, params.memberId))
  )
]
