import { Context, DateTime, Effect, Layer } from "effect"
import {
  type Conflict,
  type CurrentActor,
  type Forbidden,
  type InvalidTransition,
  type NotFound,
  PluginDatabase,
  type Unauthorized,
  type ValidationFailed
} from "stoa/plugin"
import { Parties } from "../parties/Parties.ts"
import { chooseUnits } from "../refunds/RefundChoice.ts"
import { SubOrderRefunds } from "../refunds/SubOrderRefunds.ts"
import { type Return, Returns } from "./Returns.ts"
import { returns } from "./ReturnTables.ts"

type Refused = NotFound | Forbidden | Conflict | InvalidTransition | ValidationFailed | Unauthorized

/** The end of a return (contract, plugins §1.5, §16.2). */
export class ReturnRefunds extends Context.Service<ReturnRefunds, {
  /**
   * As the vendor or an operator, once the goods are there: gives back what was agreed, or what they cost, in the
   * transaction of the change; once, of however many requests at once. What was agreed to be 0 moves no money.
   */
  readonly refund: (id: string) => Effect.Effect<Return, Refused, CurrentActor>
}>()("stoa/plugins/marketplace/returns/ReturnRefunds") {
  static readonly layer = Layer.effect(
    ReturnRefunds,
    Effect.gen(function*() {
      const db = yield* PluginDatabase
      const { at } = yield* Returns
      const parties = yield* Parties
      const refunds = yield* SubOrderRefunds

      const decide = Effect.fnUntraced(function*(id: string) {
        const { found, of } = yield* at(id, "refunded", parties.sellerOf)
        const { lineItems, reason, refundAmountCents: agreed } = found
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
  )
}
