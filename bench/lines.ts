import { callsBy } from "./measure/DatabaseUse.ts"
import { atMost, heading, record, table } from "./measure/Report.ts"
import { measureWindow, type Window } from "./measure/Window.ts"
import { printStatements, printWindows } from "./measure/WindowReport.ts"
import type { Options } from "./Options.ts"
import { onDatabase } from "./servers/BenchPostgres.ts"
import type { Stage } from "./servers/Stage.ts"
import { seedCarts } from "./servers/StoaSeed.ts"

const sizes = [1, 5, 10, 50]

/** Statements of a checkout without the cluster's, which come by time and in batches. */
const serviceCalls = ({ database, load }: Window): number =>
  callsBy(database.statements).service / Math.max(1, load.done)

/**
 * The checkout of carts with 1, 5, 10 and 50 lines: its statements must not grow with the lines, and its median time
 * with 50 lines may be twice that with one. The carts are filled by SQL, so only checkouts are measured.
 */
export const runLines = async (stage: Stage, options: Options): Promise<void> => {
  const flows = options.flows ?? 400
  const warm = Math.ceil(flows / 2)
  const users = options.users ?? 4
  heading(`checkout by number of lines, ${users} users, ${flows} checkouts each`)
  const found: Array<readonly [lines: number, window: Window]> = []
  let firstCart = 0
  for (const lines of sizes) {
    await onDatabase(stage.postgres.urlOf("stoa"), (client) => seedCarts(client, firstCart, warm + flows, lines))
    const job = { flow: "checkout", users, warmup: 0, seconds: 0, products: options.products } as const
    await measureWindow(stage.postgres, stage.stoa, { ...job, flows: warm, firstCart })
    const window = await measureWindow(stage.postgres, stage.stoa, { ...job, flows, firstCart: firstCart + warm })
    printWindows(`checkout of ${lines} lines`, [window])
    if (options.verbose) printStatements(window)
    found.push([lines, window])
    firstCart += warm + flows
  }
  table(
    ["lines", "statements", "p50 ms", "p99 ms"],
    found.map(([lines, window]) => [String(lines), serviceCalls(window), window.load.p50, window.load.p99])
  )
  const [one, most] = [found[0]?.[1], found.at(-1)?.[1]]
  if (one === undefined || most === undefined) return
  record("lines", { p50: found.map(([lines, { load }]) => [lines, load.p50]) })
  // Batches of concurrent checkouts share statements, so the count per checkout is no whole number.
  atMost(
    "service's statements of a checkout of 50 lines less those of one line",
    serviceCalls(most) - serviceCalls(one),
    0.5
  )
  atMost("p50 of a checkout of 50 lines over one line", most.load.p50 / one.load.p50, 2, " x")
}
