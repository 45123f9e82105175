import { Context, Layer, Schema } from "effect"
import { group, option } from "stoa/plugin"

export const routes = group("Restaurant", "/pos/restaurant")
export const operate = "pos:operate"
export const manage = "pos:manage"
export const admin = "pos-restaurant:admin"

/** What a deployment decides of its restaurant (contract, plugins §3; contract-tills-channels §B). */
export const RestaurantSettings = Schema.Struct({})
export type RestaurantSettings = typeof RestaurantSettings.Type

export class RestaurantOptions extends Context.Service<RestaurantOptions, RestaurantSettings>()(
  "stoa/plugins/pos-restaurant/RestaurantOptions"
) {
  static readonly layerOf = (settings: RestaurantSettings) => Layer.succeed(RestaurantOptions, settings)
}

void option
