import { definePlugin } from "stoa/plugin"
import { Units } from "../uom/index.ts"
import { Lots } from "../warehouse/index.ts"
import { boms, items } from "./Bom.ts"
import { consumption, orders, productionModel } from "./ProductionOrder.ts"
import { productionRoutes } from "./ProductionRoutes.ts"

/** Bills of material and production orders that move stock (contract, plugins §7): `plugins: [uom, warehouse, production]`. */
export const production = definePlugin({
  id: "production",
  version: "1.0.0",
  requires: ["uom", "warehouse"],
  uses: [Units, Lots],
  permissions: [
    { scope: "production:admin", description: "Write bills of material and cancel production orders" },
    { scope: "production:create", description: "Create, start, record and complete production orders" },
    { scope: "production:read", description: "Read bills of material and production orders" }
  ],
  schema: () => ({ boms, items, orders, consumption }),
  events: ["production.started", "production.completed", "production.cancelled"],
  routes: () => productionRoutes,
  analyticsModels: () => [productionModel]
})
