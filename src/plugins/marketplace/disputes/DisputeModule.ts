import { Layer } from "effect"
import { Disputes } from "./Disputes.ts"
import { disputeRoutes } from "./DisputesHttp.ts"
import { disputes } from "./DisputeTables.ts"
import { disputeTasks } from "./DisputeTasks.ts"
import { Resolutions } from "./Resolutions.ts"

/** Quarrels between buyers and vendors. */
export const disputeModule = {
  tables: [disputes],
  layer: Layer.mergeAll(Disputes.layer, Resolutions.layer),
  routes: disputeRoutes,
  tasks: disputeTasks
}
