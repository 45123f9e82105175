import { Effect } from "effect"
import {
  amount,
  boolean,
  childOf,
  EntityId,
  idOf,
  integer,
  integerBetween,
  resource,
  table,
  text,
  uuid
} from "stoa/plugin"
import { Deleted, deleted } from "./Modifiers.ts"
import { admin, operate, routes } from "./RestaurantOptions.ts"

/** A menu of several dishes that is sold as one line of its entity. */
export const combos = table("pos_combos", {
  name: text.upTo(100),
  entityId: idOf(EntityId).existing("entity").unique(),
  price: amount.nullable.about("Price of a unit; null: the catalog's."),
  isActive: boolean.default(true),
  sortOrder: integer.default(0).about("Lower goes first.")
}, { checks: { price: "price >= 0" }, strict: true })

export const comboGroups = table("pos_combo_groups", {
  comboId: uuid.references(combos),
  name: text.upTo(100),
  minSelect: integerBetween(0, 20).default(1).about("Least choices of the group."),
  maxSelect: integerBetween(1, 20).default(1).about("Most choices of the group.")
}, {
  indexes: [{ columns: ["comboId"] }],
  checks: { bounds: "min_select <= max_select" },
  strict: true
})

export const comboItems = childOf(comboGroups, "groupId", "pos_combo_items", {
  groupId: uuid.references(comboGroups),
  entityId: idOf(EntityId).existing("entity"),
  itemName: text.upTo(100).about("Name of the product."),
  priceAdjustment: amount.default(0).about("Added to the price when it is chosen."),
  isDefault: boolean.default(false).forPeople.about("Preselected on screens; the service chooses nothing.")
}, { strict: true })

const allowed = { read: operate, write: admin }

/** Combos, their groups and what they offer (contract-tills-channels §33). */
export const comboRoutes = [
  ...resource(routes, "/combos", combos, {
    noun: "combo",
    ...allowed,
    filters: ["isActive", "entityId"],
    order: ["sortOrder", "createdAt"],
    remove: { success: Deleted, answer: ({ db, which }) => Effect.as(db.table(combos).delete(which), deleted) }
  }),
  ...resource(routes, "/combos/:id/groups", comboGroups, {
    noun: "combo group",
    of: { table: combos, noun: "combo", column: "comboId" },
    rowId: "groupId",
    ...allowed,
    order: ["createdAt"],
    remove: { success: Deleted, answer: ({ db, which }) => Effect.as(db.table(comboGroups).delete(which), deleted) }
  }),
  ...resource(routes, "/combo-groups/:id/items", comboItems, {
    noun: "combo item",
    of: { table: comboGroups, noun: "combo group" },
    rowId: "itemId",
    ...allowed,
    order: ["createdAt"],
    remove: { success: Deleted, answer: ({ db, which }) => Effect.as(db.table(comboItems).delete(which), deleted) }
  })
]
