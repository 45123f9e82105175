import { defineConfig } from "vitest/config"

/** The long runs of crashes and rushes: `npm run chaos`. One at a time, since each fills the machine. */
export default defineConfig({
  test: {
    include: ["test/chaos/*.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 60_000
  }
})
