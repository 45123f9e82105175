import { Context, Data, type Effect, Layer } from "effect"
import { developmentKeyring, type Keyring } from "./SecretEncryption.ts"
import type { AttemptResult } from "./WebhookDelivery.ts"
import type { StoredEndpoint } from "./WebhookRepo.ts"

/** The URL is not allowed; `message` follows the name of a field. */
export class TargetRefused extends Data.TaggedError("TargetRefused")<{ readonly message: string }> {}

export interface WebhookMessage {
  readonly id: string
  readonly type: string
  readonly body: string
}

/** Sends messages to endpoints. The implementation is in `layers/webhooks`. */
export class WebhookSender extends Context.Service<WebhookSender, {
  /** Accepts a host that cannot be resolved now, because every attempt checks it again. */
  readonly admit: (url: string) => Effect.Effect<void, TargetRefused>
  /** Signs a message and posts it once, within 10 seconds. */
  readonly send: (endpoint: StoredEndpoint, message: WebhookMessage) => Effect.Effect<AttemptResult>
}>()("stoa/domain/webhooks/WebhookSender") {}

export interface WebhookBackoff {
  readonly baseSeconds: number
  readonly factor: number
  readonly maxSeconds: number
  /** Share of each wait, 0 to 1, by which it varies: deliveries that failed together are not retried together. */
  readonly jitter: number
}

export interface WebhookOptions {
  /** Encrypts the secrets of endpoints; without a key none can be registered. */
  readonly keyring: Keyring | undefined
  /** Days of failures only after which an endpoint is switched off. */
  readonly disableAfterDays: number
  /** Hours the previous secret signs in addition to the new one. */
  readonly rotationHours: number
  /** Days. */
  readonly retentionDays: number
  readonly backoff: WebhookBackoff
}

export const defaultWebhookOptions: WebhookOptions = {
  keyring: developmentKeyring,
  disableAfterDays: 5,
  rotationHours: 24,
  retentionDays: 30,
  // The first retry after about 3 minutes, then twice as long each time: ten attempts over about a day.
  backoff: { baseSeconds: 170, factor: 2, maxSeconds: 43_200, jitter: 0.2 }
}

export class WebhookSettings
  extends Context.Service<WebhookSettings, WebhookOptions>()("stoa/domain/webhooks/WebhookSettings")
{
  static readonly layerOf = (options: Partial<WebhookOptions> = {}): Layer.Layer<WebhookSettings> =>
    Layer.succeed(WebhookSettings, { ...defaultWebhookOptions, ...options })
}
