import { configDefaults, defineConfig } from "vitest/config"
import { LongOnesFirst } from "./test/support/LongOnesFirst.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "src/plugins/*/test/**/*.test.ts"],
    // They have a run of their own (`vitest.crash.config.ts`).
    exclude: [...configDefaults.exclude, "**/*.crash.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    // As `src/main.ts` has it.
    setupFiles: ["effect/schema/SchemaJITCompiler/enable"],
    // Files run one after the other in a few processes, each of which loads the service once and starts the shared one
    // (`TestApp.ts`) once. What a process counts (metrics) goes on from file to file.
    pool: "forks",
    isolate: false,
    maxWorkers: 3,
    // Node.js reads the sources itself, as it does for the service, so that tests run what is shipped. What rewrites modules
    // on their way in (`FilterPlugin.ts`) has separate configurations.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongOnesFirst },
    // A guard against tests that hang, above the bound of `waitFor`, which says what it waited for.
    testTimeout: 240_000,
    hookTimeout: 240_000
  }
})
