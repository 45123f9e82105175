import { defineConfig } from "vitest/config"
import { LongOnesFirst } from "./test/support/LongOnesFirst.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "src/plugins/*/test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    // Files run one after the other in four processes, which load the service once: that is a quarter of the time. Each
    // file has a database of its own; only what a process counts (metrics) goes on from file to file. Four on two cores,
    // because tests of crashes wait for seconds until a dead process is given up.
    pool: "forks",
    isolate: false,
    maxWorkers: 4,
    // Node.js reads the sources itself, as it does for the service, so that tests run what is shipped. What rewrites modules
    // on their way in (`FilterPlugin.ts`) has configurations of its own.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongOnesFirst },
    // A guard against tests that hang; how long something may take is said where it matters.
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
