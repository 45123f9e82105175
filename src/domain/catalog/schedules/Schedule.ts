import { Schema } from "effect"
import { about } from "../../platform/hints/Hints.ts"
import { EntityId, OrganizationId } from "../../platform/ids/Id.ts"
import { maybe } from "../../platform/text/Fields.ts"
import { Moment, Time, Until } from "../../platform/text/Time.ts"

/** When an entity is published and archived. A time is null once its change was made. */
export const PublishingSchedule = Schema.Struct({
  entityId: EntityId,
  publishAt: Schema.NullOr(Time),
  unpublishAt: Schema.NullOr(Time),
  refusal: Schema.NullOr(Schema.String).pipe(
    about("Reason why the last due change could not be made; null: none failed.")
  ),
  scheduledBy: Schema.NullOr(Schema.String).pipe(about("Id of the user or API key that set the schedule."))
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
