import { Schema } from "effect"
import { group, longText } from "stoa/plugin"
import { owners, ownVendor } from "../parties/VendorPortal.ts"
import { WebAddress } from "../vendors/Vendor.ts"
import { handIn, judge, listDocuments, vendorDocuments } from "./VendorDocuments.ts"

const g = group("Marketplace vendors", "/marketplace")
const own = group("Marketplace vendor portal", "/marketplace")
const success = vendorDocuments.Row
const admin = { permission: "marketplace:admin", success }

/** Body of a document: its kind and the address of its file. */
const NewDocument = Schema.Struct({ type: vendorDocuments.columns.type.schema, fileUrl: WebAddress })

/** What a judge may add; a request without a body is one without notes. */
const Notes = Schema.NullOr(Schema.Struct({ notes: Schema.optional(longText.schema) }))

export const documentRoutes = [
  g.list("/vendors/:id/documents", { ...admin, summary: "List documents of a vendor" })
    .handle(({ page, params }) => listDocuments(params.id, page)),
  g.post("/vendors/:id/documents", { ...admin, summary: "Hand in a document for a vendor", input: NewDocument })
    .handle(({ input, params }) => handIn(params.id, input)),
  g.post("/vendors/:id/documents/:docId/approve", {
    ...admin,
    summary: "Approve a document; with the last one that is asked for the vendor is verified",
    input: Notes
  }).handle(({ input, params }) => judge(params, "approve", input?.notes)),
  g.post("/vendors/:id/documents/:docId/reject", { ...admin, summary: "Reject a document", input: Notes })
    .handle(({ input, params }) => judge(params, "reject", input?.notes)),
  own.list("/vendor/me/documents", { ...owners, summary: "List own documents", success })
    .handle(({ actor, page }) => listDocuments(ownVendor(actor), page)),
  own.post("/vendor/me/documents", { ...owners, summary: "Hand in a document", input: NewDocument, success })
    .handle(({ actor, input }) => handIn(ownVendor(actor), input))
]
