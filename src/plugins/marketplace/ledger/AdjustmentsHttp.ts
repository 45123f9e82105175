import { Effect } from "effect"
import { Adjustments } from "./Adjustments.ts"
import { adjustBalance, listAdjustments } from "./AdjustmentsApi.ts"

/** Answers to the routes of `AdjustmentsApi.ts`. */
export const adjustmentRoutes = [
  adjustBalance.handle(({ input, params }) =>
    Effect.flatMap(Adjustments, (adjustments) => adjustments.make(params.id, input))
  ),
  listAdjustments.handle(({ page, params }) =>
    Effect.flatMap(Adjustments, (adjustments) => adjustments.list(params.id, page))
  )
]
