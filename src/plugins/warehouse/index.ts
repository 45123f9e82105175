import { definePlugin } from "stoa/plugin"
import { binRoutes, bins } from "./Bins.ts"
import { lotRoutes } from "./LotRoutes.ts"
import { lotMovements, Lots, lots } from "./Lots.ts"
import { lotMigrations } from "./migrations.ts"
import { reconciliationItems, reconciliationRoutes, reconciliations } from "./Reconciliations.ts"
import { transferRoutes } from "./TransferRoutes.ts"
import { discrepancies, transferItems, transferLots, transfers } from "./Transfers.ts"
import { wastageItems, wastageNotes, wastageRoutes } from "./Wastage.ts"

export { type LotLine, Lots, type ReceivedUnits, TakenLot, type Units } from "./Lots.ts"

/** Warehouse operations: transfers, wastage, counts, bins and lots (contract, plugins §6): `plugins: [warehouse]`. */
export const warehouse = definePlugin({
  id: "warehouse",
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  permissions: [
    { scope: "warehouse:read", description: "See bins, lots, transfers, wastage and counts" },
    {
      scope: "warehouse:operate",
      description: "Write, dispatch and receive transfers, record wastage and count stock"
    },
    { scope: "warehouse:admin", description: "Approve transfers, wastage and counts, and manage bins" }
  ],
  schema: () => ({
    bins,
    lots,
    lotMovements,
    transfers,
    transferItems,
    transferLots,
    discrepancies,
    wastageNotes,
    wastageItems,
    reconciliations,
    reconciliationItems
  }),
  migrations: lotMigrations,
  stockFunction: "warehouse_lots_follow",
  layer: Lots.layer,
  exports: Lots,
  routes: () => [...binRoutes, ...lotRoutes, ...transferRoutes, ...wastageRoutes, ...reconciliationRoutes]
})
