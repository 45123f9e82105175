import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { ExportFormat, exporting, Kind } from "../../domain/import-export/Kind.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"

/** Everything of a kind as a file (docs/import-export.md). */
export const ExportsGroup = HttpApiGroup.make("exports").add(
  HttpApiEndpoint.get("download", "/api/exports/:kind", {
    params: { kind: Kind },
    query: { format: Schema.optional(ExportFormat.annotate({ description: "`csv`, the default, or `jsonl`." })) },
    success: HttpApiSchema.StreamUint8Array({ contentType: ["text/csv", "application/x-ndjson"] })
  })
    .annotate(Access, anyOf(...exporting))
    .annotateMerge(OpenApi.annotations({
      summary: "Download all records of a kind",
      description:
        "The answer is written while it is read, so it may be of any size. Each kind asks for the permission " +
        "of its own lists. The audit trail notes who read what."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(AccessControl)
