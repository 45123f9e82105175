import { Context, DateTime, Effect, Layer } from "effect"
import { type PageRequest, PluginDatabase, type RowOf } from "stoa/plugin"
import { MarketplaceOptions } from "../MarketplaceOptions.ts"
import { announceApproval } from "../vendors/Vendors.ts"
import { vendors } from "../vendors/VendorTables.ts"
import { vendorDocuments } from "./DocumentTables.ts"
import { missingDocuments } from "./RequiredDocuments.ts"

type Document = RowOf<typeof vendorDocuments>

/** What a vendor hands in. */
export interface HandedIn {
  readonly type: Document["type"]
  readonly fileUrl: string
}

/** How a document is judged. */
export interface Judgement {
  readonly status: "approved" | "rejected"
  readonly notes?: string | undefined
}

/** Papers that vendors hand in and the store judges (contract, plugins §1.2). */
export class VendorDocuments
  extends Context.Service<VendorDocuments>()("stoa/plugins/marketplace/documents/VendorDocuments", {
    make: Effect.suspend(() => make)
  })
{
  static readonly layer = Layer.effect(VendorDocuments, VendorDocuments.make)
}

const make = Effect.gen(function*() {
  const db = yield* PluginDatabase
  const { requiredDocuments, vendorApprovalMode } = yield* MarketplaceOptions

  /** Newest first; 404 for an unknown vendor. */
  const list = (vendorId: string, page: PageRequest) =>
    Effect.andThen(db.table(vendors).get(vendorId), db.table(vendorDocuments).page({ vendorId }, page))

  /** A rejected vendor becomes pending with it. */
  const handIn = Effect.fn("VendorDocuments.handIn")(function*(vendorId: string, document: HandedIn) {
    const vendor = yield* db.table(vendors).lock(vendorId)
    const made = yield* db.table(vendorDocuments).insert({ ...document, vendorId })
    const verificationStatus = vendor.verificationStatus === "verified" ? "verified" : "documents_submitted"
    yield* db.table(vendors).update(vendorId, {
      verificationStatus,
      ...vendor.status === "rejected" ? { status: "pending", rejectionReason: null } : {}
    })
    return made
  }, (work) => db.transaction(work))

  const judged = Effect.fnUntraced(function*(vendorId: string, documentId: string, judgement: Judgement) {
    const reviewedAt = DateTime.toDateUtc(yield* DateTime.now)
    const change = { status: judgement.status, reviewerNotes: judgement.notes ?? null, reviewedAt }
    return yield* db.table(vendorDocuments).update({ id: documentId, vendorId }, change, { status: "pending" })
  })

  /**
   * 404 for a document that is not this vendor's, 422 for one that was judged before. With the last one that the store
   * asks for the vendor is verified, and approved where the store approves by itself.
   */
  const judge = Effect.fn("VendorDocuments.judge")(
    function*(vendorId: string, documentId: string, judgement: Judgement) {
      // The vendor first: what is missing is looked at by one judge at a time, so the last of two sees that nothing is.
      const vendor = yield* db.table(vendors).lock(vendorId)
      const document = yield* judged(vendorId, documentId, judgement)
      if (judgement.status === "rejected" || vendor.status === "rejected") return document
      if ((yield* missingDocuments(db, requiredDocuments, vendorId)).length > 0) return document
      const isApproved = vendorApprovalMode === "auto" && vendor.status === "pending"
      const verified = yield* db.table(vendors).update(vendorId, {
        verificationStatus: "verified",
        ...isApproved ? { status: "approved" } : {}
      })
      if (isApproved) yield* announceApproval(db, verified)
      return document
    },
    (work) => db.transaction(work)
  )

  return { list, handIn, judge }
})
