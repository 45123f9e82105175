import type { Encrypted } from "./SecretEncryption.ts"
import type { WebhookDelivery } from "./WebhookDelivery.ts"
import type { DisabledReason, WebhookEndpoint } from "./WebhookEndpoint.ts"

/** A row of `webhook_endpoints` from the driver. */
export interface EndpointRow {
  readonly id: string
  readonly organization_id: string
  readonly url: string
  readonly description: string | null
  readonly events: ReadonlyArray<string>
  readonly is_active: boolean
  readonly secret: string
  readonly secret_key_id: string
  readonly previous_secret: string | null
  readonly previous_secret_key_id: string | null
  readonly previous_secret_until: Date | null
  readonly failing_since: Date | null
  readonly disabled_at: Date | null
  readonly disabled_reason: DisabledReason | null
  readonly metadata: { readonly [key: string]: unknown }
  readonly created_at: Date
  readonly updated_at: Date
}

/** An endpoint with its encrypted secrets; never leaves the module. */
export interface StoredEndpoint {
  readonly endpoint: WebhookEndpoint
  readonly secret: Encrypted
  /** The secret before the last rotation, and until when it signs too. */
  readonly previous: { readonly secret: Encrypted; readonly until: Date } | undefined
}

export const toEndpoint = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  organizationId: row.organization_id,
  url: row.url,
  description: row.description,
  events: row.events,
  isActive: row.is_active,
  failingSince: row.failing_since,
  disabledAt: row.disabled_at,
  disabledReason: row.disabled_reason,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

const previousOf = (row: EndpointRow): StoredEndpoint["previous"] => {
  const { previous_secret: text, previous_secret_key_id: keyId, previous_secret_until: until } = row
  return text === null || keyId === null || until === null ? undefined : { secret: { keyId, text }, until }
}

export const toStored = (row: EndpointRow): StoredEndpoint => ({
  endpoint: toEndpoint(row),
  secret: { keyId: row.secret_key_id, text: row.secret },
  previous: previousOf(row)
})

/** A row of `webhook_deliveries` from the driver. */
export interface DeliveryRow {
  readonly id: string
  readonly organization_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly event_name: string
  readonly attempt_count: number
  readonly status_code: number | null
  readonly duration_ms: number
  readonly error: string | null
  readonly response_snippet: string | null
  readonly delivered_at: Date | null
  readonly failed_at: Date | null
  readonly next_retry_at: Date | null
  readonly created_at: Date
  /** The sent body, if requested and still retained. */
  readonly payload?: { readonly [key: string]: unknown } | null
}

/** The event id that receivers see: the body's `id` and the header `webhook-id`. */
export const webhookIdOf = (eventId: string): string => `evt_${eventId}`

export const toDelivery = (row: DeliveryRow): WebhookDelivery => ({
  id: row.id,
  organizationId: row.organization_id,
  endpointId: row.endpoint_id,
  eventId: row.event_id,
  eventName: row.event_name,
  webhookId: webhookIdOf(row.event_id),
  payload: row.payload ?? null,
  attemptCount: row.attempt_count,
  statusCode: row.status_code,
  durationMs: row.duration_ms,
  error: row.error,
  responseSnippet: row.response_snippet,
  deliveredAt: row.delivered_at,
  failedAt: row.failed_at,
  nextRetryAt: row.next_retry_at,
  createdAt: row.created_at
})
