import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, open } from "../../domain/access/AccessRule.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors } from "../middleware/Errors.ts"

/** Where the signed links of bought files lead (docs/customers.md). The signature is the credential. */
export const DownloadsGroup = HttpApiGroup.make("downloads").add(
  HttpApiEndpoint.get("follow", "/api/downloads/:id", {
    params: { id: Schema.String },
    query: { expires: Schema.optional(Schema.String), signature: Schema.optional(Schema.String) },
    success: HttpApiSchema.Empty(302)
  })
    .annotate(Access, open)
    .annotateMerge(OpenApi.annotations({
      summary: "Fetch a bought file by its signed link",
      description:
        "Redirects to the file and counts a download. 404 for a link that was not signed, 403 for one that " +
        "is too old or used up."
    }))
)
  .middleware(Errors).middleware(AccessControl)
