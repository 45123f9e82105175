import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { databaseWindow } from "./measure/DatabaseUse.ts"
import { median } from "./measure/Figures.ts"
import { lessUse, memoryOf, useOf } from "./measure/ProcessUse.ts"
import { atMost, heading, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { startBenchPostgres } from "./servers/BenchPostgres.ts"
import { startStoa } from "./servers/StoaServer.ts"

const start = async (dataDir: string): Promise<number> => {
  const server = await startStoa({ dataDir })
  await server.stop()
  return server.readyMs / 1000
}

const idleSeconds = 60

/** What a process uses in a minute without requests, half a minute after its start. */
const runIdle = async (): Promise<void> => {
  heading(`idle for ${idleSeconds} s`)
  const postgres = await startBenchPostgres()
  try {
    const server = await startStoa({ databaseUrl: await postgres.create("idle") })
    await pause(30_000)
    const [window, before] = [await databaseWindow(postgres.admin, "idle"), await useOf(server.pid)]
    await pause(idleSeconds * 1_000)
    const [{ statements }, used] = [await window(), lessUse(await useOf(server.pid), before)]
    const { now, peak } = await memoryOf(server.pid)
    await server.stop()
    const perSecond = statements.reduce((sum, { calls }) => sum + calls, 0) / idleSeconds
    const cpuPercent = used.cpuMs / idleSeconds / 10
    table(
      ["statement", "per s"],
      statements.slice(0, 20).map(({ calls, text }) => [text.slice(0, 100), calls / idleSeconds])
    )
    record("idle", { perSecond, cpuPercent, memory: now, peak, waits: used.waits })
    atMost("idle statements", perSecond, 4, "/s")
    atMost("idle processor time", cpuPercent, 0.5, " %")
    atMost("idle memory", now, 200, " MiB")
  } finally {
    await postgres.stop()
  }
}

/**
 * From the start of the process to the first answer of the catalog, with the embedded server: once from nothing (the
 * cluster is made, the tables, the demo store), then again on the directory that is there. Then what an idle process uses.
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
  await runIdle()
}
