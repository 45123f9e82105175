import { Effect, Schema } from "effect"
import { Moment, requireWindow, Until } from "stoa/plugin"
import {
  Course,
  coursePerformance,
  Operator,
  operatorPerformance,
  Station,
  stationPerformance
} from "./KitchenReportsRepo.ts"
import { admin, routes } from "./RestaurantOptions.ts"
import { findStation } from "./Stations.ts"

const shared = {
  permission: admin,
  description:
    "Of what was fired from `from` on and before `to`, without tickets that cancel. 422 unless `to` is later.",
  query: { from: Moment, to: Until }
} as const

/** How fast kitchens are. */
export const kitchenReports = [
  routes.get("/analytics/station-performance/:id", {
    ...shared,
    summary: "Get the preparation times of a station",
    success: Station
  }).handle(({ db, params, query }) =>
    Effect.gen(function*() {
      yield* requireWindow(query, "from", "to")
      const { id } = yield* findStation(db, params.id)
      return yield* db.use(stationPerformance)(id, query.from, query.to)
    })
  ),
  routes.get("/analytics/course-performance", {
    ...shared,
    summary: "Get the preparation times of courses",
    success: Schema.Array(Course)
  }).handle(({ db, query }) =>
    Effect.andThen(requireWindow(query, "from", "to"), db.use(coursePerformance)(query.from, query.to))
  ),
  routes.get("/analytics/operator-performance", {
    ...shared,
    summary: "Get the preparation times by operator",
    success: Schema.Array(Operator)
  }).handle(({ db, query }) =>
    Effect.andThen(requireWindow(query, "from", "to"), db.use(operatorPerformance)(query.from, query.to))
  )
]
