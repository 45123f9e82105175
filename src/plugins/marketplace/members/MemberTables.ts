import { oneOf, table, text, uuid } from "stoa/plugin"
import { vendorRoles } from "../parties/VendorPortal.ts"
import { vendors } from "../vendors/VendorTables.ts"

/** People who act for a vendor; a person acts for one. `VendorPortal.ts` says what a `role` may do. */
export const vendorMembers = table("marketplace_vendor_members", {
  vendorId: uuid.references(vendors),
  userId: text.unique(),
  role: oneOf(vendorRoles).default("staff")
})
