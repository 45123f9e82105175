import { Performance } from "./Performance.ts"
import { performanceRoutes } from "./PerformanceHttp.ts"
import { performanceTasks } from "./PerformanceTasks.ts"

/** How well vendors do. */
export const performanceModule = { layer: Performance.layer, routes: performanceRoutes, tasks: performanceTasks }
