import { Effect } from "effect"
import { ownVendor } from "../parties/VendorPortal.ts"
import { VendorDocuments } from "./VendorDocuments.ts"
import { addOwnDocument, changeOwnVendor, listOwnDocuments, listOwnProducts, readOwnVendor } from "./VendorPortalApi.ts"
import { VendorProducts } from "./VendorProducts.ts"
import { Vendors } from "./Vendors.ts"

/** Answers to the routes of `VendorPortalApi.ts`. */
export const portalRoutes = [
  readOwnVendor.handle(({ actor }) => Effect.flatMap(Vendors, (vendors) => vendors.get(ownVendor(actor)))),
  changeOwnVendor.handle(({ actor, input }) =>
    Effect.flatMap(Vendors, (vendors) => vendors.change(ownVendor(actor), input))
  ),
  listOwnDocuments.handle(({ actor, page }) =>
    Effect.flatMap(VendorDocuments, (papers) => papers.list(ownVendor(actor), page))
  ),
  addOwnDocument.handle(({ actor, input }) =>
    Effect.flatMap(VendorDocuments, (papers) => papers.handIn(ownVendor(actor), input))
  ),
  listOwnProducts.handle(({ actor, page }) =>
    Effect.flatMap(VendorProducts, (products) => products.list(ownVendor(actor), page))
  )
]
