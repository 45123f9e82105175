import { Layer } from "effect"
import { CommissionRules } from "./CommissionRules.ts"
import { commissionRoutes } from "./CommissionRulesHttp.ts"
import { Commissions } from "./Commissions.ts"
import { commissionRules } from "./CommissionTables.ts"

/** What the store keeps of a sale. */
export const commissionModule = {
  tables: [commissionRules],
  layer: Layer.mergeAll(Commissions.layer, CommissionRules.layer),
  routes: commissionRoutes
}
