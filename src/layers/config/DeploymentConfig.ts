import type { Hook } from "../../domain/hooks/Hook.ts"
import type { InvoiceOptions } from "../../domain/invoices/InvoiceSettings.ts"
import type { Task } from "../../domain/jobs/Task.ts"
import type { WebhookBackoff } from "../../domain/webhooks/WebhookSettings.ts"
import type { SocketLimits } from "../../http/rpc/RpcSockets.ts"
import type { Plugin } from "../../plugins/kit/Plugin.ts"
import type { AccessOptions } from "./AccessConfig.ts"
import type { AnalyticsOptions } from "./AnalyticsConfig.ts"
import type { AuthOptions } from "./AuthConfig.ts"
import type { CatalogOptions } from "./CatalogConfig.ts"
import type { JobOptions } from "./JobOptions.ts"
import type { EmailOptions } from "./MailConfig.ts"
import type { MediaOptions, StorageOptions } from "./MediaConfig.ts"
import type { PaymentSettingsOptions } from "./PaymentConfig.ts"
import type { RateLimitOptions } from "./RateLimitConfig.ts"
import type { SearchOptions } from "./SearchConfig.ts"
import type { ShippingOptions } from "./ShippingConfig.ts"
import type { TaxConfig } from "./TaxConfig.ts"

/** How long a client may take to send a request, in milliseconds from its first byte. */
export interface RequestTimes {
  /** For its headers. Default 15000. */
  readonly headersMs?: number
  /** For the whole of it. Default 60000. */
  readonly requestMs?: number
}

/** What a deployment decides in `commerce.config.ts`. Every option has a default; environment variables win over it. */
export interface DeploymentConfig {
  readonly server?: {
    /** Listening address of the API. Default: port 4000 on 127.0.0.1 (`PORT`, `HOST`). */
    readonly port?: number
    readonly host?: string
    /**
     * The proxies in front, whose `X-Forwarded-For` says who asks: addresses and networks, separated by commas
     * (`10.0.0.5, 10.1.0.0/16`). Default: none (`TRUSTED_PROXY_IP`).
     */
    readonly trustedProxyIp?: string
    readonly requestTimes?: RequestTimes
    /** What sockets at `/rpc` are granted, for each process (docs/clients.md). */
    readonly rpc?: Partial<SocketLimits>
    /** Where clients reach the API, `https://shop.example`: links in mails begin with it (`STOA_PUBLIC_URL`). */
    readonly publicUrl?: string
  }
  /** Connection string of PostgreSQL 15 or newer. Absent: an embedded server under `dataDir` (`DATABASE_URL`). */
  readonly databaseUrl?: string
  /** Where the embedded database lives; created when missing, never deleted. Default `.data` (`STOA_DATA_DIR`). */
  readonly dataDir?: string
  readonly store?: {
    /** Organization of requests that name none; a start makes it if it is not there. Default `org_default`. */
    readonly defaultOrganizationId?: string
    /** Three letters; the currency of amounts that carry none. Default `USD`. */
    readonly defaultCurrency?: string
  }
  /** Languages of the catalog: what stands in for what, and whether words wait for approval (docs/catalog.md). */
  readonly catalog?: CatalogOptions
  readonly cart?: {
    /** Life of a cart in minutes from its creation. Default 10080, seven days. */
    readonly ttlMinutes?: number
  }
  readonly checkout?: {
    /** Seconds that stock stays held for a checkout that has not ended. Default 900. */
    readonly holdSeconds?: number
    /** Orders that a shopper wrote (`POST /api/orders`) and that may wait for their payment at once. Default 3. */
    readonly maxUnpaidOrders?: number
    /**
     * Minutes a shopper has to confirm a payment that the provider wants confirmed (3-D Secure and the like); then the
     * order is cancelled and its stock goes back. Default 60.
     */
    readonly confirmationMinutes?: number
  }
  readonly orders?: {
    /** Hours after which a pending order that nobody paid is cancelled; drafts are not. 0: never. Default 48. */
    readonly staleHours?: number
  }
  /** How long what has ended stays in the database; scheduled tasks remove it then. */
  readonly retention?: {
    /** Days that abandoned and checked-out carts stay. Default 30. */
    readonly cartDays?: number
    /** Days that stock holds stay which came to nothing or were handed over. Default 30. */
    readonly holdDays?: number
    /** Days that events of payment providers are remembered, so that a repeated one is known. Default 90. */
    readonly providerEventDays?: number
    /** Days that imports, their records and their reports stay. Default 30. */
    readonly importDays?: number
    /** Days that a revision of an entity stays after a newer one came; at most 100 stay. Default 365. */
    readonly revisionDays?: number
    /** Hours that answers to idempotency keys and messages of actors and durable processes stay. Default 24. */
    readonly idempotencyHours?: number
  }
  /** Files that are imported (docs/import-export.md). */
  readonly importExport?: {
    /** Largest file, in bytes. Default 268,435,456 (256 MB). */
    readonly maxFileBytes?: number
    /** Records that are written in one transaction, 1 to 5000. Default 500. */
    readonly batchRows?: number
  }
  readonly changeLog?: {
    /** Days that the change log, which is the audit trail and the events, keeps an entry. 0: for ever. Default 730. */
    readonly keepDays?: number
  }
  /** Price of shipping where the organization has no zones, and what stands beside them (docs/tax-and-shipping.md). */
  readonly shipping?: ShippingOptions
  /** How orders are taxed beside the organizations' own classes and rates (docs/tax-and-shipping.md). */
  readonly tax?: TaxConfig
  /** Users, sessions and keys (docs/access.md), roles and organizations (docs/access.md). */
  readonly auth?: AuthOptions & AccessOptions
  /** Who takes the money (docs/payments.md). */
  readonly payments?: PaymentSettingsOptions
  readonly webhooks?: {
    /**
     * Lets webhooks reach this machine and private networks. Default: in development only; refused in production
     * (`STOA_WEBHOOKS_ALLOW_PRIVATE`). `allowPrivateNetworks` says the same.
     */
    readonly allowPrivateTargets?: boolean
    readonly allowPrivateNetworks?: boolean
    /** The only ports of receivers that are connected to. Default: any. */
    readonly allowedPorts?: ReadonlyArray<number>
    /** Days of failures only after which an endpoint is switched off. Default 5. */
    readonly disableAfterDays?: number
    /** Hours that a secret signs beside the one that replaced it. Default 24. */
    readonly rotationHours?: number
    /** Days that deliveries are kept, and can be sent again. Default 30. */
    readonly retentionDays?: number
    /** How long a delivery that failed waits for its next attempt. Default: 170 s, doubled up to 12 h, spread by 0.2. */
    readonly backoff?: Partial<WebhookBackoff>
  }
  /** Limits of requests (docs/security.md). */
  readonly rateLimits?: RateLimitOptions
  /** Name of the store in mails and on invoices. Default `Stoa`. */
  readonly storeName?: string
  /** Invoices and receipts: who sells, and in which words (docs/orders.md). */
  readonly invoices?: Partial<InvoiceOptions>
  /** Mails: how they leave, and which (docs/mail.md). */
  readonly email?: EmailOptions
  /** Files of the store: what may be uploaded, and in which sizes images are shown (docs/media.md). */
  readonly media?: MediaOptions
  /** Where those files lie: a folder below `dataDir`, a bucket, or nowhere (`STOA_MEDIA_STORAGE`). */
  readonly storage?: StorageOptions
  /** Background jobs: who drives them, how many at once, how long they stay. */
  readonly jobs?: JobOptions
  /** Kinds of jobs of the deployment's own; the same as `jobs.tasks`. */
  readonly tasks?: ReadonlyArray<Task>
  /** Figures of a store: models of the deployment's own, and how long a query may take (docs/analytics.md). */
  readonly analytics?: AnalyticsOptions
  /** What is counted beside what is found (docs/catalog.md). */
  readonly search?: SearchOptions
  /** Plugins in the order in which they are installed (docs/plugins.md); one that requires another comes after it. */
  readonly plugins?: ReadonlyArray<Plugin>
  /** Handlers of the deployment's own (docs/plugins.md); they run before those that modules and plugins append. */
  readonly hooks?: ReadonlyArray<Hook>
}

/** Gives `commerce.config.ts` its types: a misspelt option does not compile. */
export const defineConfig = (config: DeploymentConfig): DeploymentConfig => config
