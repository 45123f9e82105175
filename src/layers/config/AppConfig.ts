import { Config, Context, Effect, Layer, Option, Redacted } from "effect"
import type { JobSettingsValues } from "../../domain/jobs/JobSettings.ts"
import { isCurrencyCode } from "../../domain/money/Currency.ts"
import type { RateLimitValues } from "../../domain/ratelimits/RateLimitSettings.ts"
import { defaultSettings, type Settings, StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { proxyTest } from "../../http/server/ClientAddress.ts"
import { type AccessSettings, readAccess } from "./AccessConfig.ts"
import { type AuthSettings, readAuth } from "./AuthConfig.ts"
import type { DeploymentConfig } from "./DeploymentConfig.ts"
import { InvalidSetting } from "./InvalidSetting.ts"
import { driversClash, type JobOptions, jobSettings, wrongNumber } from "./JobOptions.ts"
import { type MailEnvironment, readMail, verificationNeedsMail } from "./MailConfig.ts"
import { readRateLimits } from "./RateLimitConfig.ts"
import { readWebhooks, type WebhookEnvironment } from "./WebhookConfig.ts"

/** What a process does: everything, the HTTP edge alone, or the actors and workflows alone. */
export type ProcessRole = "all" | "api" | "runner"

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
  /** Key of the role admin; exists outside production only. */
  readonly developmentKey: Option.Option<Redacted.Redacted<string>>
  /** Key that reads the metrics and nothing else; the only one in production until keys are stored. */
  readonly metricsKey: Option.Option<Redacted.Redacted<string>>
  readonly environment: "development" | "production" | "test"
  /** Where traces go; absent: nobody traces, which costs nothing. */
  readonly tracing?: TracingSettings
  readonly logLevel: LogLevel
  readonly logFormat: "pretty" | "json"
  readonly access: AccessSettings
  readonly webhooks: WebhookEnvironment
  readonly mail: MailEnvironment
  readonly jobs: JobSettingsValues
  readonly auth: AuthSettings
  readonly rateLimits: RateLimitValues
  readonly deployment: DeploymentConfig
}

/** A receiver of traces that speaks OTLP over HTTP, with JSON bodies. */
export interface TracingSettings {
  /** Full address, `http://collector:4318/v1/traces`. */
  readonly url: string
  readonly headers: Readonly<Record<string, Redacted.Redacted<string>>>
  /** Name of this service among those of the receiver. */
  readonly serviceName: string
}

const logLevels = ["debug", "info", "warn", "error", "none"] as const
export type LogLevel = typeof logLevels[number]

const refuse = (name: string, value: string, allowed: string) =>
  Effect.fail(new InvalidSetting({ message: `${name}="${value}" is not allowed: expected ${allowed}.` }))

/** An empty variable counts as absent, as shells and compose files write it. */
const text = (name: string) =>
  Effect.map(
    Config.option(Config.String(name)),
    Option.filter((value) => value !== "")
  )

const port = (name: string, fallback: number) =>
  Effect.flatMap(text(name), (found) => {
    if (Option.isNone(found)) return Effect.succeed(fallback)
    const value = Number(found.value)
    return Number.isInteger(value) && value >= 0 && value <= 65_535
      ? Effect.succeed(value)
      : refuse(name, found.value, "a port number from 0 to 65535 (0 picks a free one)")
  })

const oneOf = <const A extends ReadonlyArray<string>>(name: string, allowed: A, fallback: A[number]) =>
  Effect.flatMap(text(name), (found) => {
    if (Option.isNone(found)) return Effect.succeed(fallback)
    const match = allowed.find((value): value is A[number] => value === found.value)
    return match === undefined ? refuse(name, found.value, allowed.join(", ")) : Effect.succeed(match)
  })

const trustedProxy = Effect.fnUntraced(function*(configured: string | undefined) {
  const value = Option.getOrUndefined(yield* text("TRUSTED_PROXY_IP")) ?? configured
  if (value === undefined) return Option.none<string>()
  return proxyTest(value) === undefined
    ? yield* refuse("TRUSTED_PROXY_IP", value, "IP addresses and networks, for example 10.0.0.5, 10.1.0.0/16")
    : Option.some(value)
})

const databaseUrl = Effect.fnUntraced(function*(configured: string | undefined) {
  const value = Option.getOrUndefined(yield* text("DATABASE_URL")) ?? configured
  if (value === undefined) return Option.none<Redacted.Redacted<string>>()
  const protocol = URL.canParse(value) ? new URL(value).protocol : ""
  // The value holds a password, so the message shows its beginning only.
  if (protocol !== "postgres:" && protocol !== "postgresql:") {
    return yield* refuse("DATABASE_URL", `${value.slice(0, 10)}…`, "postgres://user:password@host:port/database")
  }
  return Option.some(Redacted.make(value))
})

const developmentKey = Effect.fnUntraced(function*(environment: AppSettings["environment"]) {
  const found = yield* text("STOA_DEV_API_KEY")
  if (environment !== "production") {
    return Option.some(Redacted.make(Option.getOrElse(found, () => "dev-admin-key")))
  }
  return Option.isSome(found)
    ? yield* refuse(
      "STOA_DEV_API_KEY",
      "…",
      "no value when NODE_ENV is production: the development key does not exist there"
    )
    : Option.none<Redacted.Redacted<string>>()
})

/** A key that can be guessed would tell strangers how much the store sells. */
const shortestKey = 16

const metricsKey = Effect.flatMap(
  text("STOA_METRICS_KEY"),
  Option.match({
    onNone: () => Effect.succeed(Option.none<Redacted.Redacted<string>>()),
    onSome: (key) =>
      key.length >= shortestKey
        ? Effect.succeed(Option.some(Redacted.make(key)))
        : refuse("STOA_METRICS_KEY", "…", `at least ${shortestKey} characters`)
  })
)

/** Actors of one machine's processes must not share a port, so the default follows from `PORT`. */
const defaultRunnerPort = (apiPort: number): number =>
  apiPort === 0 ? 0 : apiPort + 10_000 <= 65_535 ? apiPort + 10_000 : apiPort - 10_000

/** What `commerce.config.ts` says of the store must be usable before the first request finds out that it is not. */
const checkStore = Effect.fnUntraced(function*({ journal, retention, server, store }: DeploymentConfig) {
  const { defaultCurrency = defaultSettings.defaultCurrency } = store ?? {}
  const { defaultOrganizationId = defaultSettings.defaultOrganizationId } = store ?? {}
  if (!isCurrencyCode(defaultCurrency)) {
    return yield* refuse("store.defaultCurrency", defaultCurrency, "the upper-case code of a currency, for example USD")
  }
  const keepDays = journal?.keepDays ?? defaultSettings.journalDays
  if (!Number.isInteger(keepDays) || keepDays < 0 || keepDays > 36_500) {
    return yield* refuse("journal.keepDays", String(keepDays), "a whole number of days, 0 for ever")
  }
  for (const [name, value] of Object.entries(retention ?? {})) {
    if (!Number.isInteger(value) || value < 1 || value > 36_500) {
      return yield* refuse(`retention.${name}`, String(value), "a whole number from 1 to 36500")
    }
  }
  for (const [name, value] of Object.entries(server?.requestTimes ?? {})) {
    if (!Number.isInteger(value) || value < 1 || value > 3_600_000) {
      return yield* refuse(`server.requestTimes.${name}`, String(value), "a whole number of milliseconds up to 3600000")
    }
  }
  if (!/^[\w-]{1,64}$/.test(defaultOrganizationId)) {
    return yield* refuse("store.defaultOrganizationId", defaultOrganizationId, "1 to 64 letters, digits, _ and -")
  }
})

/** `name=value,name=value`, with values as in an URL, as OpenTelemetry writes headers. */
const headersOf = (list: string): TracingSettings["headers"] =>
  Object.fromEntries(
    list.split(",").map((pair) => pair.split("=")).filter(([name = ""]) => name.trim() !== "").map((
      [name = "", ...value]
    ) => [name.trim().toLowerCase(), Redacted.make(decodeURIComponent(value.join("=").trim()))])
  )

const tracing = Effect.gen(function*() {
  const own = yield* text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
  const common = Option.map(
    yield* text("OTEL_EXPORTER_OTLP_ENDPOINT"),
    (base) => `${base.replace(/\/$/, "")}/v1/traces`
  )
  const exporter = yield* oneOf("OTEL_TRACES_EXPORTER", ["otlp", "none"], "otlp")
  const url = Option.getOrUndefined(Option.orElse(own, () => common))
  if (url === undefined || exporter === "none") return undefined
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
    const name = Option.isSome(own) ? "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" : "OTEL_EXPORTER_OTLP_ENDPOINT"
    return yield* refuse(name, url, "http://host:port")
  }
  const settings: TracingSettings = {
    url,
    headers: headersOf(Option.getOrElse(yield* text("OTEL_EXPORTER_OTLP_HEADERS"), () => "")),
    serviceName: Option.getOrElse(yield* text("OTEL_SERVICE_NAME"), () => "stoa")
  }
  return settings
})

const milliseconds = (name: string) =>
  Effect.flatMap(text(name), (found) => {
    if (Option.isNone(found)) return Effect.succeed(undefined)
    const value = Number(found.value)
    return Number.isInteger(value) && value >= 1 && value <= 2_147_483_647
      ? Effect.succeed(value)
      : refuse(name, found.value, "a whole number of milliseconds from 1")
  })

/** The queue's settings; a queue is driven by one driver, its own engine or these processes. */
const jobs = Effect.fnUntraced(function*(options: JobOptions) {
  const asked = yield* oneOf("STOA_JOBS_AUTORUN", ["true", "false", ""], "")
  const environment = {
    autorun: asked === "" ? undefined : asked === "true",
    leaseMs: yield* milliseconds("JOB_REAP_THRESHOLD_MS"),
    reapMs: yield* milliseconds("JOBS_REAPER_INTERVAL_MS")
  }
  const wrong = wrongNumber(options)
  if (wrong !== undefined) {
    return yield* refuse(`jobs.${wrong[0]}`, String(wrong[1]), "a whole number from 1")
  }
  if (driversClash(options, environment)) {
    return yield* refuse(
      "jobs.autorun.enabled",
      "true",
      "false: the push engine of jobs.adapter drives the jobs itself"
    )
  }
  return jobSettings(options, environment)
})

/** Reads the environment over the deployment's configuration; fails with one readable line (`InvalidSetting`). */
export const readSettings = Effect.fnUntraced(function*(deployment: DeploymentConfig) {
  yield* checkStore(deployment)
  const environment = yield* oneOf("NODE_ENV", ["development", "production", "test"], "development")
  const apiPort = yield* port("PORT", deployment.server?.port ?? 4000)
  const traced = yield* tracing
  const webhooks = yield* readWebhooks(deployment, environment)
  const mail = yield* readMail(deployment.email, environment, webhooks.keyring)
  const auth = yield* readAuth(deployment.auth ?? {}, deployment.server?.publicUrl, environment)
  yield* verificationNeedsMail(auth.requireEmailVerification, environment, mail)
  const settings: AppSettings = {
    port: apiPort,
    host: Option.getOrElse(yield* text("HOST"), () => deployment.server?.host ?? "127.0.0.1"),
    trustedProxy: yield* trustedProxy(deployment.server?.trustedProxyIp),
    databaseUrl: yield* databaseUrl(deployment.databaseUrl),
    dataDir: Option.getOrElse(yield* text("STOA_DATA_DIR"), () => deployment.dataDir ?? ".data"),
    role: yield* oneOf("STOA_ROLE", ["all", "api", "runner"], "all"),
    runnerHost: Option.getOrElse(yield* text("STOA_RUNNER_HOST"), () => "127.0.0.1"),
    runnerPort: yield* port("STOA_RUNNER_PORT", defaultRunnerPort(apiPort)),
    developmentKey: yield* developmentKey(environment),
    metricsKey: yield* metricsKey,
    environment,
    ...traced === undefined ? {} : { tracing: traced },
    logLevel: yield* oneOf("STOA_LOG_LEVEL", logLevels, environment === "test" ? "warn" : "info"),
    logFormat: yield* oneOf("STOA_LOG_FORMAT", ["pretty", "json"], environment === "production" ? "json" : "pretty"),
    access: yield* readAccess(deployment.auth ?? {}, deployment.store?.defaultOrganizationId, environment),
    webhooks,
    mail,
    jobs: yield* jobs(deployment.jobs ?? {}),
    auth,
    rateLimits: yield* readRateLimits(deployment.rateLimits ?? {}, environment === "production"),
    deployment
  }
  return settings
})

/** The settings of this process. */
export class AppConfig extends Context.Service<AppConfig, AppSettings>()("stoa/layers/config/AppConfig") {}

const storeSettings = ({ access, deployment }: AppSettings): Settings => ({
  defaultOrganizationId: access.defaultOrganizationId,
  defaultCurrency: deployment.store?.defaultCurrency ?? defaultSettings.defaultCurrency,
  cartTtlMinutes: deployment.cart?.ttlMinutes ?? defaultSettings.cartTtlMinutes,
  holdSeconds: deployment.checkout?.holdSeconds ?? defaultSettings.holdSeconds,
  confirmationMinutes: deployment.checkout?.confirmationMinutes ?? defaultSettings.confirmationMinutes,
  shipping: deployment.shipping ?? defaultSettings.shipping,
  roles: access.roles,
  customerPermissions: access.customerPermissions,
  idempotencyHours: deployment.retention?.idempotencyHours ?? defaultSettings.idempotencyHours,
  journalDays: deployment.journal?.keepDays ?? defaultSettings.journalDays,
  endedCartDays: deployment.retention?.cartDays ?? defaultSettings.endedCartDays,
  endedHoldDays: deployment.retention?.holdDays ?? defaultSettings.endedHoldDays,
  providerEventDays: deployment.retention?.providerEventDays ?? defaultSettings.providerEventDays
})

/** The part of the settings that the domain may know. */
export const storeSettingsLayer: Layer.Layer<StoreSettings, never, AppConfig> = Layer.effect(
  StoreSettings,
  Effect.map(AppConfig, storeSettings)
)
