import { Effect, Layer } from "effect"
import { WebhookSettings } from "../../domain/webhooks/WebhookSettings.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { HostResolver } from "./HostResolver.ts"
import { httpSender } from "./HttpSender.ts"
import type { TargetPolicy } from "./TargetGuard.ts"

const withoutKey = "STOA_SECRETS_KEY is not set: webhooks cannot be registered (docs/security.md)"

/** The targets that the deployment allows for URLs that clients name. */
export const targetPolicy = ({ deployment, environment, webhooks: { allowPrivate } }: AppSettings): TargetPolicy => ({
  allowPrivate,
  allowHttp: environment !== "production",
  ports: deployment.webhooks.allowedPorts
})

/** The resolver of their hosts. */
export const hostResolver = ({ webhooks: { allowPrivate } }: AppSettings): Layer.Layer<HostResolver> =>
  allowPrivate ? HostResolver.system : HostResolver.dns

/** The settings of webhooks and their sender, as the deployment configured them. */
export const webhookAdapters = (settings: AppSettings) => {
  const { deployment, webhooks: { keyring } } = settings
  const { backoff, disableAfterDays, retentionDays, rotationHours } = deployment.webhooks
  return Layer.mergeAll(
    keyring === undefined ? Layer.effectDiscard(Effect.logWarning(withoutKey)) : Layer.empty,
    Layer.provide(httpSender(targetPolicy(settings)), hostResolver(settings))
  ).pipe(
    Layer.provideMerge(WebhookSettings.layerOf({ keyring, disableAfterDays, retentionDays, rotationHours, backoff }))
  )
}
