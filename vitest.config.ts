import { defineConfig } from "vitest/config"
import { LongOnesFirst } from "./test/support/LongOnesFirst.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "plugins/*/test/**/*.test.ts"],
    globalSetup: ["test/support/globalSetup.ts"],
    // Files run one after the other in four processes, which load the service once: that is a quarter of the time. Each
    // file has a database of its own; only what a process counts (metrics) goes on from file to file. Four on two cores,
    // because tests of crashes wait for seconds until a dead process is given up.
    pool: "forks",
    isolate: false,
    maxWorkers: 4,
    sequence: { sequencer: LongOnesFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
