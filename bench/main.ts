// As `src/main.ts` has it, for programs that run the service in this process.
import "effect/schema/SchemaJITCompiler/enable"
import { runAnalytics } from "./analytics.ts"
import { runAuth } from "./auth.ts"
import { runAuthTiming } from "./authtiming.ts"
import { runCartLines } from "./cartlines.ts"
import { runColdStart } from "./coldstart.ts"
import { runDriver } from "./driver.ts"
import { runFlash } from "./flash.ts"
import { runImportExport } from "./import-export.ts"
import { runImportMemory } from "./importmemory.ts"
import { runJobs } from "./jobs.ts"
import { runLines } from "./lines.ts"
import { runMarketplace } from "./marketplace.ts"
import { environment } from "./measure/Environment.ts"
import { finish } from "./measure/Report.ts"
import { runMemory } from "./memory.ts"
import { runNotifications } from "./notifications.ts"
import { runOperations } from "./operations.ts"
import { type Options, readOptions } from "./Options.ts"
import { runPlugins } from "./plugins.ts"
import { runProcesses } from "./processes.ts"
import { runReservations } from "./reservations.ts"
import { runRevisions } from "./revisions.ts"
import { runRpc } from "./rpc.ts"
import { runSearch } from "./search.ts"
import { stopPostgres } from "./servers/BenchPostgres.ts"
import { endChildren } from "./servers/ChildServer.ts"
import { openStage, type Stage } from "./servers/Stage.ts"
import { runSignIns } from "./signins.ts"
import { runSlots } from "./slots.ts"
import { runWorkload } from "./workloads.ts"

/** Programs on a shared stage, in the order of `all`: memory first, while the server has done nothing yet. */
const onStage: Readonly<Record<string, (stage: Stage, options: Options) => Promise<void>>> = {
  memory: runMemory,
  list: (stage, options) => runWorkload("list", stage, options),
  product: (stage, options) => runWorkload("product", stage, options),
  cart: (stage, options) => runWorkload("cart", stage, options),
  purchase: (stage, options) => runWorkload("purchase", stage, options),
  orders: (stage, options) => runWorkload("orders", stage, options),
  auth: runAuth,
  "auth-timing": runAuthTiming,
  "sign-ins": runSignIns,
  lines: runLines,
  flash: runFlash,
  cartlines: runCartLines,
  processes: runProcesses,
  rpc: runRpc
}

/** Programs that start what they need themselves. */
const alone: Readonly<Record<string, (options: Options) => Promise<void>>> = {
  analytics: runAnalytics,
  coldstart: runColdStart,
  driver: runDriver,
  "import-export": runImportExport,
  importmemory: runImportMemory,
  jobs: runJobs,
  marketplace: runMarketplace,
  notifications: runNotifications,
  operations: runOperations,
  plugins: runPlugins,
  reservations: runReservations,
  revisions: runRevisions,
  search: runSearch,
  slots: runSlots
}

const usage = `npm run bench -- NAME... [--users N] [--seconds S] [--warmup S] [--windows N] [--products N] [--flows N]
  [--verbose] [--by] [--bare-prepare true|false] [--only TEXT] [--json FILE]
names: ${[...Object.keys(onStage), ...Object.keys(alone)].join(", ")}; all = everything but analytics, driver,
  import-export, importmemory, jobs, marketplace, notifications, operations, plugins, reservations, revisions, search and slots`

const run = async (options: Options) => {
  const asked = new Set(options.names.includes("all") ? [...Object.keys(onStage), "coldstart"] : options.names)
  const unknown = [...asked].filter((name) => onStage[name] === undefined && alone[name] === undefined)
  if (asked.size === 0 || unknown.length > 0) throw new Error(`${unknown.join(", ")}\n${usage}`)
  let facts = await environment()
  const staged = Object.entries(onStage).filter(([name]) => asked.has(name))
  if (staged.length > 0) {
    // Carts of up to 1,000 lines need one product more; the page of the list is the same.
    const products = asked.has("cartlines") && options.products === 1000 ? 1001 : options.products
    const stage = await openStage({ ...options, products })
    facts = stage.environment
    try {
      for (const [, program] of staged) await program(stage, { ...options, products })
    } finally {
      await stage.stop()
    }
  }
  for (const [name, program] of Object.entries(alone)) if (asked.has(name)) await program(options)
  await finish(facts, options.json)
}

/** Nothing stays behind, however it ends: the servers first, then the database they work on. */
const endAll = () => endChildren().then(stopPostgres)

let ending: Promise<void> | undefined

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // Signals may come twice, from the terminal and from the parent process; the second must not cut the first short.
  process.on(signal, () => {
    ending ??= endAll().finally(() => process.exit(130))
  })
}

try {
  await run(readOptions(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`)
  await endAll()
  process.exitCode = 1
}
