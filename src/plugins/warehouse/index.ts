import { definePlugin } from "stoa/plugin"
import { lotRoutes, Lots, lots } from "./Lots.ts"
import { shipLots, shippedLots } from "./ShippedLots.ts"

export { type LeavingUnits, Lots, type ReceivedUnits, TakenLot, type Units } from "./Lots.ts"

/** Warehouse operations: lots (contract, plugins §6). */
export const warehouse = definePlugin({
  id: "warehouse",
  version: "1.0.0",
  permissions: [
    { scope: "warehouse:read", description: "See bins, lots, transfers, wastage and counts" },
    {
      scope: "warehouse:operate",
      description: "Write, dispatch and receive transfers, record wastage and count stock"
    },
    { scope: "warehouse:admin", description: "Approve transfers, wastage and counts, and manage bins" }
  ],
  schema: () => ({ lots, shippedLots }),
  layer: Lots.layer,
  exports: Lots,
  routes: () => lotRoutes,
  onEvents: { "fulfillment.create": shipLots }
})
