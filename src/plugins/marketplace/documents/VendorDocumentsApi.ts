import { Schema } from "effect"
import { FreeText, group } from "stoa/plugin"
import { owners } from "../parties/VendorPortal.ts"
import { WebAddress } from "../vendors/Vendor.ts"
import { documentTypes, vendorDocuments } from "./DocumentTables.ts"

const g = group("Marketplace vendors", "/marketplace")
const own = group("Marketplace vendor portal", "/marketplace")
const permission = "marketplace:admin"

/** Body of a document: its kind and the address of its file. */
const NewDocument = Schema.Struct({ type: Schema.Literals(documentTypes), fileUrl: WebAddress })

/** What a judge may add; a request without a body is one without notes. */
const Notes = Schema.NullOr(Schema.Struct({ notes: Schema.optional(FreeText.check(Schema.isMaxLength(10_000))) }))

export const listDocuments = g.list("/vendors/:id/documents", {
  summary: "List documents of a vendor",
  permission,
  success: vendorDocuments.Row
})
export const addDocument = g.post("/vendors/:id/documents", {
  summary: "Hand in a document for a vendor",
  permission,
  input: NewDocument,
  success: vendorDocuments.Row
})
export const approveDocument = g.post("/vendors/:id/documents/:docId/approve", {
  summary: "Approve a document; with the last one that is asked for the vendor is verified",
  permission,
  input: Notes,
  success: vendorDocuments.Row
})
export const rejectDocument = g.post("/vendors/:id/documents/:docId/reject", {
  summary: "Reject a document",
  permission,
  input: Notes,
  success: vendorDocuments.Row
})

export const listOwnDocuments = own.list("/vendor/me/documents", {
  summary: "List own documents",
  ...owners,
  success: vendorDocuments.Row
})
export const addOwnDocument = own.post("/vendor/me/documents", {
  summary: "Hand in a document",
  ...owners,
  input: NewDocument,
  success: vendorDocuments.Row
})
