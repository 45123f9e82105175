import { Context, Effect, Layer } from "effect"
import { type CurrentActor, type PageRequest, PluginDatabase, type RowOf } from "stoa/plugin"
import { Parties, type Standing } from "../parties/Parties.ts"
import type { OfOrder } from "../refunds/SubOrderRefunds.ts"
import { mayBecome } from "./ReturnRules.ts"
import { returns, type returnStatuses } from "./ReturnTables.ts"

export type Return = RowOf<typeof returns>
type Filter = { readonly status?: typeof returnStatuses[number] | undefined; readonly subOrderId?: string | undefined }

/** A return, locked until the caller's transaction ends. */
export interface Locked {
  readonly found: Return
  readonly of: OfOrder
}

/** Goods on their way back, for those who may see them (contract, plugins §1.6, §1.9). */
export class Returns extends Context.Service<Returns>()("stoa/plugins/marketplace/returns/Returns", {
  make: Effect.gen(function*() {
    const parties = yield* Parties
    const rows = (yield* PluginDatabase).table(returns)
    const list = {
      name: "marketplace_return_requests",
      /** Those that the actor may see. */
      page: (where: Filter, page: PageRequest) => rows.page(where, page),
      byIds: (ids: ReadonlyArray<string>) => rows.list({ id: { in: ids } })
    } as const

    /** One of them; 404. */
    const get = Effect.fn("Returns.get")(function*(id: string) {
      const found = yield* rows.get(id)
      yield* parties.of(found.subOrderId)
      return found
    })

    /**
     * One of them, locked, for whom `admitted` lets in, in a state from which it can become `to`: 422 INVALID_TRANSITION. Its
     * row is locked before the order, the sub-order and the accounts that follow from it.
     */
    const at = Effect.fn("Returns.at")(function*<E>(
      id: string,
      to: Parameters<typeof mayBecome>[1],
      admitted: (subOrderId: string) => Effect.Effect<Standing, E, CurrentActor>
    ) {
      const found = yield* rows.lock(id)
      const { orderId } = yield* admitted(found.subOrderId)
      yield* Effect.fromResult(mayBecome(found.status, to))
      return { found, of: { orderId, subOrderId: found.subOrderId } }
    })

    return {
      get,
      at,
      page: Effect.fn("Returns.page")((filter: Filter, page: PageRequest) => parties.visible(list, filter, page)),
      /** Of these those of the own vendor. */
      ofVendor: Effect.fn("Returns.ofVendor")((filter: Filter, page: PageRequest) => parties.sold(list, filter, page))
    }
  })
}) {
  static readonly layer = Layer.effect(Returns, Returns.make)
}
