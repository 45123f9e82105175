import { Context, Effect, Layer } from "effect"
import { type PluginCall, PluginContext } from "stoa/plugin"
import { approvalFor, type Asked } from "./Overrides.ts"
import { changeSale, loadSale } from "./SaleStore.ts"
import { dayOf } from "./Terminals.ts"

/** Sales at tills, for plugins that extend them (contract-tills-channels §0a.8). All of it acts as the caller. */
export class Pos extends Context.Service<Pos>()("stoa/plugins/pos/Pos", {
  make: Effect.map(PluginContext, ({ call }) => {
    const inPos = <A, E, R>(work: (call: PluginCall) => Effect.Effect<A, E, R>) => Effect.flatMap(call, work)
    return {
      /** 404 without it. */
      sale: (id: string) => inPos(({ db }) => loadSale(db, id)),
      /** Prices an open sale again, after something that its prices depend on has changed. 404, 409, 422. */
      reprice: (id: string) => inPos((own) => changeSale(own, id, () => Effect.succeed({}))),
      /** Allows what needs a permission or a token of `x-pos-override`: 403 without both. */
      approve: (asked: Asked) => inPos((own) => approvalFor(own, asked)),
      /** The business day of a moment at a till. */
      dayOf
    }
  })
}) {
  static readonly layer = Layer.effect(Pos, Pos.make)
}
