import { Schema } from "effect"
import { group, Text, Uuid } from "stoa/plugin"
import { memberRoles, vendorMembers } from "./MemberTables.ts"

const g = group("Marketplace vendors", "/marketplace")
const permission = "marketplace:admin"

export const listMembers = g.list("/vendors/:id/members", {
  summary: "List people who act for a vendor",
  permission,
  success: vendorMembers.Row
})
export const addMember = g.post("/vendors/:id/members", {
  summary: "Let a person act for a vendor, named by id or by confirmed address",
  permission,
  input: Schema.Struct({
    userId: Schema.optional(Uuid),
    email: Schema.optional(Text),
    role: Schema.optional(Schema.Literals(memberRoles))
  }),
  success: vendorMembers.Row
})
export const removeMember = g.delete("/vendors/:id/members/:memberId", {
  summary: "Let a person act for a vendor no more",
  permission,
  success: vendorMembers.Row
})
