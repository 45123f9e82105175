import { Effect, Schema } from "effect"
import { defaultAnalytics } from "../../domain/analytics/AnalyticsRepo.ts"
import { defaultLimits } from "../../domain/import-export/Import.ts"
import type { InvoiceOptions } from "../../domain/invoices/Invoice.ts"
import type { Hook } from "../../domain/platform/hooks/Hook.ts"
import type { ProcessingOrder } from "../../domain/platform/jobs/Job.ts"
import type { AnalyticsModel } from "../../domain/platform/modules/AnalyticsModel.ts"
import { isCurrencyCode } from "../../domain/platform/money/Money.ts"
import { defaultRates } from "../../domain/platform/ratelimits/RateLimits.ts"
import { defaultSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { defaultJobSettings, type JobEngine } from "../../domain/platform/tasks/JobSettings.ts"
import type { Task } from "../../domain/platform/tasks/Task.ts"
import { TimeZone } from "../../domain/platform/text/BusinessDate.ts"
import { facetsOf, usualFacets } from "../../domain/search/SearchQuery.ts"
import { defaultShipping, type RateAdapter } from "../../domain/shipping/RateAdapter.ts"
import type { Destination } from "../../domain/shipping/ShippingZone.ts"
import { defaultTaxOptions, type TaxAdapter } from "../../domain/tax/TaxAdapter.ts"
import type { VatNumberService } from "../../domain/tax/VatNumber.ts"
import { defaultWebhookOptions } from "../../domain/webhooks/WebhookSender.ts"
import { defaultSocketLimits } from "../../http/rpc/RpcSockets.ts"
import { proxyTest } from "../../http/server/Origins.ts"
import type { Plugin } from "../../plugins/kit/Plugin.ts"
import { authSettings, organizationId, originOf } from "./AuthConfig.ts"
import { catalogSettings } from "./CatalogConfig.ts"
import { databaseUrl } from "./DatabaseTls.ts"
import { mailSettings } from "./MailConfig.ts"
import { mediaSettings, storageSettings } from "./MediaConfig.ts"
import { paymentSettings } from "./PaymentConfig.ts"
import * as is from "./Rules.ts"
import { salesSettings } from "./SalesConfig.ts"
import { group, numbers, option, type Options, setting } from "./Settings.ts"

const isFacets = (names: ReadonlyArray<string>): boolean =>
  Effect.runSync(Effect.match(facetsOf(names.join(","), []), {
    onFailure: () => false,
    onSuccess: (found) => found.length === names.length
  }))
const facets = Schema.Array(is.text).check(Schema.makeFilter(isFacets))
  .annotate({ description: "at most 20 names of facets, each once" })

const proxies = is.textThat(
  (list) => proxyTest(list) !== undefined,
  "IP addresses and networks, for example 10.0.0.5, 10.1.0.0/16"
)
const ownAddress = is.textThat(
  (url) => originOf(url) !== undefined,
  "the address of the deployment without a path, https://shop.example"
)
const currency = is.textThat(isCurrencyCode, "the upper-case code of a currency, for example USD")
const timeZone = is.textThat(Schema.is(TimeZone), "the IANA name of a time zone, for example Europe/Zurich")
const positive = is.whole(1, 2_147_483_647).annotate({ description: "a whole number from 1" })

/** Costs and weights. */
export const amountForm = "a whole number from 0, in minor units or grams"
const amount = is.whole(0, Number.MAX_SAFE_INTEGER).annotate({ description: amountForm })
const brackets = is.listOf(Schema.Struct({ upToGrams: amount, cost: amount }), amountForm)

const days = (least = 1) => is.whole(least, 36_500, " of days")

/** Each option of `commerce.config.ts`: its comment, rule, default and environment variable. */
export const deploymentSettings = group({
  server: group({
    /** Port of the API. Default 4000 (`PORT`). */
    port: setting(is.port, 4000, "PORT"),
    /** Address that the API listens on. Default 127.0.0.1 (`HOST`). */
    host: setting(is.text, "127.0.0.1", "HOST"),
    /** Proxies whose `X-Forwarded-For` counts: `10.0.0.5, 10.1.0.0/16`. Default: none (`TRUSTED_PROXY_IP`). */
    trustedProxyIp: option(proxies, "TRUSTED_PROXY_IP"),
    /** How long a client may take to send a request, in milliseconds from its first byte. */
    requestTimes: group({
      /** For its headers. Default 15000. */
      headersMs: setting(is.ms(1, 3_600_000), 15_000),
      /** For all of it. Default 60000. */
      requestMs: setting(is.ms(1, 3_600_000), 60_000)
    }),
    /** Limits of the sockets at `/rpc`, for each process (docs/clients.md). */
    rpc: numbers(defaultSocketLimits, is.whole(0, 2_147_483_647)),
    /** Where clients reach the API, `https://shop.example`: links in mails begin with it (`STOA_PUBLIC_URL`). */
    publicUrl: option(ownAddress, "STOA_PUBLIC_URL")
  }),
  /** Connection string of PostgreSQL 15 or newer. Absent: an embedded server under `dataDir` (`DATABASE_URL`). */
  databaseUrl: option(databaseUrl, "DATABASE_URL"),
  /** Directory of the embedded database; created when missing, never deleted. Default `.data` (`STOA_DATA_DIR`). */
  dataDir: setting(is.text, ".data", "STOA_DATA_DIR"),
  store: group({
    /** Organization of requests that name none; a start creates it if needed. Default `org_default`. */
    defaultOrganizationId: option(organizationId),
    /** Three letters; the currency of amounts that carry none. Default `USD`. */
    defaultCurrency: setting(currency, defaultSettings.defaultCurrency),
    /** Zone of the store's days, as on documents and receipts. Default `UTC`. */
    timeZone: setting(timeZone, defaultSettings.timeZone)
  }),
  catalog: catalogSettings,
  ...salesSettings,
  /** How long ended records stay in the database; scheduled jobs delete them then. */
  retention: group({
    /** Days that abandoned and checked-out carts stay. Default 30. */
    cartDays: setting(days(), 30),
    /** Days that released and consumed stock holds stay. Default 30. */
    holdDays: setting(days(), 30),
    /** Days that events of payment providers stay; none repeats an event after a month. Default 90. */
    providerEventDays: setting(days(), 90),
    /** Days that imports, their records and their reports stay. Default 30. */
    importDays: setting(days(), defaultLimits.keepDays),
    /** Days that a superseded revision of an entity stays; at most 100 stay. Default 365. */
    revisionDays: setting(days(), 365),
    /** Hours that results of idempotency keys and messages of actors and workflows stay. Default 24. */
    idempotencyHours: setting(is.whole(1, 36_500), 24)
  }),
  /** Imported files (docs/import-export.md). */
  importExport: group({
    /** Largest file, in bytes. Default 268,435,456 (256 MB). */
    maxFileBytes: setting(is.whole(1, Number.MAX_SAFE_INTEGER, " of bytes"), defaultLimits.maxFileBytes),
    /** Records that are written in one transaction, 1 to 5000. Default 500. */
    batchRows: setting(is.whole(1, 5_000), defaultLimits.batchRows)
  }),
  changeLog: group({
    /** Days that the change log (audit trail and events) keeps an entry. 0: for ever. Default 730. */
    keepDays: setting(days(0), 730)
  }),
  /** Price of shipping where the organization has no zones (docs/tax-and-shipping.md). Default: a flat rate of 0. */
  shipping: group({
    /** `flat` needs `flatRate`, `weight_based` needs `brackets` and `fallbackCost`. Default: a flat rate of 0. */
    type: option(is.oneOf("flat", "weight_based")),
    /** Price of an order, in minor units of its currency. */
    flatRate: option(amount),
    /** Prices by total weight: the first bracket that holds it. */
    brackets: option(brackets),
    /** Price of an order that is heavier than each bracket. */
    fallbackCost: option(amount),
    /** Subtotal, after discounts, from which shipping is free. */
    freeShippingThreshold: option(amount),
    /** An order that no zone or adapter serves is refused, or costs what is configured here. Default `refuse`. */
    unserved: setting(is.oneOf("refuse", "configured"), defaultShipping.unserved),
    /** External service that prices shipping in place of the zones. Default: none. */
    adapter: option(is.code<RateAdapter>()),
    /** How long a checkout waits for it, in milliseconds from 1 to 20000. Default 3000. */
    adapterTimeoutMs: setting(is.ms(1, 20_000), defaultShipping.adapterTimeoutMs),
    /** If it does not answer, the zones decide, or the order is refused. Default `zones`. */
    adapterFallback: setting(is.oneOf("zones", "refuse"), defaultShipping.adapterFallback)
  }),
  /** Tax, besides the organizations' own classes and rates (docs/tax-and-shipping.md). Rates in basis points: 1900 is 19 %. */
  tax: group({
    /** Whether prices contain their tax; else tax is added to them. Default false. */
    pricesIncludeTax: setting(is.flag, false),
    /** The same for single organizations, by id; it wins over the above. */
    organizations: setting(
      is.code<Readonly<Record<string, { readonly pricesIncludeTax?: boolean; readonly shippingClassId?: string }>>>(),
      {}
    ),
    /** Tax class of shipping, by id or slug; `taxClassId` of a shipping rate wins over it. */
    shippingClassId: option(is.text),
    /** Without a class of shipping: whether it is taxed like the default class. Default false: by rates of regions only. */
    shippingByDefaultClass: setting(is.flag, defaultTaxOptions.shippingByDefaultClass),
    /** External tax service, called if an organization's own rules do not cover an order. */
    adapter: option(is.code<TaxAdapter>()),
    /** Milliseconds it has for an answer. Default 3000. */
    timeoutMs: setting(is.ms(1, 60_000), defaultTaxOptions.timeoutMs),
    /** Flat rate if the adapter does not answer. */
    fallbackRateBps: option(is.whole(0, 10_000, " of basis points")),
    /** Without an answer. Default: `fallback` if `fallbackRateBps` is set, else the checkout is refused. */
    onFailure: option(is.oneOf("fallback", "refuse")),
    /** Origin of goods, for the adapter and for `exemptEuBusinesses`. */
    defaultFromAddress: option(is.code<Destination>()),
    /** Businesses of another EU country pay no tax once `vatNumberService` knows their VAT number. Default false. */
    exemptEuBusinesses: setting(is.flag, defaultTaxOptions.exemptEuBusinesses),
    /** Checks VAT numbers. Default: outside production a test service, in production none. */
    vatNumberService: option(is.code<VatNumberService>())
  }),
  /** Users, sessions, keys, roles and organizations (docs/access.md). */
  auth: authSettings,
  /** Payment providers (docs/payments.md). */
  payments: paymentSettings,
  /** Webhooks (docs/webhooks.md). */
  webhooks: group({
    /**
     * Whether webhooks can reach this machine and private networks. Default: in development only; refused in production
     * (`STOA_WEBHOOKS_ALLOW_PRIVATE`). `allowPrivateNetworks` is the same.
     */
    allowPrivateTargets: option(is.flag, "STOA_WEBHOOKS_ALLOW_PRIVATE"),
    allowPrivateNetworks: option(is.flag),
    /** The only ports of receivers. Default: any. */
    allowedPorts: option(is.code<ReadonlyArray<number>>()),
    /** Days of failures after which an endpoint is switched off. Default 5. */
    disableAfterDays: setting(is.between(1, 365), defaultWebhookOptions.disableAfterDays),
    /** Hours that a replaced secret signs besides the new one. Default 24. */
    rotationHours: setting(is.between(0, 720), defaultWebhookOptions.rotationHours),
    /** Days that deliveries are kept, and can be sent again. Default 30. */
    retentionDays: setting(is.between(2, 3_650), defaultWebhookOptions.retentionDays),
    /** How long a failed delivery waits for its next attempt. */
    backoff: group({
      /** Seconds before the first retry. Default 170. */
      baseSeconds: setting(is.between(1, 86_400), defaultWebhookOptions.backoff.baseSeconds),
      /** Growth of each wait over the previous one. Default 2. */
      factor: setting(is.between(1, 10), defaultWebhookOptions.backoff.factor),
      /** Seconds that no wait exceeds. Default 43200. */
      maxSeconds: setting(is.between(1, 604_800), defaultWebhookOptions.backoff.maxSeconds),
      /** Varies each wait by up to this share of it, 0 to 1. Default 0.2. */
      jitter: setting(is.between(0, 1), defaultWebhookOptions.backoff.jitter)
    })
  }),
  /** Limits of requests (docs/security.md). */
  rateLimits: numbers(defaultRates, is.whole(1, 1_000_000_000)),
  /** Name of the store in mails and on invoices. Default `Stoa`. */
  storeName: setting(is.text, "Stoa"),
  /** Invoices and receipts: the seller and the texts (docs/orders.md). */
  invoices: option(is.code<Partial<InvoiceOptions>>()),
  /** Mails (docs/mail.md). */
  email: mailSettings,
  /** Files of the store: what may be uploaded, and the sizes of images (docs/media.md). */
  media: mediaSettings,
  /** Where those files are stored (`STOA_MEDIA_STORAGE`). */
  storage: storageSettings,
  /** Background jobs (docs/jobs.md). Times in milliseconds unless stated otherwise. */
  jobs: group({
    /** Tasks of the deployment, besides those of the core and of plugins. */
    tasks: setting(is.code<ReadonlyArray<Task>>(), []),
    /** Another queue in place of the built-in one. */
    adapter: option(is.code<JobEngine>()),
    /** Which of the due jobs runs first. Default: the oldest `createdAt`. */
    processingOrder: setting(is.code<ProcessingOrder>(), defaultJobSettings.order),
    autorun: group({
      /**
       * Whether the processes that run actors work on all queues; without it jobs stay pending until a run is requested.
       * Default true, and false with a push engine (`STOA_JOBS_AUTORUN`).
       */
      enabled: option(is.flag, "STOA_JOBS_AUTORUN"),
      /** Polling interval of an idle queue without notifications. Default 10000. */
      intervalMs: setting(positive, defaultJobSettings.pollMs)
    }),
    /** Queues that always have a worker, besides `default` and those of tasks. */
    queues: setting(is.texts, defaultJobSettings.queues),
    /** Maximum number of workers of a queue in the whole deployment. Default 4. */
    slots: setting(positive, defaultJobSettings.slots),
    /** Concurrent handlers of a worker. Default 50. */
    concurrency: setting(positive, defaultJobSettings.concurrency),
    /** Maximum number of jobs in one claim while handlers end as fast as they begin. Default 1000. */
    batch: setting(positive, defaultJobSettings.batch),
    /** Time limit of a handler whose task sets none. Default 300000, five minutes. */
    timeLimitMs: setting(positive, defaultJobSettings.timeLimitMs),
    /** How long a job belongs to its worker after its last heartbeat. Default 60000 (`JOB_REAP_THRESHOLD_MS`). */
    leaseMs: setting(positive, defaultJobSettings.leaseMs, "JOB_REAP_THRESHOLD_MS"),
    /** Interval between checks for jobs of dead workers. Default 60000 (`JOBS_REAPER_INTERVAL_MS`). */
    reapIntervalMs: setting(positive, defaultJobSettings.reapMs, "JOBS_REAPER_INTERVAL_MS"),
    /** Days that jobs stay after their end. */
    retentionDays: group({
      /** Default 7. */
      succeeded: setting(positive, defaultJobSettings.keepSucceededDays),
      /** Default 30. */
      failed: setting(positive, defaultJobSettings.keepFailedDays)
    })
  }),
  /** Tasks of the deployment; the same as `jobs.tasks`. */
  tasks: setting(is.code<ReadonlyArray<Task>>(), []),
  /** Figures of a store (docs/analytics.md). */
  analytics: group({
    /** Models of the deployment, besides those of the core and of plugins. */
    models: setting(is.code<ReadonlyArray<AnalyticsModel>>(), []),
    /** Milliseconds a query may take. Default 10000. */
    timeoutMs: setting(is.ms(100, 300_000), defaultAnalytics.timeoutMs),
    /** Concurrent queries of one process; others wait. Default 2. */
    connections: setting(is.whole(1, 20), defaultAnalytics.connections)
  }),
  /** Search of the catalog (docs/catalog.md). */
  search: group({
    /** Facets that are counted if a request names none. Default: type, category, brand, status. */
    defaultFacets: setting(facets, usualFacets)
  }),
  /** Plugins in the order in which they are installed (docs/plugins.md); one that requires another comes after it. */
  plugins: setting(is.code<ReadonlyArray<Plugin>>(), []),
  /** Hooks of the deployment (docs/plugins.md); they run before those of modules and plugins. */
  hooks: setting(is.code<ReadonlyArray<Hook>>(), [])
})

/** Configuration of a deployment in `commerce.config.ts`. Every option has a default; environment variables win over it. */
export type DeploymentConfig = Options<typeof deploymentSettings.fields>

/** The configuration of this process, with the environment and the defaults. */
export type Deployment = typeof deploymentSettings.Type

/** Types `commerce.config.ts`: a misspelt option does not compile. */
export const defineConfig = (config: DeploymentConfig): DeploymentConfig => config
