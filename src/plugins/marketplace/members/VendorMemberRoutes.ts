import { Schema } from "effect"
import { group, Text, Uuid } from "stoa/plugin"
import { owners, ownVendor } from "../parties/VendorPortal.ts"
import { addMember, changeMember, listMembers, removeMember, vendorMembers } from "./VendorMembers.ts"

const g = group("Marketplace vendors", "/marketplace")
const admin = { permission: "marketplace:admin", success: vendorMembers.Row }
const role = vendorMembers.columns.role.schema

export const memberRoutes = [
  g.list("/vendors/:id/members", { ...admin, summary: "List people who act for a vendor" })
    .handle(({ page, params }) => listMembers(params.id, page)),
  g.post("/vendors/:id/members", {
    ...admin,
    summary: "Let a person act for a vendor, named by id or by confirmed address",
    input: Schema.Struct({
      userId: Schema.optional(Uuid),
      email: Schema.optional(Text),
      role: Schema.optional(role)
    })
  }).handle(({ input, params }) => addMember(params.id, input)),
  g.patch("/vendors/:id/members/:memberId", {
    ...admin,
    summary: "Say what somebody may do for a vendor",
    input: Schema.Struct({ role })
  }).handle(({ input, params }) => changeMember(params, input.role)),
  g.delete("/vendors/:id/members/:memberId", { ...admin, summary: "Let a person act for a vendor no more" })
    .handle(({ params }) => removeMember(params)),
  group("Marketplace vendor portal", "/marketplace").list("/vendor/me/members", {
    ...owners,
    summary: "List people who act for the own vendor",
    success: vendorMembers.Row
  }).handle(({ actor, page }) => listMembers(ownVendor(actor), page))
]
