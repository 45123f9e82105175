import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { PublishingSchedule, ScheduleBody } from "../../domain/catalog/schedules/Schedule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const entity = { id: Uuid }

/** When entities are published and archived by themselves (docs/catalog.md). */
export const SchedulesGroup = HttpApiGroup.make("schedules").add(
  HttpApiEndpoint.get("read", "/api/catalog/entities/:id/schedule", {
    params: entity,
    success: Data(PublishingSchedule)
  })
    .annotate(Access, anyOf("catalog:update", "catalog:read:unpublished"))
    .annotateMerge(OpenApi.annotations({ summary: "Read when an entity is to be published and archived" })),
  HttpApiEndpoint.put("set", "/api/catalog/entities/:id/schedule", {
    params: entity,
    payload: ScheduleBody,
    success: Data(PublishingSchedule)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Say when an entity is to be published and archived" })),
  HttpApiEndpoint.delete("clear", "/api/catalog/entities/:id/schedule", {
    params: entity,
    success: Data(PublishingSchedule)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Take the schedule of an entity away" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
