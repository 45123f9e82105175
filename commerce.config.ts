import { defineConfig } from "./src/layers/config/DeploymentConfig.ts"
import { marketplace } from "./src/plugins/marketplace/index.ts"

/** This deployment's own configuration. Each option is described where `DeploymentConfig` declares it. */
export default defineConfig({
  store: { defaultCurrency: "USD" },
  shipping: { type: "flat", flatRate: 0 },
  // Several vendors in one store; without this line there are none.
  plugins: [marketplace()],
  // Keys that `stoa api-key create` makes open something.
  auth: { apiKeys: { enabled: true } }
})
