import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Time } from "../pricing/Bounds.ts"

/**
 * One attempt to deliver an event (contract, platform §9.4). `webhookId` is what the receiver saw: the same over all
 * attempts. `payload` is the body that was sent; null outside of the log, and when it is no longer kept.
 * `responseSnippet` is the beginning of the answer, 1 kB at most.
 */
export const WebhookDelivery = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  endpointId: Uuid,
  eventId: Uuid,
  eventName: Schema.String,
  webhookId: Schema.String,
  payload: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
  /** Which attempt of its event it is, from 1. */
  attemptCount: Schema.Int,
  /** Null when nothing was answered. */
  statusCode: Schema.NullOr(Schema.Int),
  durationMs: Schema.Int,
  error: Schema.NullOr(Schema.String),
  responseSnippet: Schema.NullOr(Schema.String),
  deliveredAt: Schema.NullOr(Time),
  failedAt: Schema.NullOr(Time),
  /** When it is tried again, give or take the spread; null when it is not. */
  nextRetryAt: Schema.NullOr(Time),
  createdAt: Time
}).annotate({ identifier: "WebhookDelivery" })
export type WebhookDelivery = typeof WebhookDelivery.Type

/** Answer of a redelivery: what will be sent again. */
export const Redelivery = Schema.Struct({
  jobId: Schema.String,
  endpointId: Uuid,
  eventId: Uuid,
  webhookId: Schema.String
}).annotate({ identifier: "WebhookRedelivery" })
export type Redelivery = typeof Redelivery.Type
