import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Metric } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { countRequest } from "../../src/http/server/Edge.ts"

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
    const [early, late] = [route(), route()]
    for (const [one, status] of [[early, 200], [early, 201], [late, 200], [early, 404], [late, 404]] as const) {
      countRequest(one, status, 0.004)
    }
    assert.deepStrictEqual(recorded(), { answered: [["2xx", 3], ["4xx", 2]], timed: [5] })
  })
})
