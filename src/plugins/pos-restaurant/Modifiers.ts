import { Effect, Schema } from "effect"
import {
  amount,
  boolean,
  childOf,
  document,
  EntityId,
  idOf,
  integer,
  integerBetween,
  resource,
  table,
  text,
  uuid
} from "stoa/plugin"
import { admin, operate, routes } from "./RestaurantOptions.ts"

const ofEntity = "entity_id is not null"
const ofItemGroup = "item_group is not null"

/** What guests choose of a dish: its size, toppings. For an entity, an item group, or both. */
export const modifierGroups = table("pos_modifier_groups", {
  name: text.upTo(100),
  entityId: idOf(EntityId).existing("entity").nullable,
  itemGroup: text.upTo(100).nullable.about("Group of dishes it is offered with."),
  isRequired: boolean.default(false).about("True: a choice has to be made."),
  minSelect: integerBetween(0, 40).default(0).about("Least choices."),
  maxSelect: integerBetween(1, 40).default(1).about("Most choices."),
  sortOrder: integer.default(0).about("Lower goes first.")
}, {
  // Nulls are equal.
  unique: [
    { columns: ["name", "entityId", "itemGroup"], where: `${ofEntity} and ${ofItemGroup}` },
    { columns: ["name", "entityId"], where: "item_group is null" },
    { columns: ["name", "itemGroup"], where: "entity_id is null" },
    { columns: ["name"], where: "entity_id is null and item_group is null" }
  ],
  indexes: [
    { columns: ["entityId"], where: ofEntity },
    { columns: ["itemGroup"], where: ofItemGroup }
  ],
  checks: { bounds: "min_select <= max_select" },
  strict: true
})

/** Minor units of the store's currency, for each unit of the line. */
export const modifierOptions = childOf(modifierGroups, "groupId", "pos_modifier_options", {
  groupId: uuid.references(modifierGroups),
  name: text.upTo(100),
  priceAdjustment: amount.default(0).about("Added to the price when it is chosen."),
  isDefault: boolean.default(false).forPeople.about("Preselected on screens; the service chooses nothing."),
  isAvailable: boolean.default(true).about("False: not offered now."),
  sortOrder: integer.default(0).about("Lower goes first.")
}, { strict: true })

export const Deleted = Schema.Struct({ deleted: Schema.Literal(true) })
export const deleted = { deleted: true as const }

/** Groups of modifiers and their options (contract-tills-channels §27). */
export const modifierRoutes = [
  ...resource(routes, "/modifier-groups", modifierGroups, {
    noun: "modifier group",
    read: operate,
    write: admin,
    filters: ["entityId", "itemGroup"],
    order: ["sortOrder", "createdAt"],
    get: {
      summary: "Get a modifier group with its options",
      ...document({ head: modifierGroups, lines: modifierOptions }).whole("group", "options")
    },
    remove: {
      success: Deleted,
      answer: ({ db, which }) => Effect.as(db.table(modifierGroups).delete(which), deleted)
    }
  }),
  ...resource(routes, "/modifier-groups/:id/options", modifierOptions, {
    noun: "modifier option",
    of: { table: modifierGroups, noun: "modifier group" },
    rowId: "optionId",
    read: operate,
    write: admin,
    order: ["sortOrder", "createdAt"],
    get: false,
    patch: false,
    remove: false
  }),
  ...resource(routes, "/modifier-options", modifierOptions, {
    noun: "modifier option",
    read: operate,
    write: admin,
    without: ["groupId"],
    list: false,
    get: false,
    create: false,
    remove: {
      success: Deleted,
      answer: ({ db, which }) => Effect.as(db.table(modifierOptions).delete(which), deleted)
    }
  })
]
