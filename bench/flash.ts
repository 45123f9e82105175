import { flashProduct } from "./load/Flows.ts"
import { atLeast, exactly, heading, note, record } from "./measure/Report.ts"
import { measureWindow } from "./measure/Window.ts"
import { printStatements, printSteps, printWindows, rateOf } from "./measure/WindowReport.ts"
import type { Options } from "./Options.ts"
import { onDatabase } from "./servers/BenchPostgres.ts"
import type { Stage } from "./servers/Stage.ts"
import { auditStock, setStock } from "./servers/StoaSeed.ts"
import { alternate } from "./workloads.ts"

/** W5, first half: how many orders of one item a second, while there is enough of it. */
const speed = async (stage: Stage, options: Options, users: number) => {
  const label = `W5 flash sale, ${users} users on one item`
  heading(label)
  const windows = await alternate(stage, options, "flash", users)
  printWindows(label, windows)
  const last = windows.slice(-2)
  printSteps(last)
  if (options.verbose) { for (const window of last) printStatements(window) }
  const [stoa, bare] = [rateOf(windows, "stoa"), rateOf(windows, "bare")]
  note(`median: stoa ${stoa.toFixed(0)}/s, bare ${bare.toFixed(0)}/s`)
  atLeast(label, stoa / bare, 0.5, " x bare")
}

/** W5, second half: three buyers for every two units. Not one too many is sold, and none is left. */
const audit = async (stage: Stage, options: Options, users: number) => {
  const flows = options.flows ?? 600
  const units = Math.floor(flows * 2 / 3)
  heading(`W5 audit: ${units} units, ${flows} buyers, ${users} at once`)
  const url = stage.postgres.urlOf("stoa")
  await onDatabase(url, (client) => setStock(client, flashProduct, units))
  const before = await onDatabase(url, (client) => auditStock(client, flashProduct))
  const window = await measureWindow(stage.postgres, stage.stoa, {
    flow: "flash",
    users,
    warmup: 0,
    seconds: 0,
    flows,
    products: options.products,
    firstCart: 0
  })
  printWindows("W5 audit", [window])
  const after = await onDatabase(url, (client) => auditStock(client, flashProduct))
  const sold = after.sold - before.sold
  record("W5 audit", { units, recorded: window.load.orders, before, after })
  exactly("units sold beyond the stock", Math.max(0, sold - units), 0)
  exactly("units left unsold while buyers were refused", Math.max(0, units - sold), 0)
  exactly(
    "orders in answers less orders in the table",
    window.load.orders - (after.orders - before.orders),
    0
  )
  exactly("reserved units less units of holds", after.reserved - after.held, 0)
  exactly("reserved units since the start less units sold", after.reserved - before.reserved - sold, 0)
  exactly("reserved units beyond those on hand", Math.max(0, after.reserved - after.onHand), 0)
}

export const runFlash = async (stage: Stage, options: Options): Promise<void> => {
  const users = options.users ?? 32
  await speed(stage, options, users)
  await audit(stage, options, users)
}
