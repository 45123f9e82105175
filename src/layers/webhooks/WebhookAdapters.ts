import { Effect, Layer } from "effect"
import { defaultWebhookOptions, WebhookSettings } from "../../domain/webhooks/WebhookSettings.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { guardedTransport } from "./GuardedTransport.ts"
import { HostResolver } from "./HostResolver.ts"
import type { TargetPolicy } from "./TargetRules.ts"

const withoutKey = "STOA_SECRETS_KEY is not set: webhooks cannot be registered (docs/security.md)"

/** What the deployment's requests to addresses that strangers name may reach. */
export const targetPolicy = ({ deployment, environment, webhooks: { allowPrivate } }: AppSettings): TargetPolicy => ({
  allowPrivate,
  allowHttp: environment !== "production",
  ports: deployment.webhooks?.allowedPorts
})

/** Who finds the hosts of these. */
export const hostResolver = ({ webhooks: { allowPrivate } }: AppSettings): Layer.Layer<HostResolver> =>
  allowPrivate ? HostResolver.system : HostResolver.dns

/** The settings of webhooks and their way out, as the deployment configured them. */
export const webhookAdapters = (settings: AppSettings) => {
  const { deployment, webhooks: { keyring } } = settings
  const { disableAfterDays, retentionDays, rotationHours } = { ...defaultWebhookOptions, ...deployment.webhooks }
  const backoff = { ...defaultWebhookOptions.backoff, ...deployment.webhooks?.backoff }
  return Layer.mergeAll(
    keyring === undefined ? Layer.effectDiscard(Effect.logWarning(withoutKey)) : Layer.empty,
    WebhookSettings.layerOf({ keyring, disableAfterDays, retentionDays, rotationHours, backoff }),
    Layer.provide(guardedTransport(targetPolicy(settings)), hostResolver(settings))
  )
}
