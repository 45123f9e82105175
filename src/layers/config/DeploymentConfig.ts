import { Effect, Schema } from "effect"
import type { AnalyticsModel } from "../../domain/analytics/AnalyticsModel.ts"
import { defaultAnalytics } from "../../domain/analytics/AnalyticsSettings.ts"
import { defaultCatalog } from "../../domain/catalog/CatalogSettings.ts"
import type { Hook } from "../../domain/hooks/Hook.ts"
import { defaultLimits } from "../../domain/import-export/ImportExportSettings.ts"
import type { InvoiceOptions } from "../../domain/invoices/Invoice.ts"
import type { Task } from "../../domain/jobs/Task.ts"
import { isCurrencyCode } from "../../domain/money/Currency.ts"
import { defaultRates } from "../../domain/ratelimits/RateLimitSettings.ts"
import { facetsOf, usualFacets } from "../../domain/search/SearchQuery.ts"
import { defaultSettings } from "../../domain/settings/StoreSettings.ts"
import { defaultSocketLimits } from "../../http/rpc/RpcSockets.ts"
import { proxyTest } from "../../http/server/ClientAddress.ts"
import type { Plugin } from "../../plugins/kit/Plugin.ts"
import { organizationId } from "./AccessConfig.ts"
import { authSettings, originOf } from "./AuthConfig.ts"
import { databaseUrl } from "./DatabaseTls.ts"
import { jobSettings } from "./JobConfig.ts"
import { mailSettings } from "./MailConfig.ts"
import { mediaSettings, storageSettings } from "./MediaConfig.ts"
import { paymentSettings } from "./PaymentConfig.ts"
import * as Setting from "./Settings.ts"
import { shippingSettings, taxSettings } from "./TaxConfig.ts"
import { webhookSettings } from "./WebhookConfig.ts"

const locale = Setting.textThat(
  (name) => name.length > 0 && name.length <= 64,
  "names of locales, 1 to 64 characters each"
)

const facets = Schema.Array(Setting.text).check(Schema.makeFilter((names) =>
  facetsOf(names.join(","), []).pipe(
    Effect.match({ onFailure: () => false, onSuccess: (found) => found.length === names.length }),
    Effect.runSync
  )
)).annotate({ description: "at most 20 names of facets, each once" })

const days = (least = 1) => Setting.whole(least, 36_500, " of days")

/** Each option of `commerce.config.ts`: its comment, rule, default and environment variable. */
export const deploymentSettings = Setting.group({
  server: Setting.group({
    /** Port of the API. Default 4000 (`PORT`). */
    port: Setting.withDefault(Setting.port, 4000, "PORT"),
    /** Address that the API listens on. Default 127.0.0.1 (`HOST`). */
    host: Setting.withDefault(Setting.text, "127.0.0.1", "HOST"),
    /** Proxies whose `X-Forwarded-For` counts: `10.0.0.5, 10.1.0.0/16`. Default: none (`TRUSTED_PROXY_IP`). */
    trustedProxyIp: Setting.optional(
      Setting.textThat(
        (list) => proxyTest(list) !== undefined,
        "IP addresses and networks, for example 10.0.0.5, 10.1.0.0/16"
      ),
      "TRUSTED_PROXY_IP"
    ),
    /** How long a client may take to send a request, in milliseconds from its first byte. */
    requestTimes: Setting.group({
      /** For its headers. Default 15000. */
      headersMs: Setting.withDefault(Setting.milliseconds(1, 3_600_000), 15_000),
      /** For all of it. Default 60000. */
      requestMs: Setting.withDefault(Setting.milliseconds(1, 3_600_000), 60_000)
    }),
    /** Limits of the sockets at `/rpc`, for each process (docs/clients.md). */
    rpc: Setting.group(Setting.numbers(defaultSocketLimits, Setting.whole(0, 2_147_483_647))),
    /** Where clients reach the API, `https://shop.example`: links in mails begin with it (`STOA_PUBLIC_URL`). */
    publicUrl: Setting.optional(
      Setting.textThat(
        (url) => originOf(url) !== undefined,
        "the address of the deployment without a path, https://shop.example"
      ),
      "STOA_PUBLIC_URL"
    )
  }),
  /** Connection string of PostgreSQL 15 or newer. Absent: an embedded server under `dataDir` (`DATABASE_URL`). */
  databaseUrl: Setting.optional(databaseUrl, "DATABASE_URL"),
  /** Directory of the embedded database; created when missing, never deleted. Default `.data` (`STOA_DATA_DIR`). */
  dataDir: Setting.withDefault(Setting.text, ".data", "STOA_DATA_DIR"),
  store: Setting.group({
    /** Organization of requests that name none; a start creates it if needed. Default `org_default`. */
    defaultOrganizationId: Setting.optional(organizationId),
    /** Three letters; the currency of amounts that carry none. Default `USD`. */
    defaultCurrency: Setting.withDefault(
      Setting.textThat(isCurrencyCode, "the upper-case code of a currency, for example USD"),
      defaultSettings.defaultCurrency
    )
  }),
  /** Locales of the catalog (docs/catalog.md). */
  catalog: Setting.group({
    /** The last fallback of every locale. Default `en`. */
    defaultLocale: Setting.withDefault(locale, defaultCatalog.defaultLocale),
    /** Fallbacks of a locale, best first: `{ "de-CH": ["fr"] }`. Default: none. */
    localeFallbacks: Setting.withDefault(
      Schema.Record(locale, Schema.Array(locale)).annotate({
        description: "names of locales, 1 to 64 characters each"
      }),
      defaultCatalog.localeFallbacks
    ),
    /** Whether texts wait as a draft for a user with `catalog:approve`. Default false. */
    approveLocales: Setting.withDefault(Setting.flag, defaultCatalog.approveLocales)
  }),
  cart: Setting.group({
    /** Life of a cart in minutes from its creation. Default 10080, seven days. */
    ttlMinutes: Setting.withDefault(Setting.whole(1, 52_560_000), defaultSettings.cartTtlMinutes)
  }),
  checkout: Setting.group({
    /** Seconds that stock is held for a checkout in progress. Default 900. */
    holdSeconds: Setting.withDefault(Setting.whole(1, 31_536_000), defaultSettings.holdSeconds),
    /** Orders of a shopper (`POST /api/orders`) that may wait for their payment at once. Default 3. */
    maxUnpaidOrders: Setting.withDefault(Setting.whole(0, 1_000_000), defaultSettings.maxUnpaidOrders),
    /** Minutes to confirm a payment, as with 3-D Secure; then the order is cancelled. Default 60. */
    confirmationMinutes: Setting.withDefault(Setting.whole(1, 525_600), defaultSettings.confirmationMinutes)
  }),
  orders: Setting.group({
    /** Hours after which an unpaid pending order is cancelled; drafts are not. 0: never. Default 48. */
    staleHours: Setting.withDefault(Setting.whole(0, 87_600, " of hours (0: never)"), defaultSettings.staleOrderHours)
  }),
  /** How long ended records stay in the database; scheduled jobs delete them then. */
  retention: Setting.group({
    /** Days that abandoned and checked-out carts stay. Default 30. */
    cartDays: Setting.withDefault(days(), 30),
    /** Days that released and consumed stock holds stay. Default 30. */
    holdDays: Setting.withDefault(days(), 30),
    /** Days that events of payment providers stay; none repeats an event after a month. Default 90. */
    providerEventDays: Setting.withDefault(days(), 90),
    /** Days that imports, their records and their reports stay. Default 30. */
    importDays: Setting.withDefault(days(), defaultLimits.keepDays),
    /** Days that a superseded revision of an entity stays; at most 100 stay. Default 365. */
    revisionDays: Setting.withDefault(days(), 365),
    /** Hours that results of idempotency keys and messages of actors and workflows stay. Default 24. */
    idempotencyHours: Setting.withDefault(Setting.whole(1, 36_500), 24)
  }),
  /** Imported files (docs/import-export.md). */
  importExport: Setting.group({
    /** Largest file, in bytes. Default 268,435,456 (256 MB). */
    maxFileBytes: Setting.withDefault(
      Setting.whole(1, Number.MAX_SAFE_INTEGER, " of bytes"),
      defaultLimits.maxFileBytes
    ),
    /** Records that are written in one transaction, 1 to 5000. Default 500. */
    batchRows: Setting.withDefault(Setting.whole(1, 5_000), defaultLimits.batchRows)
  }),
  changeLog: Setting.group({
    /** Days that the change log (audit trail and events) keeps an entry. 0: for ever. Default 730. */
    keepDays: Setting.withDefault(days(0), 730)
  }),
  /** Price of shipping where the organization has no zones (docs/tax-and-shipping.md). Default: a flat rate of 0. */
  shipping: shippingSettings,
  /** Tax, besides the organizations' own classes and rates (docs/tax-and-shipping.md). Rates in basis points: 1900 is 19 %. */
  tax: taxSettings,
  /** Users, sessions, keys, roles and organizations (docs/access.md). */
  auth: authSettings,
  /** Payment providers (docs/payments.md). */
  payments: paymentSettings,
  /** Webhooks (docs/webhooks.md). */
  webhooks: webhookSettings,
  /** Limits of requests (docs/security.md). */
  rateLimits: Setting.group(Setting.numbers(defaultRates, Setting.whole(1, 1_000_000_000))),
  /** Name of the store in mails and on invoices. Default `Stoa`. */
  storeName: Setting.withDefault(Setting.text, "Stoa"),
  /** Invoices and receipts: the seller and the texts (docs/orders.md). */
  invoices: Setting.optional(Setting.code<Partial<InvoiceOptions>>()),
  /** Mails (docs/mail.md). */
  email: mailSettings,
  /** Files of the store: what may be uploaded, and the sizes of images (docs/media.md). */
  media: mediaSettings,
  /** Where those files are stored (`STOA_MEDIA_STORAGE`). */
  storage: storageSettings,
  /** Background jobs (docs/jobs.md). Times in milliseconds unless stated otherwise. */
  jobs: jobSettings,
  /** Tasks of the deployment; the same as `jobs.tasks`. */
  tasks: Setting.withDefault(Setting.code<ReadonlyArray<Task>>(), []),
  /** Figures of a store (docs/analytics.md). */
  analytics: Setting.group({
    /** Models of the deployment, besides those of the core and of plugins. */
    models: Setting.withDefault(Setting.code<ReadonlyArray<AnalyticsModel>>(), []),
    /** Milliseconds a query may take. Default 10000. */
    timeoutMs: Setting.withDefault(Setting.milliseconds(100, 300_000), defaultAnalytics.timeoutMs),
    /** Concurrent queries of one process; others wait. Default 2. */
    connections: Setting.withDefault(Setting.whole(1, 20), defaultAnalytics.connections)
  }),
  /** Search of the catalog (docs/catalog.md). */
  search: Setting.group({
    /** Facets that are counted if a request names none. Default: type, category, brand, status. */
    defaultFacets: Setting.withDefault(facets, usualFacets)
  }),
  /** Plugins in the order in which they are installed (docs/plugins.md); one that requires another comes after it. */
  plugins: Setting.withDefault(Setting.code<ReadonlyArray<Plugin>>(), []),
  /** Hooks of the deployment (docs/plugins.md); they run before those of modules and plugins. */
  hooks: Setting.withDefault(Setting.code<ReadonlyArray<Hook>>(), [])
})

/** Configuration of a deployment in `commerce.config.ts`. Every option has a default; environment variables win over it. */
export type DeploymentConfig = Setting.Options<typeof deploymentSettings.fields>

/** The configuration of this process, with the environment and the defaults. */
export type Deployment = typeof deploymentSettings.Type

/** Types `commerce.config.ts`: a misspelt option does not compile. */
export const defineConfig = (config: DeploymentConfig): DeploymentConfig => config
