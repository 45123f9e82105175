import { Effect, Layer, Logger, Option, Redacted, References } from "effect"
import { isIPv6 } from "node:net"
import { AnalyticsSettings } from "../domain/analytics/AnalyticsRepo.ts"
import { CatalogSettings } from "../domain/catalog/CatalogSettings.ts"
import { mergedPolicies } from "../domain/catalog/TypePolicy.ts"
import { CheckoutExtensions } from "../domain/checkout/CheckoutExtension.ts"
import { ImportExportSettings } from "../domain/import-export/Import.ts"
import { OrderProjections } from "../domain/orders/OrderProjections.ts"
import { DeclaredEvents } from "../domain/platform/events/EventSubscribers.ts"
import { EntityTables } from "../domain/platform/hooks/EntityTables.ts"
import { Hooks } from "../domain/platform/hooks/Hooks.ts"
import { ServiceRegistry } from "../domain/platform/modules/ServiceRegistry.ts"
import { RateLimitSettings } from "../domain/platform/ratelimits/RateLimits.ts"
import { StoreSettings } from "../domain/platform/settings/StoreSettings.ts"
import { JobSettings } from "../domain/platform/tasks/JobSettings.ts"
import { ensureOrganization } from "../domain/platform/tenancy/OrganizationRepo.ts"
import { LinePricings } from "../domain/pricing/LinePricing.ts"
import { PersonalRecords } from "../domain/privacy/PersonalRecords.ts"
import { SearchFields } from "../domain/search/SearchFields.ts"
import { SearchSettings } from "../domain/search/SearchQuery.ts"
import { updateForFields } from "../domain/search/SearchUpdates.ts"
import { RateAdapters, ShippingSettings } from "../domain/shipping/RateAdapter.ts"
import { TaxAdapters, TaxSettings } from "../domain/tax/TaxAdapter.ts"
import { InstalledPlugins, pluginsLayer } from "../plugins/kit/install/InstalledPlugins.ts"
import { checkPlugins } from "../plugins/kit/install/PluginCheck.ts"
import { migratePlugins } from "../plugins/kit/install/PluginTables.ts"
import { clusterLayer } from "./Cluster.ts"
import { ClusterRetention } from "./cluster/ClusterRetention.ts"
import { processLockLayer } from "./cluster/ProcessLock.ts"
import { AppConfig, type AppSettings, importExportLimits, storeSettingsLayer } from "./config/AppConfig.ts"
import { isDevelopmentOnNetwork } from "./config/NetworkConfig.ts"
import { databaseLayer, lookupLayer, sqlLayer } from "./Database.ts"
import { faultPointLayer } from "./FaultPoints.ts"
import { HealthContributors } from "./health/HealthContributors.ts"
import { invoiceAdapters } from "./invoices/PdfInvoices.ts"
import { downloadKeys, withKeptSecrets } from "./KeptSecrets.ts"
import { mailAdapters } from "./mail/MailAdapters.ts"
import { mediaAdapters } from "./media/MediaAdapters.ts"
import { migrationCheck } from "./MigrationCheck.ts"
import { migrate } from "./Migrations.ts"
import { actors, services } from "./modules/Modules.ts"
import { Notifications } from "./Notifications.ts"
import { paymentProviders } from "./payments/PaymentProviders.ts"
import { retentionTasks } from "./RetentionTasks.ts"
import { waitingFor } from "./RunMain.ts"
import { checkoutTakeoverLayer, scheduledJobsLayer } from "./ScheduledJobs.ts"
import { operatorServerLayer, serverLayer } from "./Server.ts"
import { serviceRegistryLayer } from "./ServiceRegistry.ts"
import { Statistics } from "./Statistics.ts"
import { checkShippingClasses } from "./tax/ShippingClassCheck.ts"
import { jobQueues, poolProbe, relayLag, stockAudit } from "./telemetry/DatabaseGauges.ts"
import { calmly, jsonLog, prettyLog } from "./telemetry/Logs.ts"
import { tracingLayer } from "./telemetry/Tracing.ts"
import { webhookAdapters } from "./webhooks/HttpSender.ts"

const logLevels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

export const loggingLayer = ({ logFormat, logLevel }: AppSettings) =>
  Layer.mergeAll(
    Logger.layer([calmly(logFormat === "json" ? jsonLog : prettyLog)]),
    Layer.succeed(References.MinimumLogLevel, logLevels[logLevel])
  )

const deploymentLayer = (settings: AppSettings) => {
  const { deployment, environment } = settings
  return Layer.mergeAll(
    webhookAdapters(settings),
    mailAdapters(settings),
    invoiceAdapters(settings),
    downloadKeys(settings),
    mediaAdapters(settings),
    HealthContributors.layer,
    OrderProjections.layer,
    PersonalRecords.layer,
    LinePricings.layer,
    SearchFields.layer,
    CheckoutExtensions.layer,
    DeclaredEvents.layerOf(deployment.plugins),
    CatalogSettings.layerOf({
      ...deployment.catalog,
      types: mergedPolicies([...deployment.plugins.map(({ types }) => types), deployment.catalog.types])
    }),
    SearchSettings.layerOf(deployment.search),
    AnalyticsSettings.layerOf(deployment.analytics),
    Layer.succeed(ImportExportSettings, importExportLimits(deployment)),
    Layer.provideMerge(TaxSettings.layerWith(settings.taxes), TaxAdapters.layer),
    JobSettings.layerOf(settings.jobs),
    RateLimitSettings.layerOf(settings.rateLimits),
    Layer.provideMerge(ShippingSettings.layerWith(settings.shipping), RateAdapters.layer),
    Layer.provideMerge(Hooks.layerOf(deployment.hooks), ServiceRegistry.layer),
    paymentProviders({
      production: environment === "production",
      adapters: deployment.payments.adapters,
      ...settings.payments,
      testWebhookSecret: deployment.payments.test.webhookSecret
    })
  ).pipe(Layer.provideMerge(EntityTables.layer))
}

const prepare = Effect.gen(function*() {
  const { access, deployment: { plugins } } = yield* AppConfig
  yield* checkPlugins(plugins, access.roles)
  yield* migrate
  yield* migratePlugins(plugins)
  yield* ensureOrganization((yield* StoreSettings).defaultOrganizationId)
  yield* checkShippingClasses
})

export const databaseApp = (settings: AppSettings) =>
  Layer.effectDiscard(prepare).pipe(
    Layer.provideMerge(Layer.mergeAll(sqlLayer, lookupLayer, Notifications.layer)),
    Layer.provideMerge(databaseLayer),
    Layer.provideMerge(storeSettingsLayer),
    Layer.provideMerge(Layer.succeed(AppConfig, settings))
  )

/** Plugins add hooks, tasks and search fields before startup closes their lists. */
const installed = Layer.provideMerge(
  Layer.merge(serviceRegistryLayer, Layer.effectDiscard(updateForFields)),
  pluginsLayer
)

const servicesOver = (settings: AppSettings) =>
  Layer.mergeAll(installed, migrationCheck, stockAudit, jobQueues, relayLag, poolProbe, retentionTasks).pipe(
    Layer.provide(ClusterRetention.layer),
    Layer.provideMerge(services),
    Layer.provideMerge(Layer.mergeAll(clusterLayer, processLockLayer, faultPointLayer)),
    Layer.provideMerge(deploymentLayer(settings)),
    Layer.provideMerge(databaseApp(settings))
  )

export const servicesApp = (settings: AppSettings) => Layer.unwrap(Effect.map(withKeptSecrets(settings), servicesOver))

const actorsOfPlugins = Layer.unwrap(Effect.map(InstalledPlugins, (plugins) => plugins.actors))

const runner = Layer.mergeAll(
  actors,
  actorsOfPlugins,
  checkoutTakeoverLayer,
  Layer.provide(scheduledJobsLayer, Statistics.layer)
)

const before = <A, E, R>(what: string, layer: Layer.Layer<A, E, R>) => Layer.provideMerge(waitingFor(what), layer)

const answering = before("requests that are being answered", serverLayer)

const working = before("actors and durable processes", runner)

const over = <A, E, R>(work: Layer.Layer<A, E, R>, settings: AppSettings) =>
  work.pipe(
    Layer.provideMerge(before("its shards and its connections to the database", servicesApp(settings))),
    Layer.provide(Layer.merge(loggingLayer(settings), tracingLayer(settings)))
  )

/** HTTP depends on the actors: at shutdown the last requests still find them. */
export const wholeApp = (settings: AppSettings) => over(Layer.provideMerge(answering, working), settings)

export const processApp = (settings: AppSettings) => {
  if (settings.role === "all") return wholeApp(settings)
  return settings.role === "api"
    ? over(answering, settings)
    : over(Layer.provideMerge(operatorServerLayer, working), settings)
}

const onNetwork =
  "This is a development deployment on a network: its test payments pay without money, and requests may " +
  "reach internal addresses. Nothing real belongs into it; NODE_ENV=production is for that."

const urlOf = (host: string, port: number): string => `http://${isIPv6(host) ? `[${host}]` : host}:${port}`

export const announce = Effect.gen(function*() {
  const settings = yield* AppConfig
  const { developmentKey, host, port, role } = settings
  if (isDevelopmentOnNetwork(settings)) yield* Effect.logWarning(onNetwork)
  if (role === "runner") {
    return yield* Effect.logInfo(`runner ready (health, readiness and metrics on ${urlOf(host, port)})`)
  }
  const key = Option.match(developmentKey, {
    onNone: () => "",
    onSome: (one) => `; development key (x-api-key): ${Redacted.value(one)}`
  })
  return yield* Effect.logInfo(`serving on ${urlOf(host, port)} (API explorer at /api/reference)${key}`)
})
