import { Context, Layer } from "effect"
import { developmentKeyring, type Keyring } from "./SecretEncryption.ts"

/** Waits of failed deliveries (contract, platform §9.3). */
export interface WebhookBackoff {
  /** Seconds before the first retry. */
  readonly baseSeconds: number
  /** Growth of each wait over the previous one. */
  readonly factor: number
  /** Maximum wait in seconds. */
  readonly maxSeconds: number
  /**
   * Varies each wait by up to this share of it, 0 to 1, so that deliveries that failed together are not retried
   * together.
   */
  readonly jitter: number
}

/** Settings of a deployment's webhooks. */
export interface WebhookOptions {
  /** Keys that encrypt the secrets of endpoints; without any, none can be registered. */
  readonly keyring: Keyring | undefined
  /** Days of failures only after which an endpoint is switched off. */
  readonly disableAfterDays: number
  /** Hours the previous secret signs in addition to the new one. */
  readonly rotationHours: number
  /** Retention of attempts and their bodies in days. */
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

/** The settings of this deployment's webhooks. */
export class WebhookSettings
  extends Context.Service<WebhookSettings, WebhookOptions>()("stoa/domain/webhooks/WebhookSettings")
{
  static readonly layerOf = (options: Partial<WebhookOptions> = {}): Layer.Layer<WebhookSettings> =>
    Layer.succeed(WebhookSettings, { ...defaultWebhookOptions, ...options })
}
