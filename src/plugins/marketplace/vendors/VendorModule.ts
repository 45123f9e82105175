import { portalRoutes } from "./VendorPortalHttp.ts"
import { Vendors } from "./Vendors.ts"
import { vendorRoutes } from "./VendorsHttp.ts"
import { vendors, vendorSecrets } from "./VendorTables.ts"

/** Who sells through the store. */
export const vendorModule = {
  tables: [vendors, vendorSecrets],
  layer: Vendors.layer,
  routes: [...vendorRoutes, ...portalRoutes]
}
