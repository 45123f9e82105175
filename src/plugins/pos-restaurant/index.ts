import { Layer } from "effect"
import { pluginWith } from "stoa/plugin"
import { Pos, PosExtensions } from "../pos/index.ts"
import { comboGroups, comboItems, comboRoutes, combos } from "./Combos.ts"
import { modifierGroups, modifierOptions, modifierRoutes } from "./Modifiers.ts"
import { RestaurantOptions, RestaurantSettings } from "./RestaurantOptions.ts"
import { assignments, tables } from "./Tables.ts"

/** Tables, menus and kitchens on top of tills (contract-tills-channels §B): `plugins: [pos(), posRestaurant({ … })]`. */
export const posRestaurant = pluginWith("pos-restaurant", RestaurantSettings, (settings) => ({
  version: "1.0.0",
  requires: ["pos"],
  uses: [Pos, PosExtensions],
  permissions: [{ scope: "pos-restaurant:admin", description: "Manage tables, menus, kitchens, recipes and reports" }],
  schema: () => ({
    tables,
    assignments,
    modifierGroups,
    modifierOptions,
    combos,
    comboGroups,
    comboItems
  }),
  layer: Layer.mergeAll(RestaurantOptions.layerOf(settings)),
  routes: () => [...modifierRoutes, ...comboRoutes]
}))
