import { Context, Metric } from "effect"
import { bounds, Durations, noUpdate } from "../server/Durations.ts"

/** How a call ended. */
export type Outcome = "ok" | "refused" | "failed" | "interrupted"

const calls = Metric.counter("stoa_rpc_calls_total", {
  description: "Calls at /rpc that ended, by call and outcome",
  incremental: true
})

const durations = Metric.histogram("stoa_rpc_call_duration_seconds", {
  description: "Seconds from the arrival of a call to its end, by call; streams apart",
  boundaries: bounds
})

const connections = Metric.gauge("stoa_rpc_connections", { description: "Open WebSockets at /rpc" })

interface Counted {
  count: number
  readonly incremental: true
}

/** What is counted for one call; its series exist in the registry from its first one on. */
class CallSeries {
  readonly #call: string
  readonly #durations = new Durations()
  readonly #byOutcome = new Map<Outcome, Counted>()

  constructor(call: string) {
    this.#call = call
    const series = Metric.withAttributes(durations, { call })
    Metric.registerUnsafe(series, Context.empty(), { get: this.#durations.state, ...noUpdate })
  }

  add(outcome: Outcome, seconds: number | undefined): void {
    const counted = this.#byOutcome.get(outcome) ?? this.#open(outcome)
    counted.count++
    if (seconds !== undefined) this.#durations.add(seconds)
  }

  #open(outcome: Outcome): Counted {
    const opened: Counted = { count: 0, incremental: true }
    const series = Metric.withAttributes(calls, { call: this.#call, outcome })
    Metric.registerUnsafe(series, Context.empty(), { get: () => opened, ...noUpdate })
    this.#byOutcome.set(outcome, opened)
    return opened
  }
}

/** Of this process, as its registry is. */
const ofProcess = new Map<string, CallSeries>()

/** Counts a call that ended, as requests are counted (`RequestMetrics.ts`); `seconds` where it was no stream. */
export const countCall = (call: string, outcome: Outcome, seconds: number | undefined): void => {
  let series = ofProcess.get(call)
  if (series === undefined) {
    series = new CallSeries(call)
    ofProcess.set(call, series)
  }
  series.add(outcome, seconds)
}

/** Says how many sockets are open. */
export const countConnections = (open: number) => Metric.update(connections, open)
