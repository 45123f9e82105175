import { Effect } from "effect"
import { VendorMembers } from "./VendorMembers.ts"
import { addMember, listMembers, removeMember } from "./VendorMembersApi.ts"

/** Answers to the routes of `VendorMembersApi.ts`. */
export const memberRoutes = [
  listMembers.handle(({ page, params }) => Effect.flatMap(VendorMembers, (members) => members.list(params.id, page))),
  addMember.handle(({ input, params }) => Effect.flatMap(VendorMembers, (members) => members.add(params.id, input))),
  removeMember.handle(({ params }) =>
    Effect.flatMap(VendorMembers, (members) => members.remove(params.id, params.memberId))
  )
]
