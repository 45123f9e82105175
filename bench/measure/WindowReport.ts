import { applicationOf, callsBy } from "./DatabaseUse.ts"
import { median, short } from "./Figures.ts"
import { note, record, table } from "./Report.ts"
import { flowsOf, type Window } from "./Window.ts"

const failures = (window: Window): string =>
  Object.entries(window.load.failed).map(([why, count]) => `${why} x${count}`).join(", ")

/** The figures of one window, everything but rate and times per flow. */
const figuresOf = (window: Window) => {
  const flows = Math.max(1, flowsOf(window))
  const calls = callsBy(window.database.statements)
  return {
    rate: window.load.rate,
    p50: window.load.p50,
    p99: window.load.p99,
    flows: window.load.done,
    service: calls.service / flows,
    cluster: calls.cluster / flows,
    transaction: calls.transaction / flows,
    writes: window.database.writes / flows,
    walKb: window.database.walKb / flows,
    serverMs: window.server.cpuMs / flows,
    postgresMs: window.postgres.cpuMs / flows,
    driverMs: window.load.cpuMs / flows,
    waits: window.postgres.waits / flows,
    bytes: window.load.bytes
  }
}

/**
 * Prints windows as lines. stmt: SQL statements of the service, of the cluster's bookkeeping, and begin/commit; commits:
 * transactions that wrote; CPU: milliseconds of the server, PostgreSQL and the load process; sleeps: how often a
 * backend went to sleep; bytes: of answers. All per flow but the first four columns.
 */
export const printWindows = (title: string, windows: ReadonlyArray<Window>) => {
  const names = ["stmt", "+cluster", "+tx", "commits", "wal kB", "cpu srv", "cpu pg", "cpu load", "sleeps", "bytes"]
  table(
    [title, "flows/s", "p50 ms", "p99 ms", "flows", ...names],
    windows.map((window) => {
      const of = figuresOf(window)
      return [
        window.target,
        of.rate,
        of.p50,
        of.p99,
        String(of.flows),
        of.service,
        of.cluster,
        of.transaction,
        of.writes,
        of.walKb,
        of.serverMs,
        of.postgresMs,
        of.driverMs,
        of.waits,
        of.bytes
      ]
    })
  )
  for (const window of windows) {
    const why = failures(window)
    if (why !== "") note(`  ${window.target}, flows with another answer: ${why}`)
  }
  const kept = windows.map((window) => ({
    target: window.target,
    ...figuresOf(window),
    failed: window.load.failed,
    steps: window.load.steps
  }))
  record(title, { windows: kept })
}

/** Times of each kind of request, of the last window of each server. */
export const printSteps = (windows: ReadonlyArray<Window>) => {
  const rows = windows.flatMap((window) =>
    Object.entries(window.load.steps).map(([step, { p50, p99 }]) => [`  ${window.target} ${step}`, p50, p99] as const)
  )
  table(["  request", "p50 ms", "p99 ms"], rows)
}

/** Every statement of a window: calls per flow, mean milliseconds, whose it is, and its text. */
export const printStatements = (window: Window) => {
  const flows = Math.max(1, flowsOf(window))
  note(`  statements of ${window.target} (calls/flow, mean ms, ms/flow):`)
  for (const { calls, meanMs, text } of window.database.statements) {
    if (calls / flows < 0.005) continue
    const figures = [calls / flows, meanMs, calls * meanMs / flows].map((figure) => short(figure).padStart(7)).join(" ")
    note(`  ${figures}  ${applicationOf(text).padEnd(11)} ${text.slice(0, 150)}`)
  }
}

const medianOf = (figure: "bytes" | "rate") => (windows: ReadonlyArray<Window>, target: Window["target"]): number =>
  median(windows.filter((window) => window.target === target).map(({ load }) => load[figure]))

/** The median rate of a server's windows. */
export const rateOf = medianOf("rate")

/** The median size of the answers to a flow. */
export const bytesOf = medianOf("bytes")
