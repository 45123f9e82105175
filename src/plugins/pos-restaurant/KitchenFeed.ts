import { Context, Effect, Layer } from "effect"
import { type LiveFeed, liveFeed, PluginContext } from "stoa/plugin"
import { type Screen, screensOf } from "./KitchenRepo.ts"

interface WatchedStation {
  readonly organizationId: string
  readonly stationId: string
}

/** Tells screens of stations that their tickets have changed. */
export class KitchenFeed extends Context.Service<KitchenFeed, LiveFeed<WatchedStation, Screen>>()(
  "stoa/plugins/pos-restaurant/KitchenFeed"
) {
  static readonly layer = Layer.effect(
    KitchenFeed,
    Effect.flatMap(PluginContext, ({ db }) =>
      liveFeed({
        key: ({ stationId }: WatchedStation) => stationId,
        read: (owners) => Effect.map(screensOf(db, owners), (all) => new Map(all.map((one) => [one.stationId, one]))),
        every: "1 second"
      }))
  )
}
