import { Schema } from "effect"
import { EntityId, OrganizationId } from "../../platform/ids/Id.ts"
import { maybe } from "../../platform/text/Fields.ts"
import { Moment, Time, Until } from "../../platform/text/Time.ts"

/** When an entity is published and archived. A time is null once its change was made; `refusal` says why one failed. */
export const PublishingSchedule = Schema.Struct({
  entityId: EntityId,
  publishAt: Schema.NullOr(Time),
  unpublishAt: Schema.NullOr(Time),
  refusal: Schema.NullOr(Schema.String),
  scheduledBy: Schema.NullOr(Schema.String)
}).annotate({ identifier: "PublishingSchedule" })
export type PublishingSchedule = typeof PublishingSchedule.Type

/** Replaces the schedule; both times absent or null remove it. */
export const ScheduleBody = Schema.Struct({ publishAt: maybe(Moment), unpublishAt: maybe(Until) })
export type ScheduleBody = typeof ScheduleBody.Type

export const DueChange = Schema.Struct({
  organizationId: OrganizationId,
  entityId: EntityId,
  change: Schema.Literals(["publish", "unpublish"]),
  at: Time
})
export type DueChange = typeof DueChange.Type
