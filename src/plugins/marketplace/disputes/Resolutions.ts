import { Context, DateTime, Effect, Layer } from "effect"
import { CurrentActor, PluginDatabase } from "stoa/plugin"
import { Parties } from "../parties/Parties.ts"
import { chooseAll, choosePart } from "../refunds/RefundChoice.ts"
import { SubOrderRefunds } from "../refunds/SubOrderRefunds.ts"
import { subOrders } from "../suborders/SubOrderTables.ts"
import { mayBecome, refundOf } from "./DisputeRules.ts"
import type { Dispute } from "./Disputes.ts"
import type { Resolution } from "./DisputesApi.ts"
import { disputes } from "./DisputeTables.ts"

/** The end of disputes (contract, plugins §1.2, §1.9, §16.2). */
export class Resolutions extends Context.Service<Resolutions>()("stoa/plugins/marketplace/disputes/Resolutions", {
  make: Effect.gen(function*() {
    const db = yield* PluginDatabase
    const parties = yield* Parties
    const refunds = yield* SubOrderRefunds
    const rows = db.table(disputes)

    const refundDispute = Effect.fnUntraced(function*({ id, subOrderId }: Dispute, decision: typeof Resolution.Type) {
      const wanted = yield* Effect.fromResult(refundOf(decision.resolution, decision.refundAmountCents))
      if (wanted === "none") return null
      const { orderId } = yield* parties.of(subOrderId)
      return yield* refunds.write(
        { orderId, subOrderId },
        `dispute ${id}: ${decision.resolution}`,
        (left) => wanted === "all" ? chooseAll(left) : choosePart(left, decision.refundAmountCents ?? 0)
      )
    })

    const decide = Effect.fnUntraced(function*(id: string, decision: typeof Resolution.Type) {
      const before = yield* rows.lock(id)
      yield* Effect.fromResult(mayBecome(before.status, "resolved"))
      const refund = yield* refundDispute(before, decision)
      const { keyId, userId } = yield* CurrentActor
      const after = yield* rows.update(id, {
        status: "resolved",
        resolution: decision.resolution,
        resolutionNotes: decision.notes ?? null,
        refundAmountCents: refund?.amount ?? null,
        refundId: refund?.refundId ?? null,
        resolvedBy: userId ?? keyId ?? null,
        resolvedAt: DateTime.toDateUtc(yield* DateTime.now)
      })
      yield* db.table(subOrders).update(before.subOrderId, { onHold: false })
      yield* db.announce("dispute.resolved", { entityType: "dispute", entityId: id, payload: after, before })
      return { after, refund }
    }, db.transaction)

    /**
     * Decides a dispute, lifts the hold on its sub-order, gives back what was decided and announces `dispute.resolved`, all
     * in one transaction: once, of however many requests at once; the others get 422 INVALID_TRANSITION. What the core
     * refuses to give back leaves the dispute open.
     */
    const resolve = Effect.fn("Resolutions.resolve")(function*(id: string, decision: typeof Resolution.Type) {
      const { after, refund } = yield* decide(id, decision)
      yield* refunds.settle(refund)
      return after
    })

    return { resolve }
  })
}) {
  static readonly layer = Layer.effect(Resolutions, Resolutions.make)
}
