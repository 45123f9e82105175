import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/access/AccessRule.ts"
import { RangeNotSatisfiable } from "../../domain/errors/ApiErrors.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { RouteRate } from "../server/RouteRate.ts"

const File = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "*/*" }))

/** Where the addresses of media lead (docs/media.md). Browsers follow them without naming a store. */
export const FilesGroup = HttpApiGroup.make("mediaFiles").add(
  HttpApiEndpoint.get("file", "/api/media/files/:year/:name", {
    params: { year: Schema.String, name: Schema.String },
    query: {
      expires: Schema.optional(Schema.String),
      signature: Schema.optional(Schema.String),
      width: Schema.optional(Schema.String)
    },
    success: [File, File.pipe(HttpApiSchema.status(206)), HttpApiSchema.Empty(304)],
    error: RangeNotSatisfiable
  })
    .annotate(Access, open)
    .annotate(Storeless, true)
    .annotate(RouteRate, "none")
    .annotateMerge(OpenApi.annotations({
      summary: "The file of a medium",
      description:
        "For anyone if it is public or something published shows it, else by a signed address. Answers ranges and " +
        "conditional requests. 404 for callers who may not see it, 403 for a signed address that has expired."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(AccessControl)
