import { freePort } from "../src/layers/FreePort.ts"
import { atMost, heading, note, record, table } from "./measure/Report.ts"
import budgets from "./operations/budgets.json" with { type: "json" }
import { costNames, counted, type FlowCosts, FlowCounter } from "./operations/FlowCounter.ts"
import type { Counts } from "./operations/Messages.ts"
import type { Options } from "./Options.ts"
import { onDatabase, startBenchPostgres } from "./servers/BenchPostgres.ts"
import { seedStoa } from "./servers/StoaSeed.ts"
import { startStoa } from "./servers/StoaServer.ts"

const products = 100

type Budgets = typeof budgets

const flowNames = ["W1", "W2", "W3", "W4"] as const

/**
 * Counts what a flow of one user costs, without any clock: operations of Effect, fibers, spans, statements and transactions
 * that write. The figures are the same on every machine, so `.ci/run` holds them to `operations/budgets.json`; the exit
 * code is 1 when one is above. `--by` shows from where in the sources the operations come, `--verbose` the statements.
 */
export const runOperations = async (options: Options): Promise<void> => {
  const postgres = await startBenchPostgres()
  try {
    for (const plugins of ["shipped", "none"] as const) {
      heading(`operations per flow, ${plugins === "none" ? "without plugins" : "as it is shipped"}`)
      const database = `operations_${plugins}`
      const url = await postgres.create(database)
      const port = await freePort()
      const server = await startStoa({ databaseUrl: url }, {
        args: ["--import", "./bench/operations/Counter.ts"],
        env: { BENCH_COUNTER_PORT: String(port), BENCH_PLUGINS: plugins, ...(options.by ? { BENCH_BY: "source" } : {}) }
      })
      await onDatabase(url, (client) => seedStoa(client, products))
      // The server's counter is in this repository too.
      const counts = async () => (await fetch(`http://127.0.0.1:${port}`)).json() as Promise<Counts>
      const counter = new FlowCounter({ origin: server.origin, counts, admin: postgres.admin, database })
      await countFlows(counter, plugins, options)
      await counter.close()
      await server.stop()
    }
  } finally {
    await postgres.stop()
  }
}

const countFlows = async (counter: FlowCounter, plugins: keyof Budgets, { by, flows, only, verbose }: Options) => {
  const found: Array<readonly [name: typeof flowNames[number], costs: FlowCosts]> = []
  for (const name of flowNames) {
    if (only !== undefined && only !== name) continue
    const { costs, sources, statements } = await counter.count(counted[name], flows ?? (by ? 6 : 60), products)
    found.push([name, costs])
    if (verbose) print(`statements of ${name}`, statements)
    if (by) {
      print(`operations of ${name} by the function of ours that waits for them`, sources, "at ")
      print(`operations of ${name} by kind and nearest function`, sources, "by ")
    }
  }
  table(["flow", ...costNames], found.map(([name, costs]) => [name, ...costNames.map((cost) => String(costs[cost]))]))
  record(`operations, ${plugins}`, Object.fromEntries(found))
  // The profile's hook of tracers is counted as well.
  if (by) return
  for (const [name, costs] of found) {
    for (const cost of costNames) {
      const budget = budgets[plugins][name][cost]
      atMost(`${name} ${plugins}, ${cost}`, costs[cost], budget)
      if (costs[cost] > budget) process.exitCode = 1
    }
  }
}

const print = (title: string, counts: ReadonlyArray<readonly [name: string, count: number]>, prefix = "") => {
  note(`  ${title}`)
  for (const [name, count] of counts.filter(([name]) => name.startsWith(prefix)).slice(0, 60)) {
    note(`  ${count.toFixed(1).padStart(7)}  ${name.slice(prefix.length).replaceAll(/\s+/g, " ").slice(0, 160)}`)
  }
}
