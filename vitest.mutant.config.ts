import { defineConfig } from "vitest/config"
import { mutantOf, withoutFilter } from "./test/support/TenantFilter.ts"

const { file, n } = mutantOf(process.env["STOA_MUTANT"] ?? "")

/** The tests of tenants with the filter taken out that STOA_MUTANT names; test/chaos/TenantFilters.ts asks for it. */
export default defineConfig({
  plugins: [{
    name: "tenant-filter",
    enforce: "pre",
    transform: (code: string, id: string) =>
      file !== "" && id.endsWith(`/${file}`) ? { code: withoutFilter(code, n), map: null } : undefined
  }],
  test: {
    // It would give one mutant the modules of another: what it keeps does not know of the variable.
    fsModuleCache: false,
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    pool: "forks",
    maxWorkers: 1,
    bail: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
