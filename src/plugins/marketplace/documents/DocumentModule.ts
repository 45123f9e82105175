import { vendorDocuments } from "./DocumentTables.ts"
import { VendorDocuments } from "./VendorDocuments.ts"
import { documentRoutes } from "./VendorDocumentsHttp.ts"

/** Papers that vendors hand in. */
export const documentModule = { tables: [vendorDocuments], layer: VendorDocuments.layer, routes: documentRoutes }
