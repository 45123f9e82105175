import { defineConfig } from "vitest/config"

/** Pages in a real Chromium against the running service: `npm run test:browser`. It needs Debian's package `chromium`. */
export default defineConfig({
  test: {
    include: ["test/browser/*.ts"],
    globalSetup: ["test/support/Chromium.ts", "test/support/globalSetup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 240_000,
    hookTimeout: 240_000
  }
})
