import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Metric } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { requestMetrics } from "../../src/http/server/RequestMetrics.ts"

const path = "/api/counted/:id"
const route = () => HttpRouter.route("GET", path, Effect.succeed(HttpServerResponse.empty()))

/** What the registry of this process tells of the route: its answers, and how many durations there are. */
const recorded = () => {
  const ofRoute = Metric.snapshotUnsafe(Context.empty())
    .filter(({ attributes }) => attributes?.["route"] === "/api/counted/{id}")
  return {
    answered: ofRoute.flatMap((one) =>
      one.type === "Counter" ? [[one.attributes?.["status"], Number(one.state.count)]] : []
    ),
    timed: ofRoute.flatMap((one) => one.type === "Histogram" ? [one.state.count] : [])
  }
}

describe("the counts of requests", () => {
  it("go on when another application with other routes is started in the process", () => {
    const first = requestMetrics()
    const early = route()
    first(early, 200, 0.004)
    first(early, 201, 0.004)
    const second = requestMetrics()
    const late = route()
    second(late, 200, 0.004)
    // The first one is still there, and is not counted past the registry either.
    first(early, 404, 0.004)
    second(late, 404, 0.004)
    assert.deepStrictEqual(recorded(), { answered: [["2xx", 3], ["4xx", 2]], timed: [5] })
  })
})
