import { boolean, definePlugin, group, integer, json, resource, table, text } from "../src/plugins/kit/StoaPlugin.ts"
import { createPluginTestApp, type PluginTestApp, testAdminActor } from "../src/plugins/kit/testing/StoaTesting.ts"
import { percentile } from "./measure/Figures.ts"
import { atMost, heading, record, table as printTable } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { startBenchPostgres } from "./servers/BenchPostgres.ts"

/** The columns of a tax class, so that both do the same. */
const makers = table("makers_makers", {
  name: text.unique(),
  rateBps: integer,
  isDefault: boolean.default(false),
  isActive: boolean.default(true),
  metadata: json.default({})
})

const makersPlugin = definePlugin({
  id: "makers",
  version: "1.0.0",
  permissions: [{ scope: "makers:use", description: "See and change makers" }],
  schema: () => [makers],
  routes: () =>
    resource(group("Makers", "/makers"), "/makers", makers, {
      noun: "maker",
      read: "makers:use",
      write: "makers:use",
      order: ["name"]
    })
})

const paths = { core: "/api/tax/classes", plugin: "/api/makers/makers" }
type Side = keyof typeof paths

const sides: ReadonlyArray<Side> = ["core", "plugin"]
const kinds = ["list", "create"] as const

const rowsPerTable = 1_000
const warmUp = 100

const seed = async ({ db }: PluginTestApp): Promise<void> => {
  for (const name of ["tax_classes", "makers_makers"]) {
    await db.query(`insert into ${name} (id, organization_id, name, rate_bps)
      select gen_random_uuid(), 'org_default', 'seed-' || n, 700 from generate_series(1, ${rowsPerTable}) n`)
    await db.query(`vacuum analyze ${name}`)
  }
}

/** Milliseconds of one request. */
const timeOf = async ({ app }: PluginTestApp, side: Side, kind: typeof kinds[number], round: number) => {
  const body = { name: `${side}-${round}`, rateBps: 700 }
  const began = performance.now()
  const answer = kind === "list"
    ? await app.request("GET", `${paths[side]}?page=2&limit=20`, { as: testAdminActor })
    : await app.request("POST", paths[side], { as: testAdminActor, body })
  const took = performance.now() - began
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return took
}

/**
 * List and create of a plugin's `resource` beside the same routes of the core (tax classes), in one process and by turns, so that
 * what else the machine does meets both. The bar is on the ratio of the medians.
 */
export const runPlugins = async (options: Options): Promise<void> => {
  const rounds = options.flows ?? 1_000
  heading(`plugins: a resource beside tax classes, ${rounds} requests each, one at a time`)
  const postgres = await startBenchPostgres()
  const app = await createPluginTestApp(makersPlugin, { postgres: { url: await postgres.create("plugins") } })
  try {
    await seed(app)
    const medians = []
    for (const kind of kinds) {
      const times: Record<Side, Array<number>> = { core: [], plugin: [] }
      for (let round = 0; round < rounds + warmUp; round++) {
        // Each goes first in half of the rounds.
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
          const took = await timeOf(app, side, kind, round)
          if (round >= warmUp) times[side].push(took)
        }
      }
      const [core, plugin] = sides.map((side) => percentile(times[side].toSorted((a, b) => a - b), 0.5))
      medians.push({ kind, core: core ?? 0, plugin: plugin ?? 0, ratio: (plugin ?? 0) / (core ?? 1) })
    }
    printTable(["request", "core p50 ms", "plugin p50 ms"], medians.map((one) => [one.kind, one.core, one.plugin]))
    record("plugins", { rounds, medians })
    for (const { kind, ratio } of medians) atMost(`${kind} of a resource`, ratio, 1.1, " x core")
  } finally {
    await app.close()
    await postgres.stop()
  }
}
