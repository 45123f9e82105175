import { type Keyring, readKeyring } from "../../domain/webhooks/SecretEncryption.ts"
import { defaultWebhookOptions } from "../../domain/webhooks/WebhookSender.ts"
import * as Setting from "./Settings.ts"

export const webhookSettings = Setting.group({
  /**
   * Whether webhooks can reach this machine and private networks. Default: in development only; refused in production
   * (`STOA_WEBHOOKS_ALLOW_PRIVATE`). `allowPrivateNetworks` is the same.
   */
  allowPrivateTargets: Setting.optional(Setting.flag, "STOA_WEBHOOKS_ALLOW_PRIVATE"),
  allowPrivateNetworks: Setting.optional(Setting.flag),
  /** The only ports of receivers. Default: any. */
  allowedPorts: Setting.optional(Setting.code<ReadonlyArray<number>>()),
  /** Days of failures after which an endpoint is switched off. Default 5. */
  disableAfterDays: Setting.withDefault(Setting.between(1, 365), defaultWebhookOptions.disableAfterDays),
  /** Hours that a replaced secret signs besides the new one. Default 24. */
  rotationHours: Setting.withDefault(Setting.between(0, 720), defaultWebhookOptions.rotationHours),
  /** Days that deliveries are kept, and can be sent again. Default 30. */
  retentionDays: Setting.withDefault(Setting.between(2, 3_650), defaultWebhookOptions.retentionDays),
  /** How long a failed delivery waits for its next attempt. */
  backoff: Setting.group({
    /** Seconds before the first retry. Default 170. */
    baseSeconds: Setting.withDefault(Setting.between(1, 86_400), defaultWebhookOptions.backoff.baseSeconds),
    /** Growth of each wait over the previous one. Default 2. */
    factor: Setting.withDefault(Setting.between(1, 10), defaultWebhookOptions.backoff.factor),
    /** Seconds that no wait exceeds. Default 43200. */
    maxSeconds: Setting.withDefault(Setting.between(1, 604_800), defaultWebhookOptions.backoff.maxSeconds),
    /** Varies each wait by up to this share of it, 0 to 1. Default 0.2. */
    jitter: Setting.withDefault(Setting.between(0, 1), defaultWebhookOptions.backoff.jitter)
  })
})

/** Reads the keys that encrypt stored secrets; undefined if none is set, or if it is none. */
export const keyringOf = (value: string | undefined, problems: Setting.Problems): Keyring | undefined => {
  const keyring = value === undefined ? undefined : readKeyring(value)
  if (value !== undefined && keyring === undefined) {
    problems.refuse(
      "STOA_SECRETS_KEY",
      "…",
      "32 random bytes in base64 (openssl rand -base64 32), or several of them separated by commas, the newest first"
    )
  }
  return keyring
}

/** Whether requests to addresses that others name can reach private networks. */
export const allowsPrivate = (
  webhooks: typeof webhookSettings.Type,
  environment: Setting.Environment,
  problems: Setting.Problems
): boolean => {
  const allowed = webhooks.allowPrivateTargets ?? webhooks.allowPrivateNetworks ?? environment === "development"
  if (allowed && environment === "production") {
    problems.refuse(
      "webhooks.allowPrivateTargets",
      true,
      "false when NODE_ENV is production, where webhooks must not reach internal addresses"
    )
  }
  return allowed
}
