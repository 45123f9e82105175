import { Effect, Schema } from "effect"
import { group, listOf, longText, machine, oneOf, type PluginDatabase, table, timestamp, uuid } from "stoa/plugin"
import { inTransaction, Market, permission } from "../Market.ts"
import { owners, ownVendor } from "../parties/VendorPortal.ts"
import { ofKnownOwnVendor, ofVendor } from "../parties/VendorRows.ts"
import { announceApproval, vendors, WebAddress } from "../vendors/Vendor.ts"

const types = ["business_license", "tax_form", "bank_proof", "identity", "other"] as const

/** Papers of vendors, and how the store judged them. */
export const vendorDocuments = table("marketplace_vendor_documents", {
  vendorId: uuid.references(vendors),
  type: oneOf(types).about("Kind of the paper."),
  fileUrl: longText.about("Address of the file."),
  status: oneOf(["pending", "approved", "rejected"]).default("pending").about(
    "Result of the check by the marketplace."
  ),
  reviewerNotes: longText.nullable.about("Remarks of the reviewer."),
  uploadedAt: timestamp.defaultNow.forPeople,
  reviewedAt: timestamp.nullable
})

/** A document is judged once (contract, plugins §1.2). */
const vendorDocument = machine(vendorDocuments, {
  noun: "document",
  moves: {
    approve: { from: ["pending"], to: "approved", stamp: "reviewedAt" },
    reject: { from: ["pending"], to: "rejected", stamp: "reviewedAt" }
  }
})

/**
 * Required kinds of documents that this vendor has no approved document of. The caller holds the vendor's row, as every
 * writer of documents does, so the result holds until the transaction ends.
 */
export const missingDocuments = Effect.fnUntraced(
  function*(db: PluginDatabase, required: ReadonlyArray<string>, vendorId: string) {
    if (required.length === 0) return []
    const asked = types.filter((type) => required.includes(type))
    const approved = yield* db.table(vendorDocuments).list({ vendorId, status: "approved", type: { in: asked } })
    return required.filter((type) => !approved.some((document) => document.type === type))
  }
)

const NewDocument = Schema.Struct({ type: vendorDocuments.columns.type.schema, fileUrl: WebAddress })

/** Takes a document of a vendor; a rejected vendor becomes pending with it. 404. */
const handIn = Effect.fn("VendorDocuments.handIn")(
  function*(vendorId: string, document: typeof NewDocument.Type) {
    const { db } = yield* Market
    const vendor = yield* db.table(vendors).lock(vendorId)
    const made = yield* db.table(vendorDocuments).insert({ ...document, vendorId })
    yield* db.table(vendors).update(vendorId, {
      verificationStatus: vendor.verificationStatus === "verified" ? "verified" : "documents_submitted",
      ...vendor.status === "rejected" ? { status: "pending", rejectionReason: null } : {}
    })
    return made
  },
  (work) => inTransaction(work)
)

/**
 * 404 for a document that is not this vendor's, 422 for one that was judged before. With the last one that the store asks
 * for the vendor is verified, and approved where the store approves by itself.
 */
const judge = Effect.fn("VendorDocuments.judge")(
  function*(
    { docId, id: vendorId }: { readonly id: string; readonly docId: string },
    judgement: "approve" | "reject",
    notes?: string
  ) {
    const { db, settings: { requiredDocuments, vendorApprovalMode } } = yield* Market
    // The vendor first: what is missing is looked at by one judge at a time, so the last of two sees that nothing is.
    const vendor = yield* db.table(vendors).lock(vendorId)
    const which = { id: docId, vendorId }
    const document = yield* db.use(vendorDocument).move(judgement, which, { reviewerNotes: notes ?? null })
    if (judgement === "reject" || vendor.status === "rejected") return document
    if ((yield* missingDocuments(db, requiredDocuments, vendorId)).length > 0) return document
    const isApproved = vendorApprovalMode === "auto" && vendor.status === "pending"
    const verified = yield* db.table(vendors).update(vendorId, {
      verificationStatus: "verified",
      ...isApproved ? { status: "approved" } : {}
    })
    if (isApproved) yield* announceApproval(db, verified)
    return document
  },
  (work) => inTransaction(work)
)

const g = group("Marketplace vendors", "/marketplace")
const own = group("Marketplace vendor portal", "/marketplace")
const success = vendorDocuments.Row
const admin = { permission, success }

/** What a judge may add; a request without a body is one without notes. */
const Notes = Schema.NullOr(Schema.Struct({ notes: Schema.optional(longText.schema) }))

export const documentRoutes = [
  listOf(g, "/vendors/:id/documents", vendorDocuments, {
    permission,
    summary: "List documents of a vendor",
    visible: ofVendor
  }),
  g.post("/vendors/:id/documents", { ...admin, summary: "Upload a document for a vendor", input: NewDocument })
    .handle(({ input, params }) => handIn(params.id, input)),
  g.post("/vendors/:id/documents/:docId/approve", {
    ...admin,
    summary: "Approve a document; with the last one that is asked for the vendor is verified",
    input: Notes
  }).handle(({ input, params }) => judge(params, "approve", input?.notes)),
  g.post("/vendors/:id/documents/:docId/reject", { ...admin, summary: "Reject a document", input: Notes })
    .handle(({ input, params }) => judge(params, "reject", input?.notes)),
  listOf(own, "/vendor/me/documents", vendorDocuments, {
    ...owners,
    summary: "List own documents",
    visible: ofKnownOwnVendor
  }),
  own.post("/vendor/me/documents", { ...owners, summary: "Upload a document", input: NewDocument, success })
    .handle(({ actor, input }) => handIn(ownVendor(actor), input))
]
