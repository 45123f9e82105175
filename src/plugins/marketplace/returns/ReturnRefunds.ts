import { Context, DateTime, Effect, Layer } from "effect"
import { PluginDatabase } from "stoa/plugin"
import { Parties } from "../parties/Parties.ts"
import { chooseUnits } from "../refunds/RefundChoice.ts"
import { SubOrderRefunds } from "../refunds/SubOrderRefunds.ts"
import { Returns } from "./Returns.ts"
import { returns } from "./ReturnTables.ts"

/** The end of a return (contract, plugins §1.5, §16.2). */
export class ReturnRefunds extends Context.Service<ReturnRefunds>()("stoa/plugins/marketplace/returns/ReturnRefunds", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const { at } = yield* Returns
    const parties = yield* Parties
    const refunds = yield* SubOrderRefunds

    const decide = Effect.fnUntraced(function*(id: string) {
      const { found, of } = yield* at(id, "refunded", parties.sellerOf)
      const { lineItems, reason, refundAmountCents: agreed } = found
      /**
       * As the vendor or an operator, once the goods are there: gives back what was agreed, or what they cost, in the
       * transaction of the change; once, of however many requests at once. What was agreed to be 0 moves no money.
       */
      const refund = agreed === 0
        ? null
        : yield* refunds.write(of, `return ${id}: ${reason}`, (left) => chooseUnits(left, lineItems ?? [], agreed))
      const after = yield* db.table(returns).update(id, {
        status: "refunded",
        refundId: refund?.refundId ?? null,
        refundAmountCents: refund?.amount ?? 0,
        resolvedAt: DateTime.toDateUtc(yield* DateTime.now)
      })
      return { after, refund }
    }, db.transaction)

    const refund = Effect.fn("ReturnRefunds.refund")(function*(id: string) {
      const { after, refund } = yield* decide(id)
      yield* refunds.settle(refund)
      return after
    })

    return { refund }
  })
}) {
  static readonly layer = Layer.effect(ReturnRefunds, ReturnRefunds.make)
}
