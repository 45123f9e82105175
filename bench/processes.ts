import { median } from "./measure/Figures.ts"
import { atLeast, heading, note, record } from "./measure/Report.ts"
import { measureWindow } from "./measure/Window.ts"
import type { Options } from "./Options.ts"
import type { Stage } from "./servers/Stage.ts"
import { startStoa } from "./servers/StoaServer.ts"

/** Whole purchases of two processes on one database, half of the shoppers at each, beside those of one; in turns. */
export const runProcesses = async (stage: Stage, options: Options): Promise<void> => {
  const users = options.users ?? 64
  heading(`W4 with two processes on one database, ${users} users`)
  const job = {
    flow: "purchase",
    users,
    // The second one was just started: its code is cold, and shards move to it.
    warmup: options.warmup ?? 20,
    seconds: options.seconds ?? 5,
    flows: 0,
    products: options.products,
    firstCart: 0
  } as const
  const rates: Record<"one" | "two", Array<number>> = { one: [], two: [] }
  for (let round = 0; round < options.windows; round++) {
    rates.one.push((await measureWindow(stage.postgres, stage.stoa, job)).load.rate)
    const beside = await startStoa({ databaseUrl: stage.postgres.urlOf("stoa") })
    try {
      rates.two.push((await measureWindow(stage.postgres, { ...stage.stoa, beside }, job)).load.rate)
    } finally {
      await beside.stop()
    }
  }
  const [one, two] = [median(rates.one), median(rates.two)]
  note(`median: one ${one.toFixed(0)}/s, two ${two.toFixed(0)}/s`)
  record("processes", { users, ...rates })
  atLeast("purchases of two processes", two / one, 1, " x one")
}
