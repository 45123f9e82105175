import { matchesGlob } from "node:path"
import { defineConfig } from "vitest/config"
import { filtered, filterPlugin, switchable } from "./test/support/TenantFilter.ts"

const filters = "test/chaos/TenantFilters.ts"

/** The long runs of crashes and rushes: `npm run chaos`. One at a time, since each fills the machine. */
const shared = {
  globalSetup: ["test/support/globalSetup.ts"],
  pool: "forks" as const,
  maxWorkers: 1,
  testTimeout: 3_600_000,
  hookTimeout: 60_000
}

export default defineConfig({
  test: {
    projects: [
      { test: { ...shared, name: "chaos", include: ["test/chaos/*.ts"], exclude: [filters] } },
      {
        plugins: [
          filterPlugin("switchable", (code, path) => matchesGlob(path, filtered) ? switchable(code, path) : undefined)
        ],
        test: { ...shared, name: "filters", include: [filters], testTimeout: 4 * 3_600_000 }
      }
    ]
  }
})
