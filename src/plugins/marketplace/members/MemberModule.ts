import { memberMigrations } from "./MemberRolesRepo.ts"
import { vendorMembers } from "./MemberTables.ts"
import { VendorMembers } from "./VendorMembers.ts"
import { memberRoutes } from "./VendorMembersHttp.ts"

/** People who act for vendors. */
export const memberModule = {
  tables: [vendorMembers],
  migrations: memberMigrations,
  layer: VendorMembers.layer,
  routes: memberRoutes
}
