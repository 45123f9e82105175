import { Schema } from "effect"
import { group, Text, Uuid } from "stoa/plugin"
import { owners, vendorRoles } from "../parties/VendorPortal.ts"
import { vendorMembers } from "./MemberTables.ts"

const g = group("Marketplace vendors", "/marketplace")
const permission = "marketplace:admin"
const Role = Schema.Literals(vendorRoles)

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
    role: Schema.optional(Role)
  }),
  success: vendorMembers.Row
})
export const changeMember = g.patch("/vendors/:id/members/:memberId", {
  summary: "Say what somebody may do for a vendor",
  permission,
  input: Schema.Struct({ role: Role }),
  success: vendorMembers.Row
})
export const removeMember = g.delete("/vendors/:id/members/:memberId", {
  summary: "Let a person act for a vendor no more",
  permission,
  success: vendorMembers.Row
})

export const listOwnMembers = group("Marketplace vendor portal", "/marketplace").list("/vendor/me/members", {
  summary: "List people who act for the own vendor",
  ...owners,
  success: vendorMembers.Row
})
