import { Schema } from "effect"
import { forbidden, FreeText, group } from "stoa/plugin"
import { managers, mayForVendor, ownVendor, portal } from "../parties/VendorPortal.ts"
import { NewVendor, OwnVendorChange, Refusal, VendorChange, vendors, VendorView } from "./Vendor.ts"
import {
  approveVendor,
  changeOwnVendor,
  changeVendor,
  createVendor,
  listVendors,
  readVendor,
  reinstateVendor,
  rejectVendor,
  suspendVendor
} from "./Vendors.ts"

const g = group("Marketplace vendors", "/marketplace")
const own = group("Marketplace vendor portal", "/marketplace")
const admin = { permission: "marketplace:admin", success: VendorView }
const { status, tier } = vendors.columns

class OwnersOnly extends forbidden("OwnersOnly", "Only an owner of the vendor may say where its money goes.") {}

/** Routes of the store over its vendors, and of vendors over themselves (contract, plugins §1.6). */
export const vendorRoutes = [
  g.list("/vendors", {
    ...admin,
    summary: "List vendors",
    query: {
      status: Schema.optional(status.schema),
      tier: Schema.optional(tier.schema),
      search: Schema.optional(FreeText.annotate({ description: "A part of the name or the address." }))
    }
  }).handle(({ page, query }) => listVendors(query, page)),
  g.post("/vendors", { ...admin, summary: "Add a vendor; it is pending until it is approved", input: NewVendor })
    .handle(({ input }) => createVendor(input)),
  g.get("/vendors/:id", { ...admin, summary: "Read a vendor" }).handle(({ params }) => readVendor(params.id)),
  g.patch("/vendors/:id", {
    ...admin,
    summary: "Change a vendor; bank account and keys of its shop are kept and never shown",
    input: VendorChange
  }).handle(({ input, params }) => changeVendor(params.id, input)),
  g.post("/vendors/:id/approve", { ...admin, summary: "Approve a pending vendor" })
    .handle(({ params }) => approveVendor(params.id)),
  g.post("/vendors/:id/reject", { ...admin, summary: "Reject a pending vendor", input: Refusal })
    .handle(({ input, params }) => rejectVendor(params.id, input.reason)),
  g.post("/vendors/:id/suspend", {
    ...admin,
    summary: "Suspend an approved vendor: nothing of it is sold any more",
    input: Refusal
  }).handle(({ input, params }) => suspendVendor(params.id, input.reason)),
  g.post("/vendors/:id/reinstate", { ...admin, summary: "Let a suspended vendor sell again" })
    .handle(({ params }) => reinstateVendor(params.id)),
  own.get("/vendor/me", { ...portal, summary: "Read the own vendor", success: VendorView })
    .handle(({ actor }) => readVendor(ownVendor(actor))),
  own.patch("/vendor/me", {
    ...managers,
    summary: "Change what the own vendor says of itself, and its bank account, which is not shown",
    input: OwnVendorChange,
    success: VendorView
  }).handle(({ actor, input }) =>
    input.bankAccount !== undefined && !mayForVendor(actor, "represent")
      ? new OwnersOnly()
      : changeOwnVendor(ownVendor(actor), input)
  )
]
