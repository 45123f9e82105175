import { Layer } from "effect"
import { ApiKeyRepo } from "../../domain/platform/credentials/ApiKeyRepo.ts"
import { ApiKeys } from "../../domain/platform/credentials/ApiKeys.ts"
import { UserRepo } from "../../domain/platform/credentials/UserRepo.ts"
import { Users } from "../../domain/platform/credentials/Users.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Staff } from "../../domain/staff/Staff.ts"
import { StaffRepo } from "../../domain/staff/StaffRepo.ts"
import { organizationKeysHttp, permissionsHttp } from "../../http/access/AccessHttp.ts"
import { staffHttp } from "../../http/staff/StaffHttp.ts"
import { auth } from "./auth.ts"
import { events } from "./events.ts"
import { tenancy } from "./tenancy.ts"

/** Keys, staff and permissions (contract, platform §4 to §6), on the tables of `auth`. */
export const access = defineModule({
  id: "access",
  requires: [tenancy, events, auth],
  permissions: [{ scope: "staff:manage", description: "Manage the staff and the API keys of the organization" }],
  services: Layer.mergeAll(ApiKeys.layer, Staff.layer).pipe(
    Layer.provideMerge(Users.layer),
    Layer.provideMerge(Layer.mergeAll(ApiKeyRepo.layer, StaffRepo.layer, UserRepo.layer))
  ),
  routes: Layer.mergeAll(organizationKeysHttp, permissionsHttp, staffHttp)
})
