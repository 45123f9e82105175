import { Schema } from "effect"
import { about } from "../platform/hints/Hints.ts"
import { newId, OrganizationId, Uuid, WebhookDeliveryId, WebhookEndpointId } from "../platform/ids/Id.ts"
import type { NewJob } from "../platform/jobs/Jobs.ts"
import { Time } from "../platform/text/Time.ts"
import type { WebhookEndpoint } from "./WebhookEndpoint.ts"

/** `error` is null if the receiver answered 2xx. */
export interface AttemptResult {
  readonly statusCode: number | null
  readonly error: string | null
  readonly responseSnippet: string | null
  readonly durationMs: number
  /** The URL is not allowed: no connection was opened. */
  readonly isRefused: boolean
}

/**
 * One attempt to deliver an event (contract, platform §9.4).
 */
export const WebhookDelivery = Schema.Struct({
  id: WebhookDeliveryId,
  organizationId: OrganizationId,
  endpointId: WebhookEndpointId,
  eventId: Uuid,
  eventName: Schema.String.pipe(about("Name of the event, such as orders.create.")),
  webhookId: Schema.String.pipe(about("Value of the header `webhook-id`; all attempts of an event have the same.")),
  payload: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown)).pipe(
    about("Body that was sent; null in other answers than the log, and after its retention.")
  ),
  attemptCount: Schema.Int.pipe(about("Number of this attempt, from 1.")),
  statusCode: Schema.NullOr(Schema.Int).pipe(about("HTTP status of the answer; null: none came.")),
  durationMs: Schema.Int.pipe(about("Milliseconds until the answer or the failure.")),
  error: Schema.NullOr(Schema.String).pipe(about("Reason of the failure; null: the receiver answered 2xx.")),
  responseSnippet: Schema.NullOr(Schema.String).pipe(about("First kilobyte of the answer.")),
  deliveredAt: Schema.NullOr(Time),
  failedAt: Schema.NullOr(Time),
  /** Before jitter; null if there is none. */
  nextRetryAt: Schema.NullOr(Time),
  createdAt: Time
}).annotate({ identifier: "WebhookDelivery" })
export type WebhookDelivery = typeof WebhookDelivery.Type

export const webhookIdOf = (eventId: string): string => `evt_${eventId}`

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

export const Redelivery = Schema.Struct({
  jobId: Schema.String,
  endpointId: WebhookEndpointId,
  eventId: Uuid,
  webhookId: Schema.String.pipe(about("Value of the header `webhook-id`; all attempts of an event have the same."))
}).annotate({ identifier: "WebhookRedelivery" })
export type Redelivery = typeof Redelivery.Type

/** The task of deliveries (spec §2), and its queue (contract, platform §9.3). */
export const deliverTaskSlug = "webhooks/deliver"
export const webhookQueue = "webhooks"

export const Dispatch = Schema.Struct({
  organizationId: OrganizationId,
  endpointId: Schema.String,
  eventId: Schema.String,
  entityType: Schema.String,
  entityId: Schema.String
})
export type Dispatch = typeof Dispatch.Type

export const deliveryJob = ({ organizationId, ...input }: Dispatch): NewJob => ({
  task: deliverTaskSlug,
  input,
  options: { organizationId, queue: webhookQueue }
})
