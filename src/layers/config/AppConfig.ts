import { Context, Effect, Layer, Option, type Redacted } from "effect"
import type { JobSettingsValues } from "../../domain/jobs/JobSettings.ts"
import type { RateLimitValues } from "../../domain/ratelimits/RateLimitSettings.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { type AccessSettings, readAccess } from "./AccessConfig.ts"
import { checkAnalytics } from "./AnalyticsConfig.ts"
import { type AuthSettings, publicUrl, readAuth } from "./AuthConfig.ts"
import { checkCatalog } from "./CatalogConfig.ts"
import { databaseUrl, grace, trustedProxy } from "./ConnectionConfig.ts"
import type { DeploymentConfig } from "./DeploymentConfig.ts"
import { jobs } from "./JobConfig.ts"
import { developmentKey, metricsKey } from "./KeyConfig.ts"
import { type MailEnvironment, readMail, verificationNeedsMail } from "./MailConfig.ts"
import { type MediaEnvironment, readMedia } from "./MediaConfig.ts"
import { checkNetwork, type ProcessRole } from "./NetworkConfig.ts"
import { type PaymentSettings, readPayments } from "./PaymentConfig.ts"
import { readRateLimits } from "./RateLimitConfig.ts"
import { checkSearch } from "./SearchConfig.ts"
import { checkStore, storeSettings } from "./StoreConfig.ts"
import { checkTax } from "./TaxConfig.ts"
import { tracing, type TracingSettings } from "./TracingConfig.ts"
import { allReadable, type Environment, oneOf, port, text } from "./Variables.ts"
import { readWebhooks, type WebhookEnvironment } from "./WebhookConfig.ts"

/** The settings of a process: its environment over what the deployment configured. */
export interface AppSettings {
  readonly port: number
  readonly host: string
  /** The proxies, as a list, whose word about a client's address counts (`X-Forwarded-For`); none believes nobody. */
  readonly trustedProxy: Option.Option<string>
  /** None: the embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl: Option.Option<Redacted.Redacted<string>>
  readonly dataDir: string
  readonly role: ProcessRole
  /** Address under which other processes of the deployment reach the actors of this one. */
  readonly runnerHost: string
  readonly runnerPort: number
  /** Whether one of the two was set: a process that does everything listens for others only then. */
  readonly runnerAddressSet: boolean
  /** Key of the role admin; exists outside production only, and lies in the data directory where none is set. */
  readonly developmentKey: Option.Option<Redacted.Redacted<string>>
  /** Key that reads the metrics and nothing else; the only one in production until keys are stored. */
  readonly metricsKey: Option.Option<Redacted.Redacted<string>>
  readonly environment: Environment
  /** So long a process that was told to stop goes on answering, for proxies that have not noticed yet. */
  readonly graceMs: number
  /** Where traces go; absent: nobody traces, which costs nothing. */
  readonly tracing?: TracingSettings
  readonly logLevel: LogLevel
  readonly logFormat: "pretty" | "json"
  readonly access: AccessSettings
  readonly webhooks: WebhookEnvironment
  readonly mail: MailEnvironment
  readonly media: MediaEnvironment
  readonly payments: PaymentSettings
  readonly jobs: JobSettingsValues
  readonly rateLimits: RateLimitValues
  readonly auth: AuthSettings
  readonly deployment: DeploymentConfig
}

const logLevels = ["debug", "info", "warn", "error", "none"] as const
export type LogLevel = typeof logLevels[number]

/** Actors of one machine's processes must not share a port, so the default follows from `PORT`. */
const defaultRunnerPort = (apiPort: number): number =>
  apiPort === 0 ? 0 : apiPort + 10_000 <= 65_535 ? apiPort + 10_000 : apiPort - 10_000

/** Where this process listens. */
export const readAddresses = (deployment: DeploymentConfig, flag?: ProcessRole) =>
  Effect.gen(function*() {
    const apiPort = yield* port("PORT", deployment.server?.port ?? 4000)
    const runnerHost = yield* text("STOA_RUNNER_HOST")
    return {
      port: apiPort,
      host: Option.getOrElse(yield* text("HOST"), () => deployment.server?.host ?? "127.0.0.1"),
      role: flag ?? (yield* oneOf("STOA_ROLE", ["all", "api", "runner"], "all")),
      runnerHost: Option.getOrElse(runnerHost, () => "127.0.0.1"),
      runnerPort: yield* port("STOA_RUNNER_PORT", defaultRunnerPort(apiPort)),
      runnerAddressSet: Option.isSome(runnerHost) || Option.isSome(yield* text("STOA_RUNNER_PORT"))
    }
  })

/** What is only looked at, and what the settings are made of. */
const readers = (deployment: DeploymentConfig, environment: Environment, role: ProcessRole | undefined) => {
  const addresses = readAddresses(deployment, role)
  const webhooks = readWebhooks(deployment, environment)
  const mail = Effect.flatMap(webhooks, ({ keyring }) => readMail(deployment.email, environment, keyring))
  const verified = deployment.auth?.requireEmailVerification ?? true
  const checks = {
    network: Effect.flatMap(addresses, (where) => checkNetwork({ ...where, environment })),
    store: checkStore(deployment),
    tax: checkTax(deployment.tax),
    analytics: checkAnalytics(deployment.analytics),
    search: checkSearch(deployment.search),
    catalog: checkCatalog(deployment.catalog),
    verification: Effect.flatMap(mail, (found) => verificationNeedsMail(verified, environment, found))
  }
  const values = {
    addresses,
    trustedProxy: trustedProxy(deployment.server?.trustedProxyIp),
    databaseUrl: databaseUrl(deployment.databaseUrl),
    dataDir: Effect.map(text("STOA_DATA_DIR"), Option.getOrElse(() => deployment.dataDir ?? ".data")),
    developmentKey: developmentKey(environment),
    metricsKey,
    graceMs: grace(environment),
    tracing,
    logLevel: oneOf("STOA_LOG_LEVEL", logLevels, environment === "test" ? "warn" : "info"),
    logFormat: oneOf("STOA_LOG_FORMAT", ["pretty", "json"], environment === "production" ? "json" : "pretty"),
    access: readAccess(deployment.auth ?? {}, deployment.store?.defaultOrganizationId, environment),
    webhooks,
    mail,
    media: Effect.flatMap(
      Effect.all([publicUrl(deployment.server?.publicUrl), addresses]),
      ([url, { role }]) => readMedia(deployment, Option.getOrUndefined(url), role === "all")
    ),
    payments: readPayments(deployment.payments ?? {}, environment),
    jobs: jobs(deployment.jobs ?? {}),
    rateLimits: readRateLimits(deployment.rateLimits ?? {}, environment === "production"),
    auth: readAuth(deployment.auth ?? {}, deployment.server?.publicUrl, environment)
  }
  return { checks, values }
}

/**
 * Reads the environment over the deployment's configuration; fails with a readable line for each setting that cannot be
 * used (`InvalidSetting`).
 */
export const readSettings = Effect.fnUntraced(function*(deployment: DeploymentConfig, role?: ProcessRole) {
  const environment = yield* oneOf("NODE_ENV", ["development", "production", "test"], "development")
  const { checks, values } = readers(deployment, environment, role)
  yield* allReadable({ ...checks, ...values })
  const { addresses, tracing: traced, ...read } = yield* Effect.all(values)
  const settings: AppSettings = {
    ...read,
    ...addresses,
    environment,
    ...traced === undefined ? {} : { tracing: traced },
    deployment
  }
  return settings
})

/** The settings of this process. */
export class AppConfig extends Context.Service<AppConfig, AppSettings>()("stoa/layers/config/AppConfig") {}

/** The part of the settings that the domain may know. */
export const storeSettingsLayer: Layer.Layer<StoreSettings, never, AppConfig> = Layer.effect(
  StoreSettings,
  Effect.map(AppConfig, ({ access, auth, deployment }) => ({
    ...storeSettings(access, deployment),
    keysEnabled: auth.apiKeys.enabled
  }))
)
