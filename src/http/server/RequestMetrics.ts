import { Context, Metric } from "effect"
import type { HttpRouter } from "effect/http"

/** Upper bounds of the buckets of durations, in seconds. */
const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Requests by method, route and class of status: `2xx`, `4xx`. */
const requests = Metric.counter("stoa_http_requests_total", {
  description: "HTTP requests answered, by route and class of status",
  incremental: true
})
const requestDurations = Metric.histogram("stoa_http_request_duration_seconds", {
  description: "Seconds from the arrival of a request to its answer, by route",
  boundaries
})
const calls = Metric.counter("stoa_rpc_calls_total", {
  description: "Calls at /rpc that ended, by call and outcome",
  incremental: true
})
const callDurations = Metric.histogram("stoa_rpc_call_duration_seconds", {
  description: "Seconds from the arrival of a call to its end, by call; streams apart",
  boundaries
})

/** The series of a metric with these labels; every request passes here, so each is built once. */
const seriesOf = <State>(metric: Metric.Metric<number, State>) => {
  const known = new Map<string, Metric.Metric<number, State>>()
  return (labels: Record<string, string>) => {
    const name = Object.values(labels).join(" ")
    const series = known.get(name) ?? Metric.withAttributes(metric, labels)
    known.set(name, series)
    return (value: number) => series.updateUnsafe(value, Context.empty())
  }
}

const requestCounter = seriesOf(requests)
const requestTimer = seriesOf(requestDurations)
const callCounter = seriesOf(calls)
const callTimer = seriesOf(callDurations)

/** The router's `:id` as the document writes it. */
export const routeTemplate = (path: string): string => path.replace(/:([^/]+)/g, "{$1}")

/** Counts an answered request. What matched no route is one series: clients choose such paths. */
export const countRequest = (
  route: HttpRouter.Route<unknown, unknown> | undefined,
  status: number,
  seconds: number
): void => {
  const labels = route === undefined
    ? { method: "*", route: "unmatched" }
    : { method: route.method, route: routeTemplate(route.path) }
  requestCounter({ ...labels, status: `${Math.floor(status / 100)}xx` })(1)
  requestTimer(labels)(seconds)
}

/** Counts an ended call; without seconds for a stream, which lasts as long as its reader wants. */
export const countCall = (call: string, outcome: string, seconds: number | undefined): void => {
  callCounter({ call, outcome })(1)
  if (seconds !== undefined) callTimer({ call })(seconds)
}
