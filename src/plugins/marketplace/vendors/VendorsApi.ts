import { Schema } from "effect"
import { FreeText, group } from "stoa/plugin"
import { NewVendor, Refusal, VendorChange, VendorView } from "./Vendor.ts"
import { tiers, vendorStatuses } from "./VendorTables.ts"

const g = group("Marketplace vendors", "/marketplace")
const permission = "marketplace:admin"

export const listVendors = g.list("/vendors", {
  summary: "List vendors",
  permission,
  query: {
    status: Schema.optional(Schema.Literals(vendorStatuses)),
    tier: Schema.optional(Schema.Literals(tiers)),
    search: Schema.optional(FreeText.annotate({ description: "A part of the name or the address." }))
  },
  success: VendorView
})
export const createVendor = g.post("/vendors", {
  summary: "Add a vendor; it is pending until it is approved",
  permission,
  input: NewVendor,
  success: VendorView
})
export const readVendor = g.get("/vendors/:id", { summary: "Read a vendor", permission, success: VendorView })
export const changeVendor = g.patch("/vendors/:id", {
  summary: "Change a vendor; bank account and keys of its shop are kept and never shown",
  permission,
  input: VendorChange,
  success: VendorView
})
export const approveVendor = g.post("/vendors/:id/approve", {
  summary: "Approve a pending vendor",
  permission,
  success: VendorView
})
export const rejectVendor = g.post("/vendors/:id/reject", {
  summary: "Reject a pending vendor",
  permission,
  input: Refusal,
  success: VendorView
})
export const suspendVendor = g.post("/vendors/:id/suspend", {
  summary: "Suspend an approved vendor: nothing of it is sold any more",
  permission,
  input: Refusal,
  success: VendorView
})
export const reinstateVendor = g.post("/vendors/:id/reinstate", {
  summary: "Let a suspended vendor sell again",
  permission,
  success: VendorView
})
