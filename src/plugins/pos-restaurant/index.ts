import { Effect, Layer } from "effect"
import { pluginWith } from "stoa/plugin"
import { PrintQueue } from "../notifications/index.ts"
import { Pos, PosExtensions } from "../pos/index.ts"
import { alertRoutes, detectTask } from "./AlertRoutes.ts"
import { alertMail } from "./Alerts.ts"
import { alertConfig, alerts } from "./AlertTables.ts"
import { checklistRoutes, checklistRules } from "./ChecklistRoutes.ts"
import { checklistItems, checklists, completions } from "./Checklists.ts"
import { comboGroups, comboItems, comboRoutes, combos } from "./Combos.ts"
import { orderIngredients, usedIngredients } from "./Consumption.ts"
import { dailyPnl, pnlExpenses, pnlRoutes } from "./DailyPnl.ts"
import { countFavorites, favoriteRoutes, favorites } from "./Favorites.ts"
import { firedLines } from "./FiredLines.ts"
import { freeTables } from "./Floor.ts"
import { floorRoutes } from "./FloorRoutes.ts"
import { KitchenFeed } from "./KitchenFeed.ts"
import { forgetTask, onCompleted, onVoided, orderEvents } from "./KitchenJobs.ts"
import { kitchenReports } from "./KitchenReports.ts"
import { availability, menuRoutes, takenUnits } from "./Menu.ts"
import { menuCheckouts, menuOrders } from "./MenuCounts.ts"
import { menuAtTills } from "./MenuSession.ts"
import { modifierGroups, modifierOptions, modifierRoutes } from "./Modifiers.ts"
import { menuPrices } from "./Prices.ts"
import { ingredients, recipeRoutes, recipes } from "./Recipes.ts"
import { RestaurantOptions, RestaurantSettings } from "./RestaurantOptions.ts"
import { stationGroups, stationRoutes, stations } from "./Stations.ts"
import { assignments, tables } from "./Tables.ts"
import { ticketRoutes } from "./TicketRoutes.ts"
import { ticketItems, tickets } from "./Tickets.ts"
import { tipsRoute } from "./Tips.ts"

/** Tables, menus and kitchens on top of tills (contract-tills-channels §B): `plugins: [pos(), posRestaurant({ … })]`. */
export const posRestaurant = pluginWith("pos-restaurant", RestaurantSettings, (settings) => ({
  version: "1.0.0",
  examples: new URL("./examples.json", import.meta.url),
  requires: ["notifications", "pos"].filter((id) => id === "pos" || settings.printing),
  uses: [Pos, PosExtensions, ...(settings.printing ? [PrintQueue] : [])],
  permissions: [{ scope: "pos-restaurant:admin", description: "Manage tables, menus, kitchens, recipes and reports" }],
  schema: () => ({
    tables,
    assignments,
    checklists,
    checklistItems,
    completions,
    modifierGroups,
    modifierOptions,
    combos,
    comboGroups,
    comboItems,
    stations,
    stationGroups,
    tickets,
    ticketItems,
    alerts,
    alertConfig,
    dailyPnl,
    pnlExpenses,
    favorites,
    availability,
    takenUnits,
    recipes,
    ingredients,
    usedIngredients
  }),
  layer: Layer.mergeAll(
    RestaurantOptions.layerOf(settings),
    checklistRules,
    menuAtTills,
    KitchenFeed.layer,
    settings.enableKDS ? firedLines : Layer.empty
  ),
  routes: () => [
    ...floorRoutes,
    ...checklistRoutes,
    ...modifierRoutes,
    ...comboRoutes,
    ...menuRoutes,
    ...recipeRoutes,
    ...(settings.enableKDS ? [...stationRoutes, ...ticketRoutes, ...kitchenReports] : []),
    ...alertRoutes,
    ...pnlRoutes,
    ...favoriteRoutes,
    tipsRoute
  ],
  mailTemplates: [alertMail],
  events: ["pos-restaurant.alert", "pos-restaurant.shortage"],
  onEvents: {
    "pos.completed": (call) => Effect.all([onCompleted(settings, call), freeTables(call), countFavorites(call)]),
    "pos.voided": (call) => Effect.andThen(onVoided(settings, call), freeTables(call)),
    ...(settings.enableKDS ? orderEvents : {}),
    ...orderIngredients(settings)
  },
  linePricing: (context) => menuPrices(settings, context),
  orderProjection: menuOrders,
  checkoutExtension: (context) => menuCheckouts(settings, context),
  tasks: (context) => [forgetTask(context, settings), detectTask(context)]
}))
