import type { StoredEndpoint } from "./WebhookRows.ts"

/** Which endpoint still has to get which event. */
export interface Dispatch {
  readonly organizationId: string
  readonly endpointId: string
  readonly eventId: string
  readonly entityType: string
  readonly entityId: string
}

/** An event as it is sent: the body is written once and never again. */
export interface WebhookMessage {
  readonly organizationId: string
  readonly eventId: string
  readonly type: string
  readonly entityType: string
  readonly entityId: string
  readonly sequence: number
  readonly body: string
  readonly eventAt: Date
}

/** The data of a delivery that is due. */
export interface Due {
  readonly stored: StoredEndpoint | undefined
  readonly message: WebhookMessage | undefined
  /** Undefined when it is settled already. */
  readonly open: { readonly attempts: number; readonly behind: boolean } | undefined
}

/** What became of an attempt. `final`: it is not tried again. */
export interface Attempt {
  readonly id: string
  readonly endpointId: string
  readonly eventId: string
  readonly eventName: string
  readonly attemptCount: number
  readonly statusCode: number | null
  readonly durationMs: number
  readonly error: string | null
  readonly snippet: string | null
  readonly delivered: boolean
  readonly nextRetryAt: Date | null
  readonly at: Date
}
