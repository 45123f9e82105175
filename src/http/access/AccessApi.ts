import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { ApiKey, ApiKeyWithKey, NewApiKey } from "../../domain/platform/access/ApiKey.ts"
import { Permissions } from "../../domain/platform/access/Permission.ts"
import { ApiKeyId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { guarded, summary } from "../endpoint/Resource.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors } from "../middleware/Errors.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"
import { IdempotentChange } from "../middleware/Idempotency.ts"

const mayManage = anyOf("api-keys:manage", "staff:manage")

/** API keys of an organization (contract, platform §4, §23.14). */
export const OrganizationKeysGroup = guarded(
  "organizationKeys",
  HttpApiEndpoint.post("createKey", "/api/admin/api-keys", {
    payload: NewApiKey,
    success: Data(ApiKeyWithKey).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, mayManage)
    .annotate(IdempotentChange, true)
    .annotate(StrictBody, true)
    .annotateMerge(
      summary(
        "Create an API key of the organization",
        "With either a role or a scope of the deployment. The answer shows the key; no other answer does. 403 when it " +
          "has more permissions than the caller, and where keys are disabled."
      )
    ),
  HttpApiEndpoint.get("listKeys", "/api/admin/api-keys", { query: pageQuery, success: Page(ApiKey) })
    .annotate(Access, mayManage)
    .annotateMerge(summary("List the API keys of the organization, newest first")),
  HttpApiEndpoint.delete("revokeKey", "/api/admin/api-keys/:id", { params: { id: ApiKeyId }, success: Deleted })
    .annotate(Access, mayManage)
    .annotateMerge(
      summary(
        "Revoke an API key",
        "At once and in every process. 403 when its role has more permissions than the caller."
      )
    )
)

/** Permissions for roles (contract, platform §14). */
export const PermissionsGroup = HttpApiGroup.make("permissions").add(
  HttpApiEndpoint.get("list", "/api/admin/permissions", { success: Data(Permissions) })
    .annotate(Access, anyOf("staff:manage", "admin"))
    .annotateMerge(summary("List all permissions by module and plugin"))
)
  .middleware(Errors).middleware(AccessControl)
