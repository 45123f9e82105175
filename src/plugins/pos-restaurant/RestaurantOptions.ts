import { Context, Layer, Schema } from "effect"
import { group, option, Text } from "stoa/plugin"

export const routes = group("Restaurant", "/pos/restaurant")
export const operate = "pos:operate"
export const manage = "pos:manage"
export const admin = "pos-restaurant:admin"

const from = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const ServiceCharge = Schema.Struct({
  percent: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
  fromGuests: from(1, 1_000)
})

/** What a deployment decides of its restaurant (contract, plugins §3; contract-tills-channels §B). */
export const RestaurantSettings = Schema.Struct({
  enableKDS: option(Schema.Boolean, { default: true, description: "Kitchens: stations and their tickets" }),
  kdsAlertMinutes: option(from(1, 1_440), {
    default: 15,
    description: "Minutes until a ticket of a new station is late"
  }),
  fireOnComplete: option(Schema.Boolean, {
    default: true,
    description: "A completed sale fires what was not fired yet"
  }),
  courses: option(Schema.Array(Text), {
    default: [],
    description: "Names of the courses from the first one on, such as `Starters`; others are `Course 3`"
  }),
  printing: option(Schema.Boolean, {
    default: false,
    description: "Tickets for the printer of their station. Needs the plugin notifications before this one"
  }),
  keepTicketDays: option(from(1, 3_650), { default: 90, description: "Days until tickets are deleted" }),
  types: option(Schema.Array(Text), {
    description: "Types of entities on the menu, such as `dish`: others are priced without a look at it. Default: all"
  }),
  enableModifiers: option(Schema.Boolean, {
    default: true,
    description: "Lines have the modifiers that their entities ask for"
  }),
  serviceCharge: option(ServiceCharge, {
    description: "Percent on the lines of tables with at least `fromGuests` guests, taxed as they are"
  }),
  shortage: option(Schema.Literals(["warn", "negative", "block"]), {
    default: "warn",
    description: "Ingredients that are not there: `warn` alerts, `negative` counts below zero, `block` refuses at fire"
  })
})
export type RestaurantSettings = typeof RestaurantSettings.Type

/** Whether a menu can have entities of a type. */
export const isOnMenu = ({ types }: RestaurantSettings) => ({ entityType }: { readonly entityType: string }): boolean =>
  types?.includes(entityType) ?? true

export class RestaurantOptions extends Context.Service<RestaurantOptions, RestaurantSettings>()(
  "stoa/plugins/pos-restaurant/RestaurantOptions"
) {
  static readonly layerOf = (settings: RestaurantSettings) => Layer.succeed(RestaurantOptions, settings)
}
