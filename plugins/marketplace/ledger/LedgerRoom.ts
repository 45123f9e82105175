import { Layer } from "effect"
import { Balances } from "./Balances.ts"
import { balanceRoutes } from "./BalancesHttp.ts"
import { Ledger } from "./Ledger.ts"
import { ledgerEntries, vendorAccounts } from "./LedgerTables.ts"

/** What vendors are owed. */
export const ledgerRoom = {
  tables: [vendorAccounts, ledgerEntries],
  layer: Layer.mergeAll(Ledger.layer, Balances.layer),
  routes: balanceRoutes
}
