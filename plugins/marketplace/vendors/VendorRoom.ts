import { Layer } from "effect"
import { VendorDocuments } from "./VendorDocuments.ts"
import { documentRoutes } from "./VendorDocumentsHttp.ts"
import { VendorMembers } from "./VendorMembers.ts"
import { memberRoutes } from "./VendorMembersHttp.ts"
import { portalRoutes } from "./VendorPortalHttp.ts"
import { VendorProducts } from "./VendorProducts.ts"
import { productRoutes } from "./VendorProductsHttp.ts"
import { Vendors } from "./Vendors.ts"
import { vendorRoutes } from "./VendorsHttp.ts"

/** Services of vendors, for the manifest. */
export const vendorsLayer = Layer.mergeAll(
  Vendors.layer,
  VendorDocuments.layer,
  VendorMembers.layer,
  VendorProducts.layer
)

/** Routes of vendors, for the manifest. */
export const allVendorRoutes = [...vendorRoutes, ...documentRoutes, ...memberRoutes, ...productRoutes, ...portalRoutes]
