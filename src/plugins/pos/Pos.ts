import { Context, Effect, Layer } from "effect"
import { type PluginCall, PluginContext, type PluginDatabase } from "stoa/plugin"
import { openPartsOf, sourcesOf } from "./BillsRepo.ts"
import { approvalFor, type Asked } from "./Overrides.ts"
import { changeSale, loadSale, lockSale, lockTransaction, notOpen, type SaleChange } from "./SaleStore.ts"
import { shifts } from "./Shifts.ts"
import { dayOf } from "./Terminals.ts"
import { boughtWith, tipsOf } from "./TotalsRepo.ts"

const lockOpen = Effect.fnUntraced(function*(db: PluginDatabase, id: string) {
  const one = yield* lockTransaction(db, id)
  return one.status === "open" || one.status === "held" ? one : yield* notOpen(one)
})

/** Sales at tills, for plugins that extend them (contract-tills-channels §0a.8). All of it acts as the caller. */
export class Pos extends Context.Service<Pos>()("stoa/plugins/pos/Pos", {
  make: Effect.map(PluginContext, ({ call }) => {
    const inPos = <A, E, R>(work: (call: PluginCall) => Effect.Effect<A, E, R>) => Effect.flatMap(call, work)
    return {
      /** 404 without it. */
      sale: (id: string) => inPos(({ db }) => loadSale(db, id)),
      /** The sale, kept from others until the caller's transaction ends, with its removed lines. 404 without it. */
      lock: (id: string) => inPos(({ db }) => lockSale(db, id)),
      /** Locks an open or held transaction until the caller's transaction ends. 404, 422. */
      lockOpen: (id: string) => inPos(({ db }) => lockOpen(db, id)),
      /** 404 without it. */
      shift: (id: string) => inPos(({ db }) => db.table(shifts).get(id)),
      /** The open and held transactions of bills that may have been split or merged. */
      openParts: (ids: ReadonlyArray<string>) => inPos(({ db }) => db.use(openPartsOf)(ids)),
      /** The transactions that these were split from, or that were merged into them, and themselves. */
      sources: (ids: ReadonlyArray<string>) => inPos(({ db }) => db.use(sourcesOf)(ids)),
      /** Tips of the business days `from` to `to`, by operator. */
      tips: (from: string, to: string) => inPos(({ db }) => db.use(tipsOf)(from, to)),
      /** How many sales of a customer had each thing of this one. */
      bought: (customerId: string, id: string) => inPos(({ db }) => db.use(boughtWith)(customerId, id)),
      /** Prices an open sale again, with a change or after something else has changed. 404, 409, 422. */
      reprice: (id: string, transaction: SaleChange["transaction"] = {}) =>
        inPos((own) => changeSale(own, id, () => Effect.succeed({ transaction }))),
      /** Allows what needs a permission or a token of `x-pos-override`: 403 without both. */
      approve: (asked: Asked) => inPos((own) => approvalFor(own, asked)),
      /** The business day of a moment at a till. */
      dayOf
    }
  })
}) {
  static readonly layer = Layer.effect(Pos, Pos.make)
}
