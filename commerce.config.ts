import { defineConfig } from "./src/layers/config/DeploymentConfig.ts"

/** This deployment's own configuration. Each option is described where `DeploymentConfig` declares it. */
export default defineConfig({
  store: { defaultCurrency: "USD" },
  shipping: { type: "flat", flatRate: 0 },
  // Keys that `stoa api-key create` makes open something.
  auth: { apiKeys: { enabled: true } }
})
