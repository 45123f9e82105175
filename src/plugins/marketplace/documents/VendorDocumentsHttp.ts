import { Effect } from "effect"
import { ownVendor } from "../parties/VendorPortal.ts"
import { VendorDocuments } from "./VendorDocuments.ts"
import {
  addDocument,
  addOwnDocument,
  approveDocument,
  listDocuments,
  listOwnDocuments,
  rejectDocument
} from "./VendorDocumentsApi.ts"

/** Answers to the routes of `VendorDocumentsApi.ts`. */
export const documentRoutes = [
  listDocuments.handle(({ page, params }) => Effect.flatMap(VendorDocuments, (papers) => papers.list(params.id, page))),
  addDocument.handle(({ input, params }) =>
    Effect.flatMap(VendorDocuments, (papers) => papers.handIn(params.id, input))
  ),
  approveDocument.handle(({ input, params }) =>
    Effect.flatMap(
      VendorDocuments,
      (papers) => papers.judge(params.id, params.docId, { status: "approved", notes: input?.notes })
    )
  ),
  rejectDocument.handle(({ input, params }) =>
    Effect.flatMap(
      VendorDocuments,
      (papers) => papers.judge(params.id, params.docId, { status: "rejected", notes: input?.notes })
    )
  ),
  listOwnDocuments.handle(({ actor, page }) =>
    Effect.flatMap(VendorDocuments, (papers) => papers.list(ownVendor(actor), page))
  ),
  addOwnDocument.handle(({ actor, input }) =>
    Effect.flatMap(VendorDocuments, (papers) => papers.handIn(ownVendor(actor), input))
  )
]
