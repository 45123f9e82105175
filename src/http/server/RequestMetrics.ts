import { Context, Metric } from "effect"
import type { HttpRouter } from "effect/http"

type Route = HttpRouter.Route<unknown, unknown>

/** Upper bounds of the buckets of durations, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Requests by method, route and class of status: `2xx`, `4xx`. Times until the answer is ready to be sent. */
const ofRequests = {
  outcome: "status",
  total: Metric.counter("stoa_http_requests_total", {
    description: "HTTP requests answered, by route and class of status",
    incremental: true
  }),
  durations: Metric.histogram("stoa_http_request_duration_seconds", {
    description: "Seconds from the arrival of a request to its answer, by route",
    boundaries: bounds
  })
}

const ofCalls = {
  outcome: "outcome",
  total: Metric.counter("stoa_rpc_calls_total", {
    description: "Calls at /rpc that ended, by call and outcome",
    incremental: true
  }),
  durations: Metric.histogram("stoa_rpc_call_duration_seconds", {
    description: "Seconds from the arrival of a call to its end, by call; streams apart",
    boundaries: bounds
  })
}

const register = <Input, State>(
  metric: Metric.Metric<Input, State>,
  labels: Record<string, string>,
  get: () => State
) =>
  Metric.registerUnsafe(Metric.withAttributes(metric, labels), Context.empty(), {
    get,
    update: () => undefined,
    modify: () => undefined
  })

/**
 * What is counted for one route or call. Every request passes here, so it adds to numbers of this object (about 0.1 µs)
 * that the registry reads on demand: updating a labelled metric of Effect took 0.9 µs.
 */
class Series {
  readonly #family: typeof ofRequests
  readonly #labels: Readonly<Record<string, string>>
  readonly #counts = new Map<string, { count: number; readonly incremental: true }>()
  /** A bucket for each bound, and one for what exceeds them all. */
  #buckets: Float64Array | undefined
  #sum = 0

  constructor(family: typeof ofRequests, labels: Readonly<Record<string, string>>) {
    this.#family = family
    this.#labels = labels
  }

  count(outcome: string): void {
    const known = this.#counts.get(outcome)
    if (known !== undefined) return void known.count++
    const counted = { count: 1, incremental: true } as const
    this.#counts.set(outcome, counted)
    register(this.#family.total, { ...this.#labels, [this.#family.outcome]: outcome }, () => counted)
  }

  time(seconds: number): void {
    this.#buckets ??= this.#timed()
    let bucket = 0
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
    this.#sum += seconds
  }

  #timed(): Float64Array {
    const own = new Float64Array(bounds.length + 1)
    register(this.#family.durations, this.#labels, () => {
      // Each bucket holds those before it too.
      let count = 0
      const buckets = bounds.map((bound, index): [number, number] => [bound, count += own[index] ?? 0])
      return { buckets, count: count + (own[bounds.length] ?? 0), min: 0, max: 0, sum: this.#sum }
    })
    return own
  }
}

/** Of this process, as its registry is: an application that is started after another one in it goes on counting. */
const ofProcess = new Map<string, Series>()

const seriesOf = (family: typeof ofRequests, labels: Readonly<Record<string, string>>): Series => {
  const name = Object.values(labels).join(" ")
  const series = ofProcess.get(name) ?? new Series(family, labels)
  ofProcess.set(name, series)
  return series
}

/** The router's `:id` as the document writes it. */
export const routeTemplate = (path: string): string => path.replace(/:([^/]+)/g, "{$1}")

const classes = ["", "1xx", "2xx", "3xx", "4xx", "5xx"]

/** Counts answered requests. */
export const requestMetrics = () => {
  const known = new Map<Route | undefined, Series>()
  return (route: Route | undefined, status: number, seconds: number): void => {
    let series = known.get(route)
    if (series === undefined) {
      // What matched no route is one series: clients choose such paths.
      const labels = route === undefined
        ? { method: "*", route: "unmatched" }
        : { method: route.method, route: routeTemplate(route.path) }
      series = seriesOf(ofRequests, labels)
      known.set(route, series)
    }
    series.count(classes[Math.floor(status / 100)] ?? "")
    series.time(seconds)
  }
}

/** Counts an ended call; without seconds for a stream, which lasts as long as its reader wants. */
export const countCall = (call: string, outcome: string, seconds: number | undefined): void => {
  const series = seriesOf(ofCalls, { call })
  series.count(outcome)
  if (seconds !== undefined) series.time(seconds)
}
