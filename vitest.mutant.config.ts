import { defineConfig } from "vitest/config"
import { filterPlugin, mutantOf, withoutFilter } from "./test/support/TenantFilter.ts"

const mutant = process.env["STOA_MUTANT"] ?? ""
const { file, n } = mutantOf(mutant)

/** The tests of tenants with the filter taken out that STOA_MUTANT names; test/chaos/TenantFilters.ts asks for it. */
export default defineConfig({
  plugins: [filterPlugin(mutant, (code, path) => path === file ? withoutFilter(code, n) : undefined)],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    pool: "forks",
    isolate: false,
    maxWorkers: 1,
    bail: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
