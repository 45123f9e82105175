import { Layer } from "effect"
import { ReturnRefunds } from "./ReturnRefunds.ts"
import { ReturnRequests } from "./ReturnRequests.ts"
import { Returns } from "./Returns.ts"
import { returnRoutes } from "./ReturnsHttp.ts"
import { ReturnSteps } from "./ReturnSteps.ts"
import { returns } from "./ReturnTables.ts"
import { returnTasks } from "./ReturnTasks.ts"

/** Goods that come back. */
export const returnModule = {
  tables: [returns],
  layer: Layer.mergeAll(ReturnRequests.layer, ReturnSteps.layer, ReturnRefunds.layer).pipe(
    Layer.provideMerge(Returns.layer)
  ),
  routes: returnRoutes,
  tasks: returnTasks
}
