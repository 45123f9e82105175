import { Context, Metric } from "effect"
import type { HttpRouter } from "effect/http"
import { bounds, Durations, noUpdate } from "./Durations.ts"

type Route = HttpRouter.Route<unknown, unknown>

/** Requests answered, by method, route and class of status: `2xx`, `4xx`. */
const requests = Metric.counter("stoa_http_requests_total", {
  description: "HTTP requests answered, by route and class of status",
  incremental: true
})

/** Time from the arrival of a request's head to its answer being ready to send. */
const durations = Metric.histogram("stoa_http_request_duration_seconds", {
  description: "Seconds from the arrival of a request to its answer, by route",
  boundaries: bounds
})

/** The router's `:id` as the document writes it. */
export const routeTemplate = (path: string): string => path.replace(/:([^/]+)/g, "{$1}")

interface Counted {
  count: number
  readonly incremental: true
}

/** What is counted for one route; its series exist in the registry from its first request on. */
class RouteSeries {
  readonly #labels: { readonly method: string; readonly route: string }
  readonly #durations = new Durations()
  readonly #byClass: Array<Counted> = []

  constructor(route: Route | undefined) {
    // What matched no route is one series: strangers choose such paths.
    this.#labels = {
      method: route?.method ?? "*",
      route: route === undefined ? "unmatched" : routeTemplate(route.path)
    }
    const series = Metric.withAttributes(durations, this.#labels)
    Metric.registerUnsafe(series, Context.empty(), { get: this.#durations.state, ...noUpdate })
  }

  add(status: number, seconds: number): void {
    const statusClass = Math.floor(status / 100)
    const counted = this.#byClass[statusClass] ?? this.#open(statusClass)
    counted.count++
    this.#durations.add(seconds)
  }

  #open(statusClass: number): Counted {
    const opened: Counted = { count: 0, incremental: true }
    const series = Metric.withAttributes(requests, { ...this.#labels, status: `${statusClass}xx` })
    Metric.registerUnsafe(series, Context.empty(), { get: () => opened, ...noUpdate })
    this.#byClass[statusClass] = opened
    return opened
  }
}

/** Of this process, as its registry is: an application that is started after another one in it goes on counting. */
const ofProcess = new Map<string, RouteSeries>()

const seriesOf = (route: Route | undefined): RouteSeries => {
  const name = route === undefined ? "*" : `${route.method} ${route.path}`
  const series = ofProcess.get(name) ?? new RouteSeries(route)
  ofProcess.set(name, series)
  return series
}

/**
 * Counts answered requests. It lies on the path of every request, so it adds to numbers that are its own (about 0.1 µs)
 * and the registry reads them when somebody asks: updating a labelled metric of Effect took 0.9 µs.
 */
export const requestMetrics = () => {
  const known = new Map<Route | undefined, RouteSeries>()
  return (route: Route | undefined, status: number, seconds: number): void => {
    let series = known.get(route)
    if (series === undefined) {
      series = seriesOf(route)
      known.set(route, series)
    }
    series.add(status, seconds)
  }
}
