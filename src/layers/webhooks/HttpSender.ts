import { DateTime, Duration, Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import { openSecret, secretOwner, signingKey } from "../../domain/webhooks/SecretEncryption.ts"
import type { AttemptResult } from "../../domain/webhooks/WebhookDelivery.ts"
import type { StoredEndpoint } from "../../domain/webhooks/WebhookRepo.ts"
import { type WebhookMessage, WebhookSender, WebhookSettings } from "../../domain/webhooks/WebhookSender.ts"
import type { AppSettings } from "../config/AppConfig.ts"
import { post } from "./PinnedRequest.ts"
import { HostResolver, targetGuard, type TargetPolicy } from "./TargetGuard.ts"

const signature = (secret: string, signed: string): string =>
  `v1,${createHmac("sha256", signingKey(secret)).update(signed).digest("base64")}`

/**
 * Headers of a delivery (contract, platform §9.2), after Standard Webhooks. The first secret is current; others sign
 * during a rotation. `x-commerce-signature` supports one only.
 */
const deliveryHeaders = (
  { body, id, type }: WebhookMessage,
  at: Date,
  [secret, ...others]: readonly [string, ...ReadonlyArray<string>]
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signed = `${id}.${timestamp}.${body}`
  return {
    "content-type": "application/json",
    "user-agent": "Stoa-Webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": [secret, ...others].map((one) => signature(one, signed)).join(" "),
    "x-commerce-event": type,
    "x-commerce-signature": createHmac("sha256", secret).update(body).digest("hex")
  }
}

const admissionLimit = "3 seconds"

/** In total (contract, platform §9.2). */
const timeLimit = "10 seconds"

const unanswered = (error: string, isRefused = false): Omit<AttemptResult, "durationMs"> => ({
  statusCode: null,
  error,
  responseSnippet: null,
  isRefused
})

/**
 * `WebhookSender` over HTTP, behind the guard (contract, platform §9.5). A name that resolves to a private address at
 * delivery is refused.
 */
export const httpSender = (policy: TargetPolicy): Layer.Layer<WebhookSender, never, HostResolver | WebhookSettings> =>
  Layer.effect(
    WebhookSender,
    Effect.gen(function*() {
      const resolveTarget = yield* targetGuard(policy)
      const { keyring } = yield* WebhookSettings

      const admit = Effect.fn("WebhookSender.admit")(function*(url: string) {
        yield* resolveTarget(url).pipe(
          Effect.catchTag("Unresolved", () => Effect.void),
          Effect.timeoutOrElse({ duration: admissionLimit, orElse: () => Effect.void })
        )
      })

      const secretsOf = ({ id, organizationId, previousSecret, secret }: StoredEndpoint) => {
        if (keyring === undefined) return undefined
        const owner = secretOwner(organizationId, id)
        const current = openSecret(keyring, owner, secret)
        const previous = previousSecret === null ? undefined : openSecret(keyring, owner, previousSecret)
        return current === undefined ? undefined : [current, ...(previous === undefined ? [] : [previous])] as const
      }

      const attempt = Effect.fnUntraced(
        function*(endpoint: StoredEndpoint, message: WebhookMessage) {
          const secrets = secretsOf(endpoint)
          if (secrets === undefined) {
            yield* Effect.logError(`the secret of webhook endpoint ${endpoint.id} cannot be opened`)
            return unanswered("The secret of the endpoint cannot be opened: rotate it.")
          }
          const headers = deliveryHeaders(message, yield* DateTime.nowAsDate, secrets)
          const { snippet, statusCode } = yield* post(yield* resolveTarget(endpoint.url), headers, message.body)
          const error = statusCode >= 200 && statusCode < 300 ? null : `The receiver answered ${statusCode}.`
          return { statusCode, error, responseSnippet: snippet, isRefused: false }
        },
        Effect.catchTags({
          TargetRefused: ({ message }) => Effect.succeed(unanswered(`The URL ${message}`, true)),
          Unresolved: ({ message }) => Effect.succeed(unanswered(message)),
          NoAnswer: ({ message }) => Effect.succeed(unanswered(message))
        }),
        Effect.timeoutOrElse({
          duration: timeLimit,
          orElse: () => Effect.succeed(unanswered(`No answer within ${timeLimit}.`))
        })
      )

      const send = Effect.fn("WebhookSender.send")(function*(endpoint: StoredEndpoint, message: WebhookMessage) {
        const [duration, result] = yield* Effect.timed(attempt(endpoint, message))
        return { ...result, durationMs: Math.round(Duration.toMillis(duration)) }
      })

      return WebhookSender.of({ admit, send })
    })
  )

const withoutKey = "STOA_SECRETS_KEY is not set: webhooks cannot be registered (docs/security.md)"

export const targetPolicy = ({ deployment, environment, webhooks: { allowPrivate } }: AppSettings): TargetPolicy => ({
  allowPrivate,
  allowHttp: environment !== "production",
  ports: deployment.webhooks.allowedPorts
})

export const hostResolver = ({ webhooks: { allowPrivate } }: AppSettings): Layer.Layer<HostResolver> =>
  allowPrivate ? HostResolver.system : HostResolver.dns

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
