import { Effect, Option, Redacted } from "effect"
import { developmentKeyring } from "../../../domain/webhooks/SecretEncryption.ts"
import { testAccess } from "../../../layers/config/AccessConfig.ts"
import type { AppSettings } from "../../../layers/config/AppConfig.ts"
import { testAuth } from "../../../layers/config/AuthConfig.ts"
import type { DeploymentConfig } from "../../../layers/config/DeploymentConfig.ts"
import { jobSettings } from "../../../layers/config/JobOptions.ts"
import { mailSettingsOf, mailWayWithoutServer } from "../../../layers/config/MailConfig.ts"
import { readMedia } from "../../../layers/config/MediaConfig.ts"
import { readPayments } from "../../../layers/config/PaymentConfig.ts"
import { ratesOf } from "../../../layers/config/RateLimitConfig.ts"
import { testWebhooks } from "../../../layers/config/WebhookConfig.ts"

/**
 * The settings of a service under test on this database: it listens on a free port of 127.0.0.1, knows the actors of
 * `x-test-actor`, and takes nothing from the environment.
 */
export const testSettings = (url: string, deployment: DeploymentConfig): AppSettings => ({
  port: 0,
  host: "127.0.0.1",
  trustedProxy: Option.none(),
  databaseUrl: Option.some(Redacted.make(url)),
  dataDir: ".data",
  role: "all",
  runnerHost: "127.0.0.1",
  runnerPort: 0,
  runnerAddressSet: true,
  developmentKey: Option.some(Redacted.make("dev-admin-key")),
  metricsKey: Option.some(Redacted.make("a-key-for-metrics-alone")),
  environment: "test",
  graceMs: 0,
  logLevel: "error",
  logFormat: "pretty",
  access: testAccess(deployment.auth, deployment.store?.defaultOrganizationId),
  webhooks: testWebhooks,
  mail: Effect.runSync(
    mailSettingsOf(deployment.email, mailWayWithoutServer(deployment.email, "test"), developmentKeyring)
  ),
  media: Effect.runSync(readMedia(deployment, undefined, true)),
  payments: Effect.runSync(readPayments(deployment.payments ?? {}, "test")),
  jobs: jobSettings(deployment.jobs ?? {}, { autorun: undefined, leaseMs: undefined, reapMs: undefined }),
  rateLimits: ratesOf(deployment.rateLimits ?? {}, false, 1),
  auth: testAuth(deployment.auth),
  deployment
})
