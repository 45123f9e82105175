import { Context, Layer } from "effect"
import { developmentKeyring, type Keyring } from "./SecretEncryption.ts"
import { usualBackoff, type WebhookBackoff } from "./WebhookRetries.ts"

/** What a deployment decides about webhooks. */
export interface WebhookOptions {
  /** Keys that seal the secrets of endpoints; without any, none can be registered. */
  readonly keyring: Keyring | undefined
  /** Days of failures only after which an endpoint is switched off. */
  readonly disableAfterDays: number
  /** Hours the previous secret signs in addition to the new one. */
  readonly rotationHours: number
  /** Retention of attempts and their bodies in days. */
  readonly retentionDays: number
  /** How long deliveries that failed wait. */
  readonly backoff: WebhookBackoff
}

export const defaultWebhookOptions: WebhookOptions = {
  keyring: developmentKeyring,
  disableAfterDays: 5,
  rotationHours: 24,
  retentionDays: 30,
  backoff: usualBackoff
}

/** The settings of this deployment's webhooks. */
export class WebhookSettings
  extends Context.Service<WebhookSettings, WebhookOptions>()("stoa/domain/webhooks/WebhookSettings")
{
  static readonly layerOf = (options: Partial<WebhookOptions> = {}): Layer.Layer<WebhookSettings> =>
    Layer.succeed(WebhookSettings, { ...defaultWebhookOptions, ...options })
}
