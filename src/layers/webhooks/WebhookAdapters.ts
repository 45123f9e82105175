import { Effect, Layer } from "effect"
import { defaultWebhookOptions, WebhookSettings } from "../../domain/webhooks/WebhookSettings.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { guardedTransport } from "./GuardedTransport.ts"
import { HostResolver } from "./HostResolver.ts"

const withoutKey = "STOA_SECRETS_KEY is not set: webhooks cannot be registered (docs/security.md)"

/** The settings of webhooks and their way out, as the deployment configured them. */
export const webhookAdapters = ({ deployment, environment, webhooks }: AppSettings) => {
  const { allowPrivate, keyring } = webhooks
  const { disableAfterDays, retentionDays, rotationHours } = { ...defaultWebhookOptions, ...deployment.webhooks }
  const backoff = { ...defaultWebhookOptions.backoff, ...deployment.webhooks?.backoff }
  const policy = { allowPrivate, allowHttp: environment !== "production", ports: deployment.webhooks?.allowedPorts }
  return Layer.mergeAll(
    keyring === undefined ? Layer.effectDiscard(Effect.logWarning(withoutKey)) : Layer.empty,
    WebhookSettings.layerOf({ keyring, disableAfterDays, retentionDays, rotationHours, backoff }),
    Layer.provide(guardedTransport(policy), allowPrivate ? HostResolver.system : HostResolver.dns)
  )
}
