import { createBareTables, seedBare } from "../bare/Tables.ts"
import { environment } from "../measure/Environment.ts"
import { table } from "../measure/Report.ts"
import type { Target } from "../measure/Window.ts"
import type { Options } from "../Options.ts"
import { startBare } from "./BareServer.ts"
import { type BenchPostgres, onDatabase, startBenchPostgres } from "./BenchPostgres.ts"
import { seedOrders, seedStoa } from "./StoaSeed.ts"
import { startStoa } from "./StoaServer.ts"

/** The servers of a run, each with a filled database on one durable PostgreSQL. */
export interface Stage {
  readonly postgres: BenchPostgres
  readonly stoa: Target
  readonly bare: () => Promise<Target>
  /** What it all ran on. */
  readonly environment: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

/** Starts PostgreSQL and Stoa; bare when it is first asked for. */
export const openStage = async (options: Options): Promise<Stage> => {
  const postgres = await startBenchPostgres()
  const facts = await environment(postgres.admin)
  table(["environment", ""], Object.entries(facts).map(([name, value]) => [name, value]))
  const url = await postgres.create("stoa")
  // The server makes the tables at its start.
  const server = await startStoa({ databaseUrl: url })
  await onDatabase(url, async (client) => {
    await seedStoa(client, options.products)
    await seedOrders(client)
  })
  let bare: Target | undefined
  return {
    postgres,
    stoa: { name: "stoa", server, database: "stoa" },
    bare: async () => {
      if (bare !== undefined) return bare
      const bareUrl = await postgres.create("bare")
      await onDatabase(bareUrl, async (client) => {
        await createBareTables(client)
        await seedBare(client, options.products)
      })
      return bare = { name: "bare", server: await startBare(bareUrl, options.barePrepare), database: "bare" }
    },
    environment: facts,
    stop: async () => {
      await Promise.all([server.stop(), bare?.server.stop()])
      await postgres.stop()
    }
  }
}
