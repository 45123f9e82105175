import { Context, Data, type Effect } from "effect"
import type { StoredEndpoint } from "./WebhookEndpointRepo.ts"

/** The URL is not allowed; `message` follows the name of a field. */
export class TargetRefused extends Data.TaggedError("TargetRefused")<{ readonly message: string }> {}

/** A message for an endpoint; `id` is also the body's. */
export interface WebhookMessage {
  readonly id: string
  readonly type: string
  readonly body: string
}

/** Result of an attempt; `error` is null if the receiver answered 2xx. */
export interface AttemptResult {
  readonly statusCode: number | null
  readonly error: string | null
  readonly responseSnippet: string | null
  readonly durationMs: number
  /** The URL is not allowed: no connection was opened. */
  readonly isRefused: boolean
}

/** Sends messages to endpoints. The implementation is in `layers/webhooks`. */
export class WebhookSender extends Context.Service<WebhookSender, {
  /**
   * Checks whether a URL can be registered. A host that cannot be resolved now is accepted, because every attempt
   * checks it again.
   */
  readonly admit: (url: string) => Effect.Effect<void, TargetRefused>
  /** Signs a message and posts it once, within 10 seconds. */
  readonly send: (endpoint: StoredEndpoint, message: WebhookMessage) => Effect.Effect<AttemptResult>
}>()("stoa/domain/webhooks/WebhookSender") {}
