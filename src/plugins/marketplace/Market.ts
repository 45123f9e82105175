import { Context, Effect, Layer } from "effect"
import { PluginContext, type PluginDatabase } from "stoa/plugin"
import type { MarketplaceSettings } from "./MarketplaceOptions.ts"

interface Works {
  readonly db: PluginDatabase
  readonly host: PluginContext
  readonly settings: MarketplaceSettings
}

/** The tables, the core and the settings of the marketplace. */
export class Market extends Context.Service<Market, Works>()("stoa/plugins/marketplace/Market") {
  static readonly layer = (settings: MarketplaceSettings) =>
    Layer.effect(Market, Effect.map(PluginContext, (host) => ({ db: host.db, host, settings })))
}

/** Scope of operators. */
export const permission = "marketplace:admin"

/** Makes the effect one transaction. */
export const inTransaction = <A, E, R>(work: Effect.Effect<A, E, R>) => Market.use(({ db }) => db.transaction(work))
