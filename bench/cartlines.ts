import { atMost, heading, record, table } from "./measure/Report.ts"
import { measureWindow } from "./measure/Window.ts"
import { printStatements, printWindows } from "./measure/WindowReport.ts"
import type { Options } from "./Options.ts"
import { onDatabase } from "./servers/BenchPostgres.ts"
import type { Stage } from "./servers/Stage.ts"
import { seedCarts } from "./servers/StoaSeed.ts"

/** Carts of other programs on the same stage are numbered below this. */
const firstOfAll = 1_000_000

/**
 * Adding a line to a cart that holds 1, 100 or 1,000 lines: the slowest hundredth may differ by a factor of two. Each
 * shopper has one cart and takes the line out again, so that the carts keep their size.
 */
export const runCartLines = async (stage: Stage, options: Options): Promise<void> => {
  const users = options.users ?? 8
  // The product that is added must not be in the carts yet.
  const sizes = [1, 100, 1000].filter((size) => size < options.products)
  heading(`add a line to a cart, ${users} users`)
  const found: Array<readonly [size: number, p50: number, p99: number]> = []
  for (const [index, size] of sizes.entries()) {
    const firstCart = firstOfAll + index * users
    await onDatabase(stage.postgres.urlOf("stoa"), (client) => seedCarts(client, firstCart, users, size))
    const window = await measureWindow(stage.postgres, stage.stoa, {
      flow: "cartlines",
      users,
      warmup: options.warmup ?? 3,
      seconds: options.seconds ?? 5,
      flows: 0,
      products: options.products,
      firstCart
    })
    printWindows(`add and remove, cart of ${size}`, [window])
    if (options.verbose) printStatements(window)
    const times = window.load.steps["add"]
    found.push([size, times?.p50 ?? 0, times?.p99 ?? 0])
  }
  table(["lines before", "add p50 ms", "add p99 ms"], found.map(([size, p50, p99]) => [String(size), p50, p99]))
  record("cartlines", { found })
  const slowest = found.map(([, , p99]) => p99)
  atMost("p99 of an add, slowest over fastest cart size", Math.max(...slowest) / Math.min(...slowest), 2, " x")
}
