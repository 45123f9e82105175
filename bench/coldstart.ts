import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { median } from "./measure/Figures.ts"
import { atMost, heading, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { startStoa } from "./servers/StoaServer.ts"

const start = async (dataDir: string): Promise<number> => {
  const server = await startStoa({ dataDir })
  await server.stop()
  return server.readyMs / 1000
}

/**
 * From the start of the process to the first answer of the catalog, with the embedded server: once from nothing (the
 * cluster is made, the tables, the demo store), then again on the directory that is there.
 */
export const runColdStart = async (options: Options): Promise<void> => {
  heading(`cold start, ${options.windows} times each`)
  const [nothing, existing]: [Array<number>, Array<number>] = [[], []]
  for (let round = 0; round < options.windows; round++) {
    const dataDir = await mkdtemp(join(tmpdir(), "stoa-bench-start-"))
    // The server's own account has to enter it, also when root runs the benchmark.
    await chmod(dataDir, 0o755)
    try {
      nothing.push(await start(dataDir))
      existing.push(await start(dataDir))
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  }
  table(["start", "median s", "all s"], [
    ["from nothing", median(nothing), nothing.map((seconds) => seconds.toFixed(2)).join(" ")],
    ["existing data", median(existing), existing.map((seconds) => seconds.toFixed(2)).join(" ")]
  ])
  record("coldstart", { nothing, existing })
  atMost("cold start from nothing", median(nothing), 6, " s")
  atMost("cold start on existing data", median(existing), 1.5, " s")
}
