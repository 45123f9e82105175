import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { CatalogEntity } from "../../domain/catalog/Entity.ts"
import { Comparison, Revision, RevisionEntry } from "../../domain/catalog/revisions/Revision.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const RevisionNumber = Schema.FiniteFromString.check(
  Schema.isInt(),
  Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })
)

const revision = { id: Uuid, number: RevisionNumber }

/** What entities were after each of their changes; only those who write the catalog see it (docs/catalog.md). */
export const RevisionsGroup = HttpApiGroup.make("revisions").add(
  HttpApiEndpoint.get("list", "/api/catalog/entities/:id/revisions", {
    params: { id: Uuid },
    query: pageQuery,
    success: Page(RevisionEntry)
  })
    .annotate(Access, anyOf("catalog:update", "catalog:read:unpublished"))
    .annotateMerge(OpenApi.annotations({ summary: "List the revisions of an entity, newest first" })),
  HttpApiEndpoint.get("read", "/api/catalog/entities/:id/revisions/:number", {
    params: revision,
    success: Data(Revision)
  })
    .annotate(Access, anyOf("catalog:update", "catalog:read:unpublished"))
    .annotateMerge(OpenApi.annotations({ summary: "Read an entity as it was" })),
  HttpApiEndpoint.get("compare", "/api/catalog/entities/:id/revisions/:number/diff", {
    params: revision,
    query: { from: Schema.optional(RevisionNumber.annotate({ description: "Default: the one before." })) },
    success: Data(Comparison)
  })
    .annotate(Access, anyOf("catalog:update", "catalog:read:unpublished"))
    .annotateMerge(OpenApi.annotations({ summary: "Compare two revisions" })),
  HttpApiEndpoint.post("restore", "/api/catalog/entities/:id/revisions/:number/restore", {
    params: revision,
    success: Data(CatalogEntity)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(
      OpenApi.annotations({ summary: "Give an entity its old content; whether it is public stays as it is" })
    )
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
