import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Permissions } from "../../domain/access/PermissionCatalogue.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors } from "../middleware/Errors.ts"

/** The permissions that roles can have (contract, platform §14). */
export const PermissionsGroup = HttpApiGroup.make("permissions").add(
  HttpApiEndpoint.get("list", "/api/admin/permissions", { success: Data(Permissions) })
    .annotate(Access, anyOf("staff:manage", "admin"))
    .annotateMerge(OpenApi.annotations({ summary: "List all permissions by module and plugin" }))
)
  .middleware(Errors).middleware(AccessControl)
