import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { AttributesDraft, CatalogEntity, Locale } from "../../domain/catalog/Entity.ts"
import { Comparison, Revision, RevisionEntry } from "../../domain/catalog/revisions/Revision.ts"
import { PublishingSchedule, ScheduleBody } from "../../domain/catalog/schedules/Schedule.ts"
import { wholeNumber } from "../../domain/platform/hints/Hints.ts"
import { EntityId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { described, guarded } from "../endpoint/Resource.ts"
import { Data, Page } from "../envelope/Envelope.ts"

const entity = { id: EntityId }
const words = { id: EntityId, locale: Locale }

const RevisionNumber = wholeNumber(1, 2_147_483_647)

const revision = { id: EntityId, number: RevisionNumber }

const staff = ["catalog:update", "catalog:read:unpublished"] as const

/** Words waiting for approval (docs/catalog.md, locales). */
export const DraftsGroup = guarded(
  "drafts",
  HttpApiEndpoint.get("list", "/api/catalog/attribute-drafts", { query: pageQuery, success: Page(AttributesDraft) })
    .annotateMerge(described("List words that wait for approval, oldest first", "catalog:update", "catalog:approve")),
  HttpApiEndpoint.post("approve", "/api/catalog/entities/:id/attributes/:locale/approve", {
    params: words,
    success: Data(Schema.Struct({ approved: Schema.Literal(true) }))
  }).annotateMerge(described("Approve the draft of a locale", "catalog:approve")),
  HttpApiEndpoint.post("reject", "/api/catalog/entities/:id/attributes/:locale/reject", {
    params: words,
    success: Data(Schema.Struct({ rejected: Schema.Literal(true) }))
  }).annotateMerge(described("Reject the draft of a locale", "catalog:approve"))
)

/** Scheduled publishing and archiving (docs/catalog.md). */
export const SchedulesGroup = guarded(
  "schedules",
  HttpApiEndpoint.get("read", "/api/catalog/entities/:id/schedule", {
    params: entity,
    success: Data(PublishingSchedule)
  }).annotateMerge(described("Get the schedule of an entity", ...staff)),
  HttpApiEndpoint.put("set", "/api/catalog/entities/:id/schedule", {
    params: entity,
    payload: ScheduleBody,
    success: Data(PublishingSchedule)
  }).annotateMerge(described("Set the schedule of an entity", "catalog:update")),
  HttpApiEndpoint.delete("clear", "/api/catalog/entities/:id/schedule", {
    params: entity,
    success: Data(PublishingSchedule)
  }).annotateMerge(described("Delete the schedule of an entity", "catalog:update"))
)

/** Revisions of entities, for those who write the catalog (docs/catalog.md). */
export const RevisionsGroup = guarded(
  "revisions",
  HttpApiEndpoint.get("list", "/api/catalog/entities/:id/revisions", {
    params: entity,
    query: pageQuery,
    success: Page(RevisionEntry)
  }).annotateMerge(described("List the revisions of an entity, newest first", ...staff)),
  HttpApiEndpoint.get("read", "/api/catalog/entities/:id/revisions/:number", {
    params: revision,
    success: Data(Revision)
  }).annotateMerge(described("Get a revision of an entity", ...staff)),
  HttpApiEndpoint.get("compare", "/api/catalog/entities/:id/revisions/:number/diff", {
    params: revision,
    query: { from: Schema.optional(RevisionNumber.annotate({ description: "Default: the one before." })) },
    success: Data(Comparison)
  }).annotateMerge(described("Compare two revisions", ...staff)),
  HttpApiEndpoint.post("restore", "/api/catalog/entities/:id/revisions/:number/restore", {
    params: revision,
    success: Data(CatalogEntity)
  }).annotateMerge(described("Restore the content of a revision; it stays public or not", "catalog:update"))
)
