import { Schema } from "effect"
import { newId, Uuid, WebhookDeliveryId, WebhookEndpointId } from "../platform/ids/Id.ts"
import type { NewJob } from "../platform/jobs/Jobs.ts"
import { Time } from "../platform/text/Time.ts"
import type { WebhookEndpoint } from "./WebhookEndpoint.ts"

/** Result of an attempt; `error` is null if the receiver answered 2xx. */
export interface AttemptResult {
  readonly statusCode: number | null
  readonly error: string | null
  readonly responseSnippet: string | null
  readonly durationMs: number
  /** The URL is not allowed: no connection was opened. */
  readonly isRefused: boolean
}

/**
 * One attempt to deliver an event (contract, platform §9.4). `webhookId` is sent to the receiver and stays the same
 * over all attempts. `payload` is the sent body; null outside the log and after its retention. `responseSnippet` is the
 * beginning of the response, at most 1 kB.
 */
export const WebhookDelivery = Schema.Struct({
  id: WebhookDeliveryId,
  organizationId: Schema.String,
  endpointId: WebhookEndpointId,
  eventId: Uuid,
  eventName: Schema.String,
  webhookId: Schema.String,
  payload: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)),
  /** Number of the attempt for its event, from 1. */
  attemptCount: Schema.Int,
  /** Null without a response. */
  statusCode: Schema.NullOr(Schema.Int),
  durationMs: Schema.Int,
  error: Schema.NullOr(Schema.String),
  responseSnippet: Schema.NullOr(Schema.String),
  deliveredAt: Schema.NullOr(Time),
  failedAt: Schema.NullOr(Time),
  /** Time of the next attempt, before jitter; null if there is none. */
  nextRetryAt: Schema.NullOr(Time),
  createdAt: Time
}).annotate({ identifier: "WebhookDelivery" })
export type WebhookDelivery = typeof WebhookDelivery.Type

/** The event id that receivers see: the body's `id` and the header `webhook-id`. */
export const webhookIdOf = (eventId: string): string => `evt_${eventId}`

/** The record of an attempt that ended at `at`; by default the first and only one of its event. */
export const deliveryOf = (
  { id: endpointId, organizationId }: WebhookEndpoint,
  event: { readonly id: string; readonly type: string },
  { durationMs, error, responseSnippet, statusCode }: AttemptResult,
  at: Date,
  attemptCount = 1,
  nextRetryAt: Date | null = null
): WebhookDelivery => ({
  id: newId(),
  organizationId,
  endpointId,
  eventId: event.id,
  eventName: event.type,
  webhookId: webhookIdOf(event.id),
  payload: null,
  attemptCount,
  statusCode,
  durationMs,
  error,
  responseSnippet,
  deliveredAt: error === null ? at : null,
  failedAt: error === null ? null : at,
  nextRetryAt,
  createdAt: at
})

/** Answer of a redelivery: the event that will be sent again. */
export const Redelivery = Schema.Struct({
  jobId: Schema.String,
  endpointId: WebhookEndpointId,
  eventId: Uuid,
  webhookId: Schema.String
}).annotate({ identifier: "WebhookRedelivery" })
export type Redelivery = typeof Redelivery.Type

/** Slug of the task that delivers (spec §2), and its queue (contract, platform §9.3). */
export const deliverTaskSlug = "webhooks/deliver"
export const webhookQueue = "webhooks"

/** An event that an endpoint still has to receive. */
export const Dispatch = Schema.Struct({
  organizationId: Schema.String,
  endpointId: Schema.String,
  eventId: Schema.String,
  entityType: Schema.String,
  entityId: Schema.String
})
export type Dispatch = typeof Dispatch.Type

/** The job of a dispatch. It holds ids only; the records are read when it runs. */
export const deliveryJob = ({ organizationId, ...input }: Dispatch): NewJob => ({
  task: deliverTaskSlug,
  input,
  options: { organizationId, queue: webhookQueue }
})
