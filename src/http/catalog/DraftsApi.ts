import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { AttributesDraft } from "../../domain/catalog/Attributes.ts"
import { Locale } from "../../domain/catalog/FieldText.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const words = { id: Uuid, locale: Locale }

/** Words that wait for approval (docs/catalog.md, locales). */
export const DraftsGroup = HttpApiGroup.make("drafts").add(
  HttpApiEndpoint.get("list", "/api/catalog/attribute-drafts", { query: pageQuery, success: Page(AttributesDraft) })
    .annotate(Access, anyOf("catalog:update", "catalog:approve"))
    .annotateMerge(OpenApi.annotations({ summary: "List words that wait for approval, oldest first" })),
  HttpApiEndpoint.post("approve", "/api/catalog/entities/:id/attributes/:locale/approve", {
    params: words,
    success: Data(Schema.Struct({ approved: Schema.Literal(true) }))
  })
    .annotate(Access, anyOf("catalog:approve"))
    .annotateMerge(OpenApi.annotations({ summary: "Show shoppers the draft of a locale" })),
  HttpApiEndpoint.post("reject", "/api/catalog/entities/:id/attributes/:locale/reject", {
    params: words,
    success: Data(Schema.Struct({ rejected: Schema.Literal(true) }))
  })
    .annotate(Access, anyOf("catalog:approve"))
    .annotateMerge(OpenApi.annotations({ summary: "Take the draft of a locale away" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
