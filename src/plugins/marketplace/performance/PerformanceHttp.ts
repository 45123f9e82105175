import { Effect } from "effect"
import { ownVendor } from "../parties/VendorPortal.ts"
import { Performance } from "./Performance.ts"
import * as api from "./PerformanceApi.ts"

/** Answers of the routes that `PerformanceApi.ts` declares. */
export const performanceRoutes = [
  api.readPerformance.handle(({ params }) => Effect.flatMap(Performance, (performance) => performance.of(params.id))),
  api.readAnalytics.handle(({ actor }) =>
    Effect.flatMap(Performance, (performance) => performance.analytics(ownVendor(actor)))
  )
]
