import { Layer } from "effect"
import { Adjustments } from "./Adjustments.ts"
import { adjustmentRoutes } from "./AdjustmentsHttp.ts"
import { Balances } from "./Balances.ts"
import { balanceRoutes } from "./BalancesHttp.ts"
import { Ledger } from "./Ledger.ts"
import { adjustments, ledgerEntries, vendorAccounts } from "./LedgerTables.ts"

/** What vendors are owed. */
export const ledgerModule = {
  tables: [vendorAccounts, ledgerEntries, adjustments],
  layer: Layer.mergeAll(Adjustments.layer, Balances.layer).pipe(Layer.provideMerge(Ledger.layer)),
  routes: [...balanceRoutes, ...adjustmentRoutes]
}
