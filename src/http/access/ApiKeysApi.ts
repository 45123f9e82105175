import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { ApiKey } from "../../domain/access/ApiKey.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

/** Keys of an organization for whoever manages its staff (contract, platform §4). `stoa api-key` makes them. */
export const OrganizationKeysGroup = HttpApiGroup.make("organizationKeys").add(
  HttpApiEndpoint.get("listKeys", "/api/admin/api-keys", { query: pageQuery, success: Page(ApiKey) })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(OpenApi.annotations({ summary: "List the API keys of the organization, newest first" })),
  HttpApiEndpoint.delete("revokeKey", "/api/admin/api-keys/:id", { params: { id: Uuid }, success: Deleted })
    .annotate(Access, anyOf("staff:manage"))
    .annotateMerge(OpenApi.annotations({
      summary: "Revoke an API key",
      description: "At once and in every process. 403 when its role may more than the caller."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
