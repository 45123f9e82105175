import { Context, Effect, Layer, Option, Redacted } from "effect"
import { modelFlaws } from "../../domain/analytics/ModelRules.ts"
import type { ImportExportLimits } from "../../domain/import-export/ImportExportSettings.ts"
import { rateLimitValues } from "../../domain/ratelimits/RateLimitSettings.ts"
import { type Settings, StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { accessOf } from "./AccessConfig.ts"
import { authOf, variablesOfBetterAuth } from "./AuthConfig.ts"
import { checkTls } from "./DatabaseTls.ts"
import { type Deployment, type DeploymentConfig, deploymentSettings } from "./DeploymentConfig.ts"
import { jobsOf } from "./JobConfig.ts"
import { mailOf } from "./MailConfig.ts"
import { mediaOf } from "./MediaConfig.ts"
import { checkNetwork, type ProcessRole } from "./NetworkConfig.ts"
import { paymentsOf } from "./PaymentConfig.ts"
import * as Setting from "./Settings.ts"
import { shippingOf, taxesOf } from "./TaxConfig.ts"
import { allowsPrivate, keyringOf } from "./WebhookConfig.ts"

/** Processes of one machine must not share a port, so the default follows from `PORT`. */
const defaultRunnerPort = (apiPort: number): number =>
  apiPort === 0 ? 0 : apiPort + 10_000 <= 65_535 ? apiPort + 10_000 : apiPort - 10_000

const nodeEnvironment = Setting.group({
  environment: Setting.withDefault(Setting.oneOf("development", "production", "test"), "development", "NODE_ENV")
})

const receiver = Setting.webAddress("http://host:port")

/** Settings that only the environment has; those of traces have the names of OpenTelemetry. */
const processSettings = (environment: Setting.Environment, apiPort: number) =>
  Setting.group({
    role: Setting.withDefault(Setting.oneOf("all", "api", "runner"), "all", "STOA_ROLE"),
    /** Address under which other processes of the deployment reach the actors of this one. */
    runnerHost: Setting.withDefault(Setting.text, "127.0.0.1", "STOA_RUNNER_HOST"),
    runnerPort: Setting.withDefault(Setting.port, defaultRunnerPort(apiPort), "STOA_RUNNER_PORT"),
    allowOnNetwork: Setting.withDefault(Setting.flag, false, "STOA_ALLOW_DEVELOPMENT_ON_NETWORK"),
    /** Key of the role admin outside of production; the data directory has one if none is set. */
    developmentKey: Setting.optional(
      Setting.secret("no value when NODE_ENV is production: the development key does not exist there", () =>
        environment !== "production"),
      "STOA_DEV_API_KEY"
    ),
    /** Key that reads only the metrics; one that can be guessed would publish how much the store sells. */
    metricsKey: Setting.optional(
      Setting.secret("at least 16 characters", (key) =>
        key.length >= 16),
      "STOA_METRICS_KEY"
    ),
    secretsKey: Setting.optional(Setting.text, "STOA_SECRETS_KEY"),
    /** How long a stopping process continues to answer, for proxies that notice it by their probes. */
    graceMs: Setting.withDefault(
      Setting.milliseconds(0, 6_000),
      environment === "production" ? 5_000 : 0,
      "STOA_SHUTDOWN_GRACE_MS"
    ),
    logLevel: Setting.withDefault(
      Setting.oneOf("debug", "info", "warn", "error", "none"),
      environment === "test" ? "warn" : "info",
      "STOA_LOG_LEVEL"
    ),
    logFormat: Setting.withDefault(
      Setting.oneOf("pretty", "json"),
      environment === "production" ? "json" : "pretty",
      "STOA_LOG_FORMAT"
    ),
    /** Multiplies the limits of requests; 0: none is enforced. */
    rateLimitFactor: Setting.withDefault(
      Setting.between(0, 1_000_000).annotate({ description: "a number from 0 (no limiting) to 1000000" }),
      1,
      "STOA_RATE_LIMIT_FACTOR"
    ),
    tracesEndpoint: Setting.optional(receiver, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
    /** Base of the address of traces. */
    endpoint: Setting.optional(receiver, "OTEL_EXPORTER_OTLP_ENDPOINT"),
    exporter: Setting.withDefault(Setting.oneOf("otlp", "none"), "otlp", "OTEL_TRACES_EXPORTER"),
    /** Traces all requests, or those that the client's trace samples. */
    sampler: Setting.withDefault(
      Setting.oneOf("always_on", "parentbased_always_on"),
      "always_on",
      "OTEL_TRACES_SAMPLER"
    ),
    tracesHeaders: Setting.withDefault(Setting.text, "", "OTEL_EXPORTER_OTLP_HEADERS"),
    serviceName: Setting.withDefault(Setting.text, "stoa", "OTEL_SERVICE_NAME")
  })

type ProcessSettings = ReturnType<typeof processSettings>["Type"]

/** `name=value,name=value`, with values as in a URL, as OpenTelemetry writes headers. */
const headersOf = (list: string) =>
  Object.fromEntries(
    list.split(",").map((pair) => pair.split("=")).filter(([name = ""]) => name.trim() !== "").map((
      [name = "", ...value]
    ) => [name.trim().toLowerCase(), Redacted.make(decodeURIComponent(value.join("=").trim()))])
  )

/** The receiver of traces; undefined: nothing is traced, which costs nothing. */
const tracingOf = ({ endpoint, exporter, sampler, serviceName, tracesEndpoint, tracesHeaders }: ProcessSettings) => {
  const url = tracesEndpoint ?? (endpoint && `${endpoint.replace(/\/$/, "")}/v1/traces`)
  return url === undefined || exporter === "none"
    ? undefined
    : { url, sampler, headers: headersOf(tracesHeaders), serviceName }
}

/** Limits are out of the way outside of production, where people try things out. */
const rateLimitsOf = ({ rateLimits }: Deployment, factor: number, environment: Setting.Environment) =>
  rateLimitValues(rateLimits, factor * (environment === "production" ? 1 : 1_000))

/** Checks models without their joins, whose targets may be models of modules and plugins. */
const checkModels = ({ analytics: { models } }: Deployment, problems: Setting.Problems): void => {
  const [flaw] = modelFlaws(
    models.map((model) => ({ ...model, joins: (model.joins ?? []).map(({ model: _, ...join }) => join) }))
  )
  if (flaw !== undefined) problems.add(`analytics.models: ${flaw}.`)
}

const addressesOf = Effect.fnUntraced(function*({ server }: Deployment, own: ProcessSettings, role?: ProcessRole) {
  const set = yield* Effect.forEach(["STOA_RUNNER_HOST", "STOA_RUNNER_PORT"], Setting.variable)
  return {
    port: server.port,
    host: server.host,
    role: role ?? own.role,
    runnerHost: own.runnerHost,
    runnerPort: own.runnerPort,
    /** A process with the role `all` listens for others only if its address is set. */
    runnerAddressSet: set.some((value) => value !== undefined)
  }
})

/** The settings of a process, with defaults for what cannot be used, and what that is. */
export const inspectSettings = Effect.fnUntraced(function*(configured: DeploymentConfig, role?: ProcessRole) {
  const problems = new Setting.Problems()
  const { environment } = yield* Setting.valuesOf(nodeEnvironment, {}, problems)
  const deployment = yield* Setting.valuesOf(deploymentSettings, configured, problems)
  const { server } = deployment
  const own = yield* Setting.valuesOf(processSettings(environment, server.port), {}, problems)
  const addresses = yield* addressesOf(deployment, own, role)
  const keyring = keyringOf(own.secretsKey, problems)
  for (const name of variablesOfBetterAuth) {
    if ((yield* Setting.variable(name)) !== undefined) {
      problems.refuse(name, "…", "no value: settings of authentication are in `auth` and in variables of this service")
    }
  }
  if (deployment.databaseUrl !== undefined) checkTls(deployment.databaseUrl, problems)
  checkNetwork({ ...addresses, environment }, own.allowOnNetwork, problems)
  checkModels(deployment, problems)
  const mail = yield* mailOf(deployment.email, configured.email?.smtp !== undefined, keyring, environment, problems)
  const settings = {
    ...addresses,
    environment,
    /** With the defaults of everything that is not configured. */
    deployment,
    dataDir: deployment.dataDir,
    graceMs: own.graceMs,
    logLevel: own.logLevel,
    logFormat: own.logFormat,
    tracing: tracingOf(own),
    /** None: the embedded PostgreSQL under `dataDir`. */
    databaseUrl: Option.fromUndefinedOr(deployment.databaseUrl),
    /** Proxies whose `X-Forwarded-For` counts; none: that of no address. */
    trustedProxy: Option.fromUndefinedOr(server.trustedProxyIp),
    developmentKey: Option.fromUndefinedOr(own.developmentKey),
    metricsKey: Option.fromUndefinedOr(own.metricsKey),
    access: accessOf(deployment.auth, deployment.store.defaultOrganizationId, environment, problems),
    auth: authOf(deployment.auth, server.publicUrl, mail.way.kind !== "off", environment, problems),
    /** Without a key no webhook can be registered. Outside of production the data directory has one (`withKeptSecrets`). */
    webhooks: { keyring, allowPrivate: allowsPrivate(deployment.webhooks, environment, problems) },
    mail,
    media: mediaOf(deployment.media, deployment.storage, server.publicUrl, addresses.role === "all", problems),
    payments: yield* paymentsOf(deployment.payments, environment, problems),
    shipping: shippingOf(deployment.shipping, problems),
    taxes: taxesOf(deployment.tax, problems),
    jobs: jobsOf(deployment.jobs, problems),
    rateLimits: rateLimitsOf(deployment, own.rateLimitFactor, environment)
  }
  return { settings, problems }
})

/** The settings of a process: the environment over the deployment's configuration over the defaults. */
export type AppSettings = Effect.Success<ReturnType<typeof inspectSettings>>["settings"]

/** The same; fails with a line for each setting that cannot be used (`InvalidSetting`). */
export const readSettings = Effect.fnUntraced(function*(configured: DeploymentConfig, role?: ProcessRole) {
  const { problems, settings } = yield* inspectSettings(configured, role)
  yield* problems.end
  return settings
})

/** The settings of this process. */
export class AppConfig extends Context.Service<AppConfig, AppSettings>()("stoa/layers/config/AppConfig") {}

/** Limits of imported files. */
export const importExportLimits = ({ importExport, retention }: Deployment): ImportExportLimits => ({
  ...importExport,
  keepDays: retention.importDays
})

/** The settings that the domain knows. */
export const storeSettings = ({ access, auth, deployment }: AppSettings): Settings => ({
  defaultOrganizationId: access.defaultOrganizationId,
  defaultCurrency: deployment.store.defaultCurrency,
  cartTtlMinutes: deployment.cart.ttlMinutes,
  ...deployment.checkout,
  capture: deployment.payments.capture,
  staleOrderHours: deployment.orders.staleHours,
  roles: access.roles,
  keyScopes: access.keyScopes,
  keysEnabled: auth.apiKeys.enabled,
  customerPermissions: access.customerPermissions
})

export const storeSettingsLayer: Layer.Layer<StoreSettings, never, AppConfig> = Layer.effect(
  StoreSettings,
  Effect.map(AppConfig, storeSettings)
)
