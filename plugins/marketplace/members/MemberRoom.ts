import { vendorMembers } from "./MemberTables.ts"
import { VendorMembers } from "./VendorMembers.ts"
import { memberRoutes } from "./VendorMembersHttp.ts"

/** People who act for vendors. */
export const memberRoom = { tables: [vendorMembers], layer: VendorMembers.layer, routes: memberRoutes }
