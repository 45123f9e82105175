import { Effect, Schema } from "effect"
import { date, invalid } from "stoa/plugin"
import { OperatorTips, Pos } from "../pos/index.ts"
import { admin, routes } from "./RestaurantOptions.ts"

class Backwards extends invalid("TipsWindow", "to", "to must not be before from.") {}

/** Tips by operator; pooling is left to payroll (contract-tills-channels B, 39). */
export const tipsRoute = routes.get("/tips/report", {
  summary: "Get tips by operator",
  description: "Of the business days from `from` to `to`, both included. 422 when `to` is before `from`.",
  permission: admin,
  query: { from: date.schema, to: date.schema },
  success: Schema.Array(OperatorTips)
}).handle(({ query: { from, to } }) =>
  Effect.gen(function*() {
    if (to < from) return yield* new Backwards()
    return yield* (yield* Pos).tips(from, to)
  })
)
