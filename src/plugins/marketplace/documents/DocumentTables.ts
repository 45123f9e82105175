import { longText, oneOf, table, timestamp, uuid } from "stoa/plugin"
import { vendors } from "../vendors/VendorTables.ts"

export const documentTypes = ["business_license", "tax_form", "bank_proof", "identity", "other"] as const

/** Papers of vendors, and how the store judged them. */
export const vendorDocuments = table("marketplace_vendor_documents", {
  vendorId: uuid.references(vendors),
  type: oneOf(documentTypes),
  fileUrl: longText,
  status: oneOf(["pending", "approved", "rejected"]).default("pending"),
  reviewerNotes: longText.nullable,
  uploadedAt: timestamp.defaultNow,
  reviewedAt: timestamp.nullable
}, { indexes: [{ columns: ["vendorId", "createdAt"], descending: true }] })
