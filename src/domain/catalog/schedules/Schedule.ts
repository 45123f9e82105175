import { Schema } from "effect"
import { Uuid } from "../../ids/Id.ts"
import { maybe, Moment, Time } from "../../pricing/Bounds.ts"

/**
 * When an entity is published and when it is archived again (docs/catalog.md). A moment that has been carried out is null;
 * `refusal` says why one was not, and stays until the schedule is set anew.
 */
export const PublishingSchedule = Schema.Struct({
  entityId: Uuid,
  publishAt: Schema.NullOr(Time),
  unpublishAt: Schema.NullOr(Time),
  refusal: Schema.NullOr(Schema.String),
  scheduledBy: Schema.NullOr(Schema.String)
}).annotate({ identifier: "PublishingSchedule" })
export type PublishingSchedule = typeof PublishingSchedule.Type

/** Body of a schedule, which replaces the one there is; both absent or null takes it away. */
export const ScheduleBody = Schema.Struct({ publishAt: maybe(Moment), unpublishAt: maybe(Moment) })
export type ScheduleBody = typeof ScheduleBody.Type

/** What a schedule does to its entity. */
export type ScheduledChange = "publish" | "unpublish"

/** A change whose moment has come. */
export interface DueChange {
  readonly organizationId: string
  readonly entityId: string
  readonly change: ScheduledChange
  readonly at: Date
}
