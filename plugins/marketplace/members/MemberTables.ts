import { oneOf, table, text, uuid } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"

export const memberRoles = ["owner", "manager", "staff"] as const

/** People who act for a vendor; a person acts for one. */
export const vendorMembers = table("marketplace_vendor_members", {
  vendorId: uuid.references(vendors),
  userId: text.unique(),
  role: oneOf(memberRoles).default("staff")
})
