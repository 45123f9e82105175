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

type FlowsCosts = Array<readonly [name: typeof flowNames[number], costs: FlowCosts]>

const titles = {
  shipped: "as it is shipped",
  none: "without plugins",
  all: "with all plugins, which have nothing to do"
}

const jobCount = `select count(*) from commerce_jobs where task_slug not in (select task_slug from scheduler_ticks)`

/**
 * Counts what a flow of one user costs, without any clock: operations of Effect, fibers, spans, statements and transactions
 * that write. The figures are the same on every machine, so `.ci/run` holds them to `operations/budgets.json`; the exit
 * code is 1 when one is above. `--by` shows from where in the sources the operations come, `--verbose` the statements.
 */
export const runOperations = async (options: Options): Promise<void> => {
  const postgres = await startBenchPostgres()
  try {
    const found: Partial<Record<keyof Budgets, FlowsCosts>> = {}
    for (const plugins of ["shipped", "none", "all"] as const) {
      heading(`operations per flow, ${titles[plugins]}`)
      const database = `operations_${plugins}`
      const url = await postgres.create(database)
      const port = await freePort()
      const server = await startStoa({ databaseUrl: url }, {
        args: ["--import", "./bench/operations/Counter.ts"],
        env: { BENCH_COUNTER_PORT: String(port), BENCH_PLUGINS: plugins, ...(options.by ? { BENCH_BY: "source" } : {}) }
      })
      await onDatabase(url, (client) => seedStoa(client, products))
      // The server's counter is in this repository too.
      const ask = async (path = "") => (await fetch(`http://127.0.0.1:${port}/${path}`)).json() as Promise<Counts>
      await onDatabase(url, async (client) => {
        const jobs = async () => Number((await client.query(jobCount)).rows[0]?.count)
        const relay = () => ask("relay")
        const counter = new FlowCounter({
          origin: server.origin,
          counts: ask,
          relay,
          jobs,
          admin: postgres.admin,
          database
        })
        found[plugins] = await countFlows(counter, plugins, options)
        await counter.close()
      })
      await server.stop()
    }
    compare(found, options)
  } finally {
    await postgres.stop()
  }
}

/** Plugins that have nothing to do cost nothing. */
const compare = ({ all, none }: Partial<Record<keyof Budgets, FlowsCosts>>, { by }: Options) => {
  for (const [name, costs] of by ? [] : all ?? []) {
    const without = none?.find(([other]) => other === name)?.[1].operations ?? NaN
    if (name === "W3" || name === "W4") {
      atMost(`${name} with all plugins, operations`, costs.operations / without, 1.1, " x none")
    }
  }
}

const countFlows = async (counter: FlowCounter, plugins: keyof Budgets, { by, flows, only, verbose }: Options) => {
  const found: FlowsCosts = []
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
  if (by) return found
  for (const [name, costs] of found) {
    for (const cost of costNames) {
      const budget = budgets[plugins][name][cost]
      atMost(`${name} ${plugins}, ${cost}`, costs[cost], budget)
      if (costs[cost] > budget) process.exitCode = 1
    }
  }
  return found
}

const print = (title: string, counts: ReadonlyArray<readonly [name: string, count: number]>, prefix = "") => {
  note(`  ${title}`)
  for (const [name, count] of counts.filter(([name]) => name.startsWith(prefix)).slice(0, 60)) {
    note(`  ${count.toFixed(1).padStart(7)}  ${name.slice(prefix.length).replaceAll(/\s+/g, " ").slice(0, 160)}`)
  }
}
