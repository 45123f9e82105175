import { Effect, Layer } from "effect"
import { Disputes } from "./disputes/Disputes.ts"
import { disputeRoutes } from "./disputes/DisputesHttp.ts"
import { disputeDeadlines } from "./disputes/DisputeTasks.ts"
import { Resolutions } from "./disputes/Resolutions.ts"
import { Parties } from "./parties/Parties.ts"
import { Performance } from "./performance/Performance.ts"
import { performanceRoutes } from "./performance/PerformanceHttp.ts"
import { scoreVendors } from "./performance/PerformanceTasks.ts"
import { SubOrderRefunds } from "./refunds/SubOrderRefunds.ts"
import { ReturnRefunds } from "./returns/ReturnRefunds.ts"
import { ReturnRequests } from "./returns/ReturnRequests.ts"
import { Returns } from "./returns/Returns.ts"
import { returnRoutes } from "./returns/ReturnsHttp.ts"
import { ReturnSteps } from "./returns/ReturnSteps.ts"
import { returnDeadlines } from "./returns/ReturnTasks.ts"
import { Reviews } from "./reviews/Reviews.ts"
import { reviewRoutes } from "./reviews/ReviewsHttp.ts"

/** Services of what comes after a sale: disputes, returns, reviews, and what they say of vendors. */
export const afterSalesLayer = Layer.mergeAll(
  Disputes.layer,
  Resolutions.layer,
  ReturnRequests.layer,
  ReturnSteps.layer,
  ReturnRefunds.layer,
  Reviews.layer,
  Performance.layer
).pipe(
  Layer.provideMerge(Returns.layer),
  Layer.provideMerge(Layer.mergeAll(Parties.layer, SubOrderRefunds.layer))
)

export const afterSalesRoutes = [...disputeRoutes, ...returnRoutes, ...reviewRoutes, ...performanceRoutes]

export const afterSalesTasks = Effect.all([disputeDeadlines, returnDeadlines, scoreVendors])
