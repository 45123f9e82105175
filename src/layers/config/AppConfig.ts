import { Context, Effect, Layer, Option, Redacted } from "effect"
import type { ImportExportLimits } from "../../domain/import-export/Import.ts"
import { modelFlaws } from "../../domain/platform/modules/AnalyticsModel.ts"
import { rateLimitValues } from "../../domain/platform/ratelimits/RateLimits.ts"
import { type Settings, StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { defaultJobSettings, isPush, type JobSettingsValues } from "../../domain/platform/tasks/JobSettings.ts"
import { defaultShipping, type ShippingSettingsValues } from "../../domain/shipping/RateAdapter.ts"
import type { TaxOptions } from "../../domain/tax/TaxAdapter.ts"
import { isInEu } from "../../domain/tax/VatNumber.ts"
import { readKeyring } from "../../domain/webhooks/SecretEncryption.ts"
import { testVatNumbers } from "../tax/TestVatNumbers.ts"
import { accessOf, authOf } from "./AuthConfig.ts"
import { checkTls } from "./DatabaseTls.ts"
import { amountForm, type Deployment, type DeploymentConfig, deploymentSettings } from "./DeploymentConfig.ts"
import { mailOf } from "./MailConfig.ts"
import { mediaOf } from "./MediaConfig.ts"
import { checkNetwork, type ProcessRole } from "./NetworkConfig.ts"
import { paymentsOf } from "./PaymentConfig.ts"
import * as is from "./Rules.ts"
import { type Environment, group, option, Problems, setting, valuesOf, variable } from "./Settings.ts"

/** Processes of one machine must not share a port, so it follows from `PORT`. */
const defaultRunnerPort = (apiPort: number): number =>
  apiPort === 0 ? 0 : apiPort + 10_000 <= 65_535 ? apiPort + 10_000 : apiPort - 10_000

const nodeEnvironment = group({
  environment: setting(is.oneOf("development", "production", "test"), "development", "NODE_ENV")
})

const receiver = is.webAddress("http://host:port")
const noKeyForm = "no value when NODE_ENV is production: the development key does not exist there"
const keyringForm =
  "32 random bytes in base64 (openssl rand -base64 32), or several of them separated by commas, the newest first"
const factor = is.between(0, 1_000_000).annotate({ description: "a number from 0 (no limiting) to 1000000" })

const processSettings = (environment: Environment, apiPort: number) => {
  const isProduction = environment === "production"
  return group({
    role: setting(is.oneOf("all", "api", "runner"), "all", "STOA_ROLE"),
    /** Address for other processes of the deployment. */
    runnerHost: setting(is.text, "127.0.0.1", "STOA_RUNNER_HOST"),
    runnerPort: setting(is.port, defaultRunnerPort(apiPort), "STOA_RUNNER_PORT"),
    allowOnNetwork: setting(is.flag, false, "STOA_ALLOW_DEVELOPMENT_ON_NETWORK"),
    /** Key of the role admin outside production; default: one in the data directory. */
    developmentKey: option(is.secret(noKeyForm, () => !isProduction), "STOA_DEV_API_KEY"),
    /** Reads only metrics; a guessable key would publish sales. */
    metricsKey: option(is.secret("at least 16 characters", (key) => key.length >= 16), "STOA_METRICS_KEY"),
    /** Encrypts stored secrets. */
    secretsKey: option(is.secret(keyringForm, (key) => readKeyring(key) !== undefined), "STOA_SECRETS_KEY"),
    /** How long a stopping process continues to answer, for proxies. */
    graceMs: setting(is.ms(0, 6_000), isProduction ? 5_000 : 0, "STOA_SHUTDOWN_GRACE_MS"),
    logLevel: setting(
      is.oneOf("debug", "info", "warn", "error", "none"),
      environment === "test" ? "warn" : "info",
      "STOA_LOG_LEVEL"
    ),
    logFormat: setting(is.oneOf("pretty", "json"), isProduction ? "json" : "pretty", "STOA_LOG_FORMAT"),
    /** Multiplies request limits; 0 enforces none. */
    rateLimitFactor: setting(factor, 1, "STOA_RATE_LIMIT_FACTOR"),
    tracesEndpoint: option(receiver, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
    endpoint: option(receiver, "OTEL_EXPORTER_OTLP_ENDPOINT"),
    exporter: setting(is.oneOf("otlp", "none"), "otlp", "OTEL_TRACES_EXPORTER"),
    /** Traces all requests, or those sampled by the client. */
    sampler: setting(is.oneOf("always_on", "parentbased_always_on"), "always_on", "OTEL_TRACES_SAMPLER"),
    tracesHeaders: setting(is.text, "", "OTEL_EXPORTER_OTLP_HEADERS"),
    serviceName: setting(is.text, "stoa", "OTEL_SERVICE_NAME")
  })
}
type ProcessSettings = ReturnType<typeof processSettings>["Type"]

const variablesOfBetterAuth = ["secrets", "trusted_origins", "telemetry"]
  .map((name) => `BETTER_AUTH_${name.toUpperCase()}`)

const headersOf = (list: string) =>
  Object.fromEntries(
    list.split(",").map((pair) => pair.split("=")).filter(([name = ""]) => name.trim() !== "").map((
      [name = "", ...value]
    ) => [name.trim().toLowerCase(), Redacted.make(decodeURIComponent(value.join("=").trim()))])
  )

const tracingOf = ({ endpoint, exporter, sampler, serviceName, tracesEndpoint, tracesHeaders }: ProcessSettings) => {
  const url = tracesEndpoint ?? (endpoint && `${endpoint.replace(/\/$/, "")}/v1/traces`)
  return url === undefined || exporter === "none"
    ? undefined
    : { url, sampler, headers: headersOf(tracesHeaders), serviceName }
}

const checkModels = ({ analytics: { models } }: Deployment, problems: Problems): void => {
  const alone = models.map((model) => ({ ...model, joins: (model.joins ?? []).map(({ model: _, ...join }) => join) }))
  const [flaw] = modelFlaws(alone)
  if (flaw !== undefined) problems.add(`analytics.models: ${flaw}.`)
}

const allowsPrivate = ({ webhooks }: Deployment, environment: Environment, { refuse }: Problems): boolean => {
  const allowed = webhooks.allowPrivateTargets ?? webhooks.allowPrivateNetworks ?? environment === "development"
  if (allowed && environment === "production") {
    const reason = "false when NODE_ENV is production, where webhooks must not reach internal addresses"
    refuse("webhooks.allowPrivateTargets", true, reason)
  }
  return allowed
}

const configuredShipping = ({ shipping }: Deployment, { missing }: Problems): ShippingSettingsValues["configured"] => {
  const { brackets, fallbackCost, flatRate, freeShippingThreshold, type } = shipping
  if (type === "flat" && flatRate !== undefined) return { type, flatRate, freeShippingThreshold }
  if (type === "weight_based" && brackets !== undefined && fallbackCost !== undefined) {
    return { type, brackets, fallbackCost, freeShippingThreshold }
  }
  if (type !== undefined) {
    missing(type === "flat" ? "shipping.flatRate" : "shipping.brackets or shipping.fallbackCost", amountForm)
  }
  return defaultShipping.configured
}

const taxesOf = ({ tax }: Deployment, production: boolean, { missing, refuse }: Problems): TaxOptions => {
  const organizations = new Map(Object.entries(tax.organizations))
  if (tax.onFailure === "fallback" && tax.fallbackRateBps === undefined) {
    missing("tax.fallbackRateBps", "a rate, since tax.onFailure is fallback")
  }
  const id = tax.adapter?.id
  if (id !== undefined && (id === "" || id.length > 100 || id.includes("\0"))) {
    refuse("tax.adapter.id", id, "1 to 100 characters")
  }
  const vatNumbers = tax.vatNumberService ?? (production ? undefined : testVatNumbers)
  if (tax.exemptEuBusinesses && vatNumbers === undefined) {
    missing("tax.vatNumberService", "a service that checks VAT numbers, since tax.exemptEuBusinesses is true")
  }
  if (tax.exemptEuBusinesses && !isInEu(tax.defaultFromAddress?.country)) {
    missing("tax.defaultFromAddress", "an address in the EU, where the store is, since tax.exemptEuBusinesses is true")
  }
  return {
    ...tax,
    vatNumbers,
    adapter: tax.adapter,
    pricesIncludeTax: (organizationId) => organizations.get(organizationId)?.pricesIncludeTax ?? tax.pricesIncludeTax,
    shippingClass: (organizationId) => organizations.get(organizationId)?.shippingClassId ?? tax.shippingClassId,
    fallbackRateBps: tax.onFailure === "refuse" ? undefined : tax.fallbackRateBps,
    from: tax.defaultFromAddress ?? null
  }
}

const jobsOf = ({ jobs }: Deployment, { refuse }: Problems): JobSettingsValues => {
  const { adapter, autorun, reapIntervalMs: reapMs, retentionDays, processingOrder: order, ...same } = jobs
  if (isPush(adapter) && autorun.enabled === true) {
    refuse("jobs.autorun.enabled", true, "false: the push engine of jobs.adapter drives the jobs itself")
  }
  return {
    ...defaultJobSettings,
    ...same,
    engine: adapter,
    order,
    reapMs,
    autorun: autorun.enabled ?? !isPush(adapter),
    pollMs: autorun.intervalMs,
    keepSucceededDays: retentionDays.succeeded,
    keepFailedDays: retentionDays.failed
  }
}

/** Settings with defaults for invalid ones, and the problems. */
export const inspectSettings = Effect.fnUntraced(function*(configured: DeploymentConfig, role?: ProcessRole) {
  const problems = new Problems()
  const { environment } = yield* valuesOf(nodeEnvironment, {}, problems)
  const deployment = yield* valuesOf(deploymentSettings, configured, problems)
  const { auth, databaseUrl, email, media, payments, rateLimits, server, shipping, storage, store } = deployment
  const own = yield* valuesOf(processSettings(environment, server.port), {}, problems)
  const { allowOnNetwork, developmentKey, metricsKey, rateLimitFactor, secretsKey } = own
  const runnerAddress = yield* Effect.forEach(["STOA_RUNNER_HOST", "STOA_RUNNER_PORT"], variable)
  const process = {
    environment,
    port: server.port,
    host: server.host,
    role: role ?? own.role,
    runnerHost: own.runnerHost,
    runnerPort: own.runnerPort,
    runnerAddressSet: runnerAddress.some((value) => value !== undefined)
  }
  for (const name of variablesOfBetterAuth) {
    if ((yield* variable(name)) !== undefined) {
      problems.refuse(name, "…", "no value: settings of authentication are in `auth` and in variables of this service")
    }
  }
  if (databaseUrl !== undefined) checkTls(databaseUrl, problems)
  checkNetwork(process, allowOnNetwork, problems)
  checkModels(deployment, problems)
  const keyring = secretsKey && readKeyring(Redacted.value(secretsKey))
  const hasServer = configured.email?.smtp !== undefined
  const mail = yield* mailOf(email, hasServer, keyring, deployment.plugins, environment, problems)
  const settings = {
    ...process,
    deployment,
    dataDir: deployment.dataDir,
    graceMs: own.graceMs,
    logLevel: own.logLevel,
    logFormat: own.logFormat,
    tracing: tracingOf(own),
    /** None: the embedded PostgreSQL under `dataDir`. */
    databaseUrl: Option.fromUndefinedOr(databaseUrl),
    /** Proxies whose `X-Forwarded-For` counts; none by default. */
    trustedProxy: Option.fromUndefinedOr(server.trustedProxyIp),
    developmentKey: Option.fromUndefinedOr(developmentKey),
    metricsKey: Option.fromUndefinedOr(metricsKey),
    access: accessOf(auth, store.defaultOrganizationId, environment, deployment.plugins, problems),
    auth: authOf(auth, server.publicUrl, mail.way.kind !== "off", environment, problems),
    /** Without a key no webhook can be registered. Outside production the data directory has one. */
    webhooks: { keyring, allowPrivate: allowsPrivate(deployment, environment, problems) },
    mail,
    media: mediaOf(media, storage, server.publicUrl, process.role === "all", problems),
    payments: yield* paymentsOf(payments, environment, problems),
    shipping: { ...shipping, adapter: shipping.adapter, configured: configuredShipping(deployment, problems) },
    taxes: taxesOf(deployment, environment === "production", problems),
    jobs: jobsOf(deployment, problems),
    rateLimits: rateLimitValues(rateLimits, rateLimitFactor * (environment === "production" ? 1 : 1_000))
  }
  return { settings, problems }
})

/** Settings of a process: environment over configuration over defaults. */
export type AppSettings = Effect.Success<ReturnType<typeof inspectSettings>>["settings"]

export const readSettings = Effect.fnUntraced(function*(configured: DeploymentConfig, role?: ProcessRole) {
  const { problems, settings } = yield* inspectSettings(configured, role)
  yield* problems.end
  return settings
})

export class AppConfig extends Context.Service<AppConfig, AppSettings>()("stoa/layers/config/AppConfig") {}

export const importExportLimits = ({ importExport, retention }: Deployment): ImportExportLimits => ({
  ...importExport,
  keepDays: retention.importDays
})

export const storeSettings = ({ access, auth, deployment }: AppSettings): Settings => ({
  defaultOrganizationId: access.defaultOrganizationId,
  defaultCurrency: deployment.store.defaultCurrency,
  timeZone: deployment.store.timeZone,
  cartTtlMinutes: deployment.cart.ttlMinutes,
  cartMaxLines: deployment.cart.maxLines,
  ...deployment.checkout,
  capture: deployment.payments.capture,
  staleOrderHours: deployment.orders.staleHours,
  returnDays: deployment.returns.days,
  roles: access.roles,
  keyScopes: access.keyScopes,
  keysEnabled: auth.apiKeys.enabled,
  customerPermissions: access.customerPermissions
})

export const storeSettingsLayer: Layer.Layer<StoreSettings, never, AppConfig> = Layer.unwrap(
  Effect.map(AppConfig, (settings) => StoreSettings.layerOf(storeSettings(settings)))
)
