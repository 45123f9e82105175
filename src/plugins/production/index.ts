import { Effect, Layer } from "effect"
import { definePlugin, PluginContext } from "stoa/plugin"
import { StockUnitUses, Units } from "../uom/index.ts"
import { Lots } from "../warehouse/index.ts"
import { boms, items } from "./Bom.ts"
import { openOrderOf } from "./OpenOrderRepo.ts"
import { consumption, orders, productionModel } from "./ProductionOrder.ts"
import { productionRoutes } from "./ProductionRoutes.ts"

/** Orders count in stock units, which therefore stay. */
const openOrders = Layer.effectDiscard(
  Effect.gen(function*() {
    const { db } = yield* PluginContext
    yield* StockUnitUses.use(({ add }) => add((entityId) => db.use(openOrderOf)(entityId)))
  })
)

/** Bills of material and production orders that move stock (contract, plugins §7): `plugins: [uom, warehouse, production]`. */
export const production = definePlugin({
  id: "production",
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  requires: ["uom", "warehouse"],
  uses: [Units, StockUnitUses, Lots],
  layer: openOrders,
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
