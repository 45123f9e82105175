import { Effect, Option } from "effect"
import { developmentKeyring, type Keyring, readKeyring } from "../../domain/webhooks/SecretEncryption.ts"
import type { DeploymentConfig } from "./DeploymentConfig.ts"
import { InvalidSetting } from "./InvalidSetting.ts"
import { type Environment, text } from "./Variables.ts"

/** What the environment says of webhooks, over the deployment's configuration. */
export interface WebhookEnvironment {
  /**
   * Undefined without `STOA_SECRETS_KEY`. Outside of production the data directory has one then (`withKeptSecrets`); in
   * production webhooks cannot be registered.
   */
  readonly keyring: Keyring | undefined
  readonly allowPrivate: boolean
}

/** What tests run with: a key that everybody knows, and nothing internal may be reached. */
export const testWebhooks: WebhookEnvironment = { keyring: developmentKeyring, allowPrivate: false }

const refuse = (message: string) => Effect.fail(new InvalidSetting({ message }))

const keyring = Effect.gen(function*() {
  const found = yield* text("STOA_SECRETS_KEY")
  if (Option.isNone(found)) return undefined
  return readKeyring(found.value) ?? (yield* refuse(
    "STOA_SECRETS_KEY=\"…\" is not allowed: expected 32 random bytes in base64 (openssl rand -base64 32), or several " +
      "of them separated by commas, the newest first."
  ))
})

const allowPrivate = Effect.fnUntraced(function*(webhooks: DeploymentConfig["webhooks"], environment: Environment) {
  const found = yield* text("STOA_WEBHOOKS_ALLOW_PRIVATE")
  if (Option.isSome(found) && found.value !== "true" && found.value !== "false") {
    return yield* refuse(`STOA_WEBHOOKS_ALLOW_PRIVATE="${found.value}" is not allowed: expected true or false.`)
  }
  const configured = webhooks?.allowPrivateTargets ?? webhooks?.allowPrivateNetworks
  const allowed = Option.isSome(found) ? found.value === "true" : configured ?? environment === "development"
  return allowed && environment === "production"
    ? yield* refuse(
      "webhooks.allowPrivateTargets=\"true\" is not allowed: expected false when NODE_ENV is production, where webhooks " +
        "must not reach internal addresses."
    )
    : allowed
})

type Range = readonly [name: string, value: number | undefined, least: number, most: number]

const ranges = (webhooks: DeploymentConfig["webhooks"]): ReadonlyArray<Range> => [
  ["disableAfterDays", webhooks?.disableAfterDays, 1, 365],
  ["rotationHours", webhooks?.rotationHours, 0, 720],
  ["retentionDays", webhooks?.retentionDays, 2, 3650],
  ["backoff.baseSeconds", webhooks?.backoff?.baseSeconds, 1, 86_400],
  ["backoff.factor", webhooks?.backoff?.factor, 1, 10],
  ["backoff.maxSeconds", webhooks?.backoff?.maxSeconds, 1, 604_800],
  ["backoff.jitter", webhooks?.backoff?.jitter, 0, 1]
]

/** Reads what the deployment and the environment say of webhooks; fails with one readable line. */
export const readWebhooks = Effect.fnUntraced(
  function*({ webhooks }: DeploymentConfig, environment: Environment) {
    for (const [name, value, least, most] of ranges(webhooks)) {
      if (value !== undefined && !(Number.isFinite(value) && value >= least && value <= most)) {
        return yield* refuse(`webhooks.${name}="${value}" is not allowed: expected a number from ${least} to ${most}.`)
      }
    }
    const settings: WebhookEnvironment = {
      keyring: yield* keyring,
      allowPrivate: yield* allowPrivate(webhooks, environment)
    }
    return settings
  }
)
