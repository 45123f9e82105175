import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { ApiKey, ApiKeyWithKey, NewApiKey } from "../../domain/access/ApiKey.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const mayManage = anyOf("api-keys:manage", "staff:manage")

/** Keys of an organization for whoever manages them (contract, platform §4, §23.14). `stoa api-key` does the same. */
export const OrganizationKeysGroup = HttpApiGroup.make("organizationKeys").add(
  HttpApiEndpoint.post("createKey", "/api/admin/api-keys", {
    payload: NewApiKey,
    success: Data(ApiKeyWithKey).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, mayManage)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Make an API key of the organization",
      description:
        "Of a role or of a scope of the deployment, one of both. The answer shows the key; no other answer " +
        "does. 403 when it may more than the caller, and where keys are switched off."
    })),
  HttpApiEndpoint.get("listKeys", "/api/admin/api-keys", { query: pageQuery, success: Page(ApiKey) })
    .annotate(Access, mayManage)
    .annotateMerge(OpenApi.annotations({ summary: "List the API keys of the organization, newest first" })),
  HttpApiEndpoint.delete("revokeKey", "/api/admin/api-keys/:id", { params: { id: Uuid }, success: Deleted })
    .annotate(Access, mayManage)
    .annotateMerge(OpenApi.annotations({
      summary: "Revoke an API key",
      description: "At once and in every process. 403 when its role may more than the caller."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
