import { configDefaults, defineConfig } from "vitest/config"
import base from "./vitest.config.ts"

/**
 * Tests that start processes of the service, kill or freeze them, or take their database away: `npm run test:crash`. Three at
 * a time, because they wait for seconds until a dead process is given up.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ["test/**/*.crash.test.ts", "src/plugins/*/test/**/*.crash.test.ts"],
    exclude: configDefaults.exclude,
    maxWorkers: 3,
    // They wait for several processes, one after the other.
    testTimeout: 600_000
  }
})
