import type { FlowName } from "./load/Messages.ts"
import { callsBy } from "./measure/DatabaseUse.ts"
import { atLeast, atMost, heading, note } from "./measure/Report.ts"
import { flowsOf, measureWindow, type Window } from "./measure/Window.ts"
import { bytesOf, printStatements, printSteps, printWindows, rateOf } from "./measure/WindowReport.ts"
import type { Options } from "./Options.ts"
import type { Stage } from "./servers/Stage.ts"

/** A flow that Stoa and bare are compared in. */
interface Workload {
  readonly title: string
  readonly flow: FlowName
  /** Numbers of users, and the least share of bare's rate with each. */
  readonly bars: ReadonlyArray<readonly [users: number, least: number]>
  readonly steps: boolean
  /** Most SQL statements per flow, where a bar says so. */
  readonly statements?: number
}

export const workloads: Readonly<Record<"list" | "product" | "cart" | "purchase" | "orders", Workload>> = {
  list: { title: "W1 list page of 20 with prices", flow: "list", bars: [[16, 0.4]], steps: false, statements: 3 },
  product: { title: "W2 product by slug", flow: "product", bars: [[16, 0.4]], steps: false, statements: 3 },
  cart: { title: "W3 create cart, add 2 items", flow: "cart", bars: [[16, 0.35]], steps: true },
  purchase: { title: "W4 whole purchase", flow: "purchase", bars: [[16, 0.25], [200, 0.4]], steps: true },
  orders: {
    title: "W6 a customer's last 10 orders",
    flow: "orders",
    bars: [[16, 0.4]],
    steps: false,
    statements: 3
  }
}

/**
 * Seconds of load before each window. The compiler of Node takes that long to know a server as large as this one: with
 * three seconds the first window of a run was half as fast as the next ones.
 */
const warmUpSeconds = 10

/** Windows of both servers in turn: A B A B A B. */
export const alternate = async (
  stage: Stage,
  options: Options,
  flow: FlowName,
  users: number
): Promise<ReadonlyArray<Window>> => {
  const bare = await stage.bare()
  const windows: Array<Window> = []
  for (let round = 0; round < options.windows; round++) {
    for (const target of [stage.stoa, bare]) {
      windows.push(
        await measureWindow(stage.postgres, target, {
          flow,
          users,
          warmup: options.warmup ?? warmUpSeconds,
          seconds: options.seconds ?? 5,
          flows: 0,
          products: options.products,
          firstCart: 0
        })
      )
    }
  }
  return windows
}

/** Stoa against bare in one workload, at each number of users, with the bar on the ratio of their medians. */
export const runWorkload = async (name: keyof typeof workloads, stage: Stage, options: Options): Promise<void> => {
  const { bars, flow, statements, steps, title } = workloads[name]
  for (const [users, least] of options.users === undefined ? bars : bars.slice(0, 1)) {
    const count = options.users ?? users
    const label = `${title}, ${count} users`
    heading(label)
    const windows = await alternate(stage, options, flow, count)
    printWindows(label, windows)
    const last = windows.slice(-2)
    if (steps) printSteps(last)
    if (options.verbose) { for (const window of last) printStatements(window) }
    const [stoa, bare] = [rateOf(windows, "stoa"), rateOf(windows, "bare")]
    note(`median: stoa ${stoa.toFixed(0)}/s, bare ${bare.toFixed(0)}/s`)
    atLeast(label, stoa / bare, least, " x bare")
    const more = bytesOf(windows, "bare") / bytesOf(windows, "stoa") - 1
    atMost(`${label}, difference of the answers' sizes`, Math.abs(more), 0.05)
    const window = windows.at(-2)
    if (statements !== undefined && window !== undefined) {
      const { cluster, service, transaction } = callsBy(window.database.statements)
      // What the service does by time, such as expiring holds, falls into the window too.
      const calls = (service + transaction) / Math.max(1, flowsOf(window))
      note(`(cluster and timers beside it: ${cluster} calls)`)
      atMost(`${label}, statements a request`, Math.round(calls), statements)
    }
  }
}
