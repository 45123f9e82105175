import { ConfigProvider, Effect } from "effect"
import { developmentKeyring } from "../../../domain/webhooks/SecretEncryption.ts"
import { type AppSettings, readSettings } from "../../../layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../../layers/config/DeploymentConfig.ts"
import { neverWokenMs } from "./ShiftedClock.ts"

/**
 * The settings of a service under test on this database: it listens on a free port of 127.0.0.1, accepts the actors of
 * `x-test-actor` and stored API keys, takes nothing from the environment, and its clock ends no job or connecting.
 */
export const testSettings = (url: string, configured: DeploymentConfig = {}): AppSettings => {
  const env = {
    NODE_ENV: "test",
    DATABASE_URL: new URL("?connect_timeout=0", url).href,
    PORT: "0",
    STOA_RUNNER_PORT: "0",
    STOA_LOG_LEVEL: "error",
    STOA_DEV_API_KEY: "dev-admin-key",
    STOA_METRICS_KEY: "a-key-for-metrics-alone",
    STOA_AUTH_SECRET: "a secret of the tests that is known to everyone"
  }
  const auth = { ...configured.auth, apiKeys: { enabled: true, ...configured.auth?.apiKeys } }
  const settings = Effect.runSync(Effect.provideService(
    readSettings({ ...configured, auth, jobs: { timeLimitMs: neverWokenMs, ...configured.jobs } }),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromEnv({ env })
  ))
  return { ...settings, webhooks: { ...settings.webhooks, keyring: developmentKeyring } }
}
